/* For LD_PRELOAD: the link /etc/localtime of the machine names the zone $MACHINE_ZONE. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static ssize_t read_link(const char *path, char *to, size_t room)
{
	static ssize_t (*real)(const char *, char *, size_t);
	const char *zone = getenv("MACHINE_ZONE");
	if (!real)
		real = (ssize_t(*)(const char *, char *, size_t))dlsym(RTLD_NEXT, "readlink");
	if (!zone || strcmp(path, "/etc/localtime") != 0)
		return real(path, to, room);
	int n = snprintf(to, room, "/usr/share/zoneinfo/%s", zone);
	return n < 0 ? -1 : (size_t)n < room ? n : (ssize_t)room;
}

ssize_t readlink(const char *path, char *to, size_t room)
{
	return read_link(path, to, room);
}

/* What a call becomes if the program was built with _FORTIFY_SOURCE. */
ssize_t __readlink_chk(const char *path, char *to, size_t room, size_t known);
ssize_t __readlink_chk(const char *path, char *to, size_t room, size_t known)
{
	(void)known;
	return read_link(path, to, room);
}
