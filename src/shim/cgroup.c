/* Creates, signals and removes the cgroup of a run. */
#include "shim/cgroup.h"
#include "base/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_in(const char *path, const char *file, int how)
{
	char name[PATH_MAX];
	if (snprintf(name, sizeof name, "%s/%s", path, file) >= (int)sizeof name)
		return -1;
	return open(name, how | O_CLOEXEC);
}

static int write_file(const char *path, const char *file, const char *text)
{
	int fd = open_in(path, file, O_WRONLY);
	if (fd < 0)
		return errno;
	int e = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return e;
}

int cgroup_make(const char *path)
{
	return mkdir(path, 0755) == 0 ? 0 : errno;
}

int cgroup_enter(const char *path, pid_t pid)
{
	char text[16];
	snprintf(text, sizeof text, "%d", pid);
	return write_file(path, "cgroup.procs", text);
}

bool cgroup_alive(const char *path)
{
	char text[256];
	int fd = open_in(path, "cgroup.events", O_RDONLY);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return strstr(text, "populated 1") != NULL;
}

/* Calls `fn` for the cgroups below `path`, then for `path`. */
static void for_each_cgroup(const char *path, unsigned depth, void (*fn)(const char *path, int sig), int sig)
{
	DIR *d = depth < CGROUP_DEPTH_MAX ? opendir(path) : NULL;
	for (struct dirent *e; d && (e = readdir(d));) {
		char below[PATH_MAX];
		if (e->d_type == DT_DIR && e->d_name[0] != '.' &&
		    snprintf(below, sizeof below, "%s/%s", path, e->d_name) < (int)sizeof below)
			for_each_cgroup(below, depth + 1, fn, sig);
	}
	if (d)
		closedir(d);
	fn(path, sig);
}

static void signal_members(const char *path, int sig)
{
	int fd = open_in(path, "cgroup.procs", O_RDONLY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[32];
	while (f && fgets(line, sizeof line, f)) {
		pid_t pid = (pid_t)strtol(line, NULL, 10);
		if (pid > 0)
			kill(pid, sig);
	}
	if (f)
		fclose(f);
}

void cgroup_signal(const char *path, int sig)
{
	if (sig != SIGKILL || write_file(path, "cgroup.kill", "1") != 0)
		for_each_cgroup(path, 0, signal_members, sig);
}

static void remove_one(const char *path, int unused)
{
	(void)unused;
	rmdir(path);
}

void cgroup_remove(const char *path)
{
	for_each_cgroup(path, 0, remove_one, 0);
}
