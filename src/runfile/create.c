/* Creating run files. The link decides which of several shims wins, as O_EXCL would; but the file becomes
 * visible only when it is written and locked, so it cannot be mistaken for the file of a dead shim. */
#include "runfile/create.h"
#include "sys/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a directory, and creates it where it is missing; `created` tells so. */
static int open_or_create(int dir, const char *name, bool *created)
{
	int fd = data_file_open_directory(dir, name);
	*created = fd == -ENOENT && (mkdirat(dir, name, 0700) == 0 || errno == EEXIST);
	return *created ? data_file_open_directory(dir, name) : fd;
}

int runfile_open_directory(const char *runs, uint64_t run, bool flush)
{
	char bucket[RUNFILE_NAME_MAX];
	bool created;
	/* The runs directory itself may have been removed, or replaced by a link. */
	int above = open_or_create(AT_FDCWD, runs, &created);
	if (above < 0)
		return above;
	runfile_bucket(bucket, run);
	int fd = open_or_create(above, bucket, &created);
	if (fd >= 0 && created && flush && fsync(above) != 0) {
		int error = errno;
		close(fd);
		fd = -error;
	}
	close(above);
	return fd;
}

int runfile_open_unnamed(int dir)
{
	int fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd >= 0 ? fd : -errno;
}

int runfile_link(int fd, int dir, const char *name)
{
	char self[32];
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, dir, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

static struct flock whole_file(void)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
}

int runfile_lock(int fd)
{
	struct flock l = whole_file();
	return fcntl(fd, F_OFD_SETLK, &l) == 0 ? 0 : errno;
}

bool runfile_is_locked(int fd)
{
	struct flock l = whole_file();
	return fcntl(fd, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK;
}

static int write_and_link(int fd, int dir, const char *name, const char *block, bool flush)
{
	if (fallocate(fd, 0, 0, RUNFILE_BYTES) != 0 && errno != EOPNOTSUPP)
		return errno;
	ssize_t n = pwrite(fd, block, RUNFILE_BYTES, 0);
	if (n != RUNFILE_BYTES)
		return n < 0 ? errno : ENOSPC;
	int e = runfile_lock(fd);
	if (!e)
		e = runfile_link(fd, dir, name);
	/* The file is flushed after it was linked, so that one commit of the file system's journal contains
	 * both. */
	if (!e && flush && (fsync(fd) != 0 || fsync(dir) != 0)) {
		e = errno;
		unlinkat(dir, name, 0); /* nothing was executed: the attempt can be tried again */
	}
	return e;
}

int runfile_create(int dir, const char *name, const char block[static RUNFILE_BYTES], bool flush)
{
	int fd = runfile_open_unnamed(dir);
	if (fd < 0)
		return fd;
	int e = write_and_link(fd, dir, name, block, flush);
	if (!e)
		return fd;
	close(fd);
	return -e;
}
