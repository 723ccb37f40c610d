/* Opens files below the data directory, and checks their type and their owner. */
#include "sys/data_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_ROOM = 256 };

static bool is_own_file(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid();
}

static int close_with(int fd, int error)
{
	close(fd);
	return -error;
}

int data_file_open(int dir, const char *name, int flags)
{
	struct stat st;
	/* It is truncated once it is known to be ours. */
	int fd = openat(dir, name, (flags & ~O_TRUNC) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0) /* ENXIO: a pipe without a reader, a device, a socket */
		return errno == ENXIO || errno == EISDIR ? -DATA_FILE_FOREIGN : -errno;
	if (fstat(fd, &st) != 0)
		return close_with(fd, errno);
	if (!is_own_file(&st))
		return close_with(fd, DATA_FILE_FOREIGN);
	if ((flags & O_TRUNC) && st.st_size && ftruncate(fd, 0) != 0)
		return close_with(fd, errno);
	return fd;
}

int data_file_open_directory(int dir, const char *name)
{
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		return close_with(fd, errno);
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return close_with(fd, DATA_FILE_FOREIGN);
	return fd;
}

int data_file_open_below(const char *dir, const char *name, int flags)
{
	char part[NAME_ROOM];
	int at = data_file_open_directory(AT_FDCWD, dir);
	for (const char *slash; at >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
		size_t n = (size_t)(slash - name);
		if (n >= sizeof part)
			return close_with(at, ENAMETOOLONG);
		memcpy(part, name, n);
		part[n] = 0;
		int next = data_file_open_directory(at, part);
		close(at);
		at = next;
	}
	if (at < 0)
		return at;
	int fd = data_file_open(at, name, flags);
	close(at);
	return fd;
}

int data_file_check(const char *path)
{
	struct stat st;
	if (lstat(path, &st) != 0)
		return errno;
	return S_ISLNK(st.st_mode) ? ELOOP : is_own_file(&st) ? 0 : DATA_FILE_FOREIGN;
}

const char *data_file_error(int error)
{
	return error == ELOOP               ? "it is a symbolic link"
	       : error == DATA_FILE_FOREIGN ? "it is not a regular file that belongs to this user"
					    : strerror(error);
}
