/* Scans the watched directory and finds changed and removed documents. */
#include "admin/watched_files.h"

#include "base/array.h"
#include "base/hash.h"
#include "cli/documents.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static uint64_t path_hash(const char *path)
{
	return fnv1a(FNV_START, str_of(path)) | 1;
}

static struct watched_file *find_or_add(struct watched_files *f, const char *path)
{
	uint32_t at = map_get(&f->by_path, path_hash(path));
	if (at != MAP_NONE && !strcmp(f->file[at].path, path))
		return &f->file[at];
	/* A linear search is needed only if two paths have the same hash. */
	for (unsigned i = 0; (at != MAP_NONE || f->by_path.n < f->n) && i < f->n; i++)
		if (!strcmp(f->file[i].path, path))
			return &f->file[i];
	if (!ARRAY_ADD_ROOM(f->file, f->room, f->n))
		return NULL;
	char *copy = strdup(path);
	if (!copy || (at == MAP_NONE && !map_put(&f->by_path, path_hash(path), f->n))) {
		free(copy);
		return NULL;
	}
	f->file[f->n] = (struct watched_file){ .path = copy, .state = FILE_CHANGED, .problem = true };
	return &f->file[f->n++];
}

bool files_has(const struct watched_files *f, const char *path)
{
	return map_get(&f->by_path, path_hash(path)) != MAP_NONE;
}

/* Whether a process has the file open for writing: then the kernel refuses a read lease. Also false if this
 * process is not permitted to request a lease. */
static bool is_being_written(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	bool busy = fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EAGAIN;
	close(fd);
	return busy;
}

/* True if the path is a regular file, or a link to one, which is watched as well. Paths that cannot be
 * examined and links without a target count as files, too: only a file that certainly does not exist is
 * treated as removed. */
static bool is_file(struct watched_files *f, const char *path, struct stat *ret)
{
	struct stat to;
	if (lstat(path, ret) < 0)
		return errno != ENOENT && errno != ENOTDIR;
	if (!S_ISLNK(ret->st_mode))
		return S_ISREG(ret->st_mode);
	int watch = inotify_add_watch(f->inotify, path, FILE_CHANGES | IN_DELETE_SELF | IN_MOVE_SELF);
	bool exists = stat(path, &to) == 0;
	f->unwatched_link |= watch < 0 || !exists;
	if (exists)
		*ret = to;
	return !exists || S_ISREG(to.st_mode);
}

static void check_file(struct watched_files *f, const char *path)
{
	struct stat st = { 0 };
	struct watched_file *file = is_file(f, path, &st) ? find_or_add(f, path) : NULL;
	if (!file)
		return;
	file->seen = true;
	/* The ctime is compared because programs cannot set it back. */
	bool same = file->inode == st.st_ino && file->size == st.st_size &&
		    file->changed.tv_sec == st.st_ctim.tv_sec && file->changed.tv_nsec == st.st_ctim.tv_nsec;
	file->being_written = false;
	if (same && file->state != FILE_REMOVED)
		return;
	file->being_written = is_being_written(path);
	if (file->being_written) {
		f->being_written = true;
		return;
	}
	file->state = FILE_CHANGED;
	file->inode = st.st_ino;
	file->size = st.st_size;
	file->changed = st.st_ctim;
}

bool files_scan(struct watched_files *f, const char *dir)
{
	DIR *d = opendir(dir);
	f->being_written = f->unwatched_link = false;
	if (!d)
		return false;
	for (unsigned i = 0; i < f->n; i++)
		f->file[i].seen = false;
	bool good = true;
	for (struct dirent *e; good && (errno = 0, e = readdir(d));) {
		char *path = NULL;
		if (!documents_is_name(e->d_name))
			continue;
		good = asprintf(&path, "%s/%s", dir, e->d_name) > 0;
		if (good)
			check_file(f, path);
		free(path);
	}
	good = good && !errno;
	closedir(d);
	if (!good)
		return false;
	for (unsigned i = 0; i < f->n; i++)
		if (!f->file[i].seen) {
			f->file[i].state = FILE_REMOVED;
			f->file[i].being_written = false;
		}
	return true;
}

void files_forget_dropped(struct watched_files *f)
{
	unsigned n = 0;
	for (unsigned i = 0; i < f->n; i++) {
		struct watched_file file = f->file[i];
		uint64_t hash = path_hash(file.path);
		bool mapped = map_get(&f->by_path, hash) == i;
		if (file.state == FILE_DROPPED) {
			if (mapped)
				map_remove(&f->by_path, hash);
			free(file.path);
			continue;
		}
		if (mapped && !map_put(&f->by_path, hash, n))
			map_remove(&f->by_path, hash);
		f->file[n++] = file;
	}
	f->n = n;
}

void files_free(struct watched_files *f)
{
	for (unsigned i = 0; i < f->n; i++)
		free(f->file[i].path);
	map_free(&f->by_path);
	free(f->file);
}
