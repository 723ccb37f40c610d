/* The listening socket: checks its directory, replaces a dead daemon's socket, binds. */
#include "http/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

static enum err failed(struct why *why, const char *what, const char *path)
{
	int eno = errno;
	return why_set(why, eno == EACCES || eno == EPERM ? E_DENIED : E_IO, WHY_NOWHERE, "cannot %s %s: %s",
		       what, path, strerror(eno));
}

/* Opens the directory of `path`; creates it if it is missing. */
static enum err open_directory(const char *path, int *ret, struct why *why)
{
	char dir[sizeof((struct sockaddr_un *)0)->sun_path];
	const char *slash = strrchr(path, '/');
	size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
	memcpy(dir, n ? path : ".", n ? n : 1);
	dir[n ? n : 1] = 0;
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return failed(why, "create the socket's directory", dir);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return failed(why, "open the socket's directory", dir);
	struct stat st;
	enum err e = OK;
	if (fstat(fd, &st) != 0)
		e = failed(why, "read the mode of the socket's directory", dir);
	else if (st.st_uid != geteuid())
		e = why_set(why, E_DENIED, WHY_NOWHERE,
			    "the socket's directory %s belongs to another user; choose another", dir);
	else if (st.st_mode & 077)
		e = why_set(why, E_DENIED, WHY_NOWHERE,
			    "other users may access the socket's directory %s; run `chmod 700` on it, or "
			    "choose another",
			    dir);
	if (e)
		close(fd);
	else
		*ret = fd;
	return e;
}

/* Locks the directory from the check for a dead socket to the bind: without the lock, if two daemons found
 * the same dead socket, one could remove the new socket of the other. The lock is on the directory, so no
 * lock file is left behind. */
static enum err lock_directory(int fd, const char *path, struct why *why)
{
	for (int i = 0; i < SOCKET_TRIES_MAX; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return OK;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return failed(why, "lock the directory of", path);
		usleep(10000);
	}
	return why_set(why, E_BUSY, WHY_NOWHERE,
		       "another program keeps the directory of %s locked; try again", path);
}

static enum err remove_dead_socket(const struct sockaddr_un *at, struct why *why)
{
	struct stat st;
	if (lstat(at->sun_path, &st) != 0)
		return errno == ENOENT ? OK : failed(why, "read the type of", at->sun_path);
	if (!S_ISSOCK(st.st_mode))
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "%s exists and is not a socket; remove it or choose another path",
			       at->sun_path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return failed(why, "create a socket for", at->sun_path);
	int rc = connect(fd, (const struct sockaddr *)at, sizeof *at), eno = errno;
	close(fd);
	/* EAGAIN means that the queue of the socket is full, so a live daemon listens. */
	if (rc == 0 || eno == EAGAIN)
		return why_set(why, E_CONFLICT, WHY_NOWHERE, "a daemon already listens at %s", at->sun_path);
	errno = eno;
	if (eno != ECONNREFUSED)
		return failed(why, "check for a daemon at", at->sun_path);
	if (unlink(at->sun_path) != 0 && errno != ENOENT)
		return failed(why, "remove the dead socket", at->sun_path);
	return OK;
}

static enum err bind_socket(const struct sockaddr_un *at, struct listener *l, struct why *why)
{
	struct stat st;
	enum err e = OK;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return failed(why, "create a socket for", at->sun_path);
	if (bind(fd, (const struct sockaddr *)at, sizeof *at) != 0)
		e = failed(why, "bind", at->sun_path);
	else if (chmod(at->sun_path, 0600) != 0 || stat(at->sun_path, &st) != 0)
		e = failed(why, "set the mode of", at->sun_path);
	else if (listen(fd, BACKLOG) != 0)
		e = failed(why, "listen at", at->sun_path);
	if (e) {
		close(fd);
		return e;
	}
	l->fd = fd;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	return OK;
}

enum err listener_open(const char *path, struct listener *ret, struct why *why)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct listener l = { .fd = -1 };
	size_t n = strlen(path);
	int dir;
	if (n >= sizeof at.sun_path)
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "the socket's path has %zu bytes; the system allows %zu: %.*s...", n,
			       sizeof at.sun_path - 1, STR_SHORT(str_of(path)));
	if (n == 0 || path[n - 1] == '/')
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "'%s' is not the path of a socket; give a file name after the directory",
			       path);
	memcpy(at.sun_path, path, n + 1);
	enum err e = open_directory(path, &dir, why);
	if (e)
		return e;
	if (!(l.path = strdup(path)))
		e = E_NOMEM;
	if (!e)
		e = lock_directory(dir, path, why);
	if (!e)
		e = remove_dead_socket(&at, why);
	if (!e)
		e = bind_socket(&at, &l, why);
	close(dir);
	if (e)
		free(l.path);
	else
		*ret = l;
	return e;
}

void listener_close(struct listener *l)
{
	struct stat st;
	if (!l->path)
		return;
	/* The socket is removed before it is closed, so that no other daemon finds a dead socket in
	 * between. */
	if (lstat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino)
		unlink(l->path);
	close(l->fd);
	free(l->path);
	*l = (struct listener){ .fd = -1 };
}
