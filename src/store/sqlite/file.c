/* Files on the disk: flushing, renaming, removing. */
#include "store/sqlite/file.h"
#include "sys/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum err file_fail(const char *what, const char *path, struct why *why)
{
	return why_set(why, E_IO, WHY_NOWHERE, "%s cannot be %s: %s", path, what, strerror(errno));
}

enum err file_check_path(const char *path, struct why *why)
{
	if (strlen(path) + 64 < PATH_MAX)
		return OK;
	return why_set(why, E_INPUT, WHY_NOWHERE, "the path of the file is too long");
}

void file_path(char ret[static PATH_MAX], const char *path, const char *suffix)
{
	snprintf(ret, PATH_MAX, "%s%s", path, suffix);
}

void file_beside(char ret[static PATH_MAX], const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	snprintf(ret, PATH_MAX, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name);
}

static enum err flush(int fd, const char *path, struct why *why)
{
	int rc = fd < 0 ? -1 : fsync(fd);
	enum err e = rc < 0 ? file_fail("flushed", path, why) : OK;
	if (fd >= 0)
		close(fd);
	return e;
}

enum err file_flush(const char *path, struct why *why)
{
	int fd = data_file_open(AT_FDCWD, path, O_RDONLY);
	errno = fd < 0 ? -fd : 0;
	return flush(fd, path, why);
}

enum err file_flush_directory(const char *path, struct why *why)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	const char *name = dir[0] ? dir : "/";
	return flush(open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), name, why);
}

/* On a file system without RENAME_NOREPLACE: checks first, then renames. */
enum err file_rename_new(const char *from, const char *to, struct why *why)
{
	int rc = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
	if (rc < 0 && (errno == EINVAL || errno == ENOSYS)) {
		bool exists = access(to, F_OK) == 0;
		errno = EEXIST;
		rc = exists ? -1 : rename(from, to);
	}
	if (rc < 0 && errno == EEXIST)
		return why_set(why, E_CONFLICT, WHY_NOWHERE,
			       "%s already exists and is not overwritten; choose another name", to);
	return rc < 0 ? file_fail("named", to, why) : file_flush_directory(to, why);
}

void file_remove_database(const char *database)
{
	static const char *const suffixes[] = { "-journal", "-wal", "-shm", "" };
	char path[PATH_MAX];
	for (unsigned i = 0; i < ARRAY_LEN(suffixes); i++) {
		file_path(path, database, suffixes[i]);
		unlink(path);
	}
}
