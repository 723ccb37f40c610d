/* Creating run files. The link decides which of several shims wins, as O_EXCL would; but the file becomes
 * visible only when it is written and locked, so it cannot be mistaken for the file of a dead shim. */
#include "runfile/create.h"
#include "sys/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int flush_directory(const char *path)
{
	int fd = data_file_open_directory(AT_FDCWD, path);
	if (fd < 0)
		return -fd;
	int e = fsync(fd) == 0 ? 0 : errno;
	close(fd);
	return e;
}

int runfile_open_directory(const char *runs, uint64_t run, bool flush)
{
	char bucket[RUNFILE_NAME_MAX], path[4096];
	runfile_bucket(bucket, run);
	if (snprintf(path, sizeof path, "%s/%s", runs, bucket) >= (int)sizeof path)
		return -ENAMETOOLONG;
	int fd = data_file_open_directory(AT_FDCWD, path);
	if (fd != -ENOENT)
		return fd;
	/* The runs directory itself may have been removed, too. */
	if (mkdir(path, 0700) != 0 && errno == ENOENT && mkdir(runs, 0700) == 0)
		mkdir(path, 0700);
	int e = flush ? flush_directory(runs) : 0;
	if (e)
		return -e;
	return data_file_open_directory(AT_FDCWD, path);
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
