/* For LD_PRELOAD: once the file $ROTA_TEST_HANG exists, every read of a file below $ROTA_TEST_HANG_BELOW, and
 * every lock and sync of one, takes for ever. */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static bool is_below(int fd)
{
	const char *below = getenv("ROTA_TEST_HANG_BELOW");
	char link[32], path[4096];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	if (!below || n < 0)
		return false;
	path[n] = 0;
	return strncmp(path, below, strlen(below)) == 0;
}

static void hang(int fd)
{
	const char *on = getenv("ROTA_TEST_HANG");
	while (on && access(on, F_OK) == 0 && is_below(fd))
		usleep(100000);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	hang(fd);
	return REAL(pread)(fd, p, n, at);
}

ssize_t pread64(int fd, void *p, size_t n, off64_t at)
{
	hang(fd);
	return REAL(pread64)(fd, p, n, at);
}

ssize_t read(int fd, void *p, size_t n)
{
	hang(fd);
	return REAL(read)(fd, p, n);
}

int fsync(int fd)
{
	hang(fd);
	return REAL(fsync)(fd);
}

int fdatasync(int fd)
{
	hang(fd);
	return REAL(fdatasync)(fd);
}

/* SQLite locks the shared memory of its log by fcntl, and then reads pages that are mapped. */
int fcntl64(int fd, int how, ...)
{
	va_list ap;
	va_start(ap, how);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	if (how == F_SETLK)
		hang(fd);
	return REAL(fcntl64)(fd, how, arg);
}

int fcntl(int fd, int how, ...)
{
	va_list ap;
	va_start(ap, how);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	if (how == F_SETLK)
		hang(fd);
	return REAL(fcntl)(fd, how, arg);
}
