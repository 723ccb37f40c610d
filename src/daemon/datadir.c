/* The data directory: created if it is missing, and locked by one daemon. */
#include "daemon/internal.h"
#include "sys/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

char *datadir_path(const char *dir, const char *name)
{
	char *p = NULL;
	return asprintf(&p, "%s/%s", dir, name) < 0 ? NULL : p;
}

enum err datadir_make(const char *path, struct why *why)
{
	char *part = strdup(path);
	if (!part)
		return E_NOMEM;
	enum err e = OK;
	for (char *at = part + 1;; at++) {
		char c = *at;
		if (c != '/' && c != '\0')
			continue;
		*at = '\0';
		if (mkdir(part, 0700) < 0 && errno != EEXIST) {
			e = why_set(why, E_IO, WHY_NOWHERE, "cannot create %s: %s", part, strerror(errno));
			break;
		}
		*at = c;
		if (c == '\0')
			break;
	}
	free(part);
	return e;
}

enum err daemon_check_data(const char *data, struct why *why)
{
	struct stat st;
	if (stat(data, &st) != 0)
		return why_set(why, errno == ENOENT ? E_NOTFOUND : E_IO, WHY_NOWHERE, "cannot read %s: %s",
			       data, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return why_set(why, E_IO, WHY_NOWHERE, "cannot use %s: %s", data, strerror(ENOTDIR));
	if (st.st_uid != geteuid())
		return why_set(why, E_DENIED, WHY_NOWHERE,
			       "the data directory %s belongs to another user (uid %u; this process has uid "
			       "%u); run rota as its owner, or choose another with --data",
			       data, (unsigned)st.st_uid, (unsigned)geteuid());
	if (st.st_mode & 022)
		return why_set(
			why, E_DENIED, WHY_NOWHERE,
			"other users may write in the data directory %s (mode %04o), and so choose what "
			"rota executes; run `chmod go-w` on it, or choose another with --data",
			data, (unsigned)st.st_mode & 07777);
	return OK;
}

/* The kernel releases the lock when the process ends, however it ends. */
enum err daemon_lock(const char *data, int *ret, struct why *why)
{
	char path[PATH_MAX], pid[16] = "";
	enum err e = datadir_make(data, why);
	if (!e)
		e = daemon_check_data(data, why);
	if (e)
		return e;
	snprintf(path, sizeof path, "%s/lock", data);
	int fd = data_file_open(AT_FDCWD, path, O_RDWR | O_CREAT);
	if (fd < 0)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot open %s: %s", path, data_file_error(-fd));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		ssize_t n = pread(fd, pid, sizeof pid - 1, 0);
		pid[n > 0 ? strcspn(pid, "\n") : 0] = '\0';
		close(fd);
		return why_set(why, E_BUSY, WHY_NOWHERE, "another rota serves %s (process %s)", data,
			       pid[0] ? pid : "unknown");
	}
	if (ftruncate(fd, 0) == 0)
		dprintf(fd, "%d\n", (int)getpid());
	*ret = fd;
	return OK;
}
