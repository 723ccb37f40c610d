/* Lists the runs directory: its numbered subdirectories (buckets), and in them the files of each run. */
#include "runfile/walk.h"
#include "base/array.h"
#include "base/time.h"
#include "runfile/read.h"
#include "sys/data_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct bucket_list {
	uint64_t *number;
	unsigned n, room;
};

struct file_list {
	struct run_file *file;
	unsigned n, room;
};

static enum err no_memory(struct why *why)
{
	return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
}

/* Compares two objects that begin with a uint64_t. */
static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}
static_assert(offsetof(struct run_file, run) == 0, "sorted by_number");

/* The numbers of the buckets, sorted. Without a runs directory there are none. */
static enum err list_buckets(const char *runs, struct bucket_list *ret, struct why *why)
{
	int fd = data_file_open_directory(AT_FDCWD, runs);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	enum err e = OK;
	if (fd == -ENOENT)
		return OK;
	if (!d) {
		e = why_set(why, E_IO, WHY_NOWHERE, "cannot read %s: %s", runs,
			    fd < 0 ? data_file_error(-fd) : strerror(errno));
		if (fd >= 0)
			close(fd);
		return e;
	}
	for (struct dirent *entry; !e && (entry = readdir(d));) {
		uint64_t n;
		if (!str_number(str_of(entry->d_name), RUN_FILES_MAX / RUNFILE_BUCKET, &n))
			continue;
		if (!ARRAY_ADD_ROOM(ret->number, ret->room, ret->n))
			e = no_memory(why);
		else
			ret->number[ret->n++] = n;
	}
	closedir(d);
	if (ret->n)
		qsort(ret->number, ret->n, sizeof *ret->number, by_number);
	return e;
}

/* Parses the middle of a file name: "1", "1-check", "hook-schedule". */
static bool parse_attempt(struct str s, unsigned *ret)
{
	const struct str check = STR(RUN_CHECK_WORD), hook = STR(RUN_HOOK_WORD);
	uint64_t attempt;
	for (unsigned i = 0; str_starts(s, hook) && i < RUN_HOOKS; i++)
		if (str_eq(str_from(s, hook.n), str_of(run_hook_word(i)))) {
			*ret = RUN_HOOK + i;
			return true;
		}
	bool is_check = s.n > check.n && str_eq(str_from(s, s.n - check.n), check);
	if (is_check)
		s.n -= check.n;
	if (!str_number(s, RUN_HOOK - 1, &attempt))
		return false;
	*ret = (unsigned)attempt | (is_check ? RUN_CHECK : 0);
	return true;
}

/* Parses "7.1.log". False: the name is another one, or the file is in the wrong bucket. */
static bool parse_name(const char *name, uint64_t bucket, struct run_file *ret)
{
	static const char *const kinds[] = { "run", "log", "out", "err", "ctx", "box" };
	const char *first = strchr(name, '.'), *second = first ? strchr(first + 1, '.') : NULL;
	if (!second || !str_number((struct str){ name, (size_t)(first - name) }, RUN_FILES_MAX, &ret->run) ||
	    !parse_attempt((struct str){ first + 1, (size_t)(second - first - 1) }, &ret->attempt) ||
	    !ret->run || ret->run / RUNFILE_BUCKET != bucket)
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(second + 1, kinds[i])) {
			memcpy(ret->kind, kinds[i], sizeof ret->kind);
			return true;
		}
	return false;
}

static enum err list_files(DIR *d, uint64_t bucket, uint64_t from, struct file_list *ret, struct why *why)
{
	for (struct dirent *entry; (entry = readdir(d));) {
		struct run_file f = { 0 };
		struct stat st;
		if (!parse_name(entry->d_name, bucket, &f) || f.run < from ||
		    fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		f.bytes = (uint64_t)st.st_blocks * 512;
		f.touched = (int64_t)st.st_mtim.tv_sec * USEC + st.st_mtim.tv_nsec / 1000;
		if (!ARRAY_ADD_ROOM(ret->file, ret->room, ret->n))
			return no_memory(why);
		ret->file[ret->n++] = f;
	}
	if (ret->n)
		qsort(ret->file, ret->n, sizeof *ret->file, by_number);
	return OK;
}

/* Calls `fn` for each run in the list. *left stays 0 only if all files are gone. False: `fn` has stopped the
 * walk. */
static bool call_for_runs(int dir, const struct file_list *l, runfile_walk_fn *fn, void *ctx, unsigned *left)
{
	for (unsigned i = 0, k; i < l->n; i = k) {
		struct run_files f = { .run = l->file[i].run, .file = &l->file[i], .dir = dir };
		for (k = i; k < l->n && l->file[k].run == f.run; k++) {
			f.bytes += l->file[k].bytes;
			f.touched = l->file[k].touched > f.touched ? l->file[k].touched : f.touched;
			f.files++;
		}
		bool more = fn(ctx, &f);
		*left += !f.gone;
		if (!more) {
			*left += l->n - k;
			return false;
		}
	}
	return true;
}

static enum err walk_bucket(const char *runs, uint64_t bucket, uint64_t from, runfile_walk_fn *fn, void *ctx,
			    bool *more, unsigned *left, struct why *why)
{
	char name[RUNFILE_NAME_MAX];
	struct file_list files = { 0 };
	runfile_bucket(name, bucket * RUNFILE_BUCKET);
	int top = data_file_open_directory(AT_FDCWD, runs);
	int fd = top < 0 ? top : data_file_open_directory(top, name);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (top >= 0)
		close(top);
	if (!d) {
		if (fd >= 0)
			close(fd);
		*left = 1; /* not a directory, or not readable: leave it alone */
		return OK;
	}
	enum err e = list_files(d, bucket, from, &files, why);
	if (!e)
		*more = call_for_runs(dirfd(d), &files, fn, ctx, left);
	closedir(d);
	free(files.file);
	return e;
}

static void remove_bucket(const char *runs, uint64_t bucket)
{
	char path[4096], name[RUNFILE_NAME_MAX];
	runfile_bucket(name, bucket * RUNFILE_BUCKET);
	snprintf(path, sizeof path, "%s/%s", runs, name);
	rmdir(path); /* fails if the directory is not empty */
}

enum err runfile_walk(const char *runs, uint64_t from, runfile_walk_fn *fn, void *ctx, struct why *why)
{
	struct bucket_list all = { 0 };
	enum err e = list_buckets(runs, &all, why);
	bool more = true;
	for (unsigned i = 0; i < all.n && more && !e; i++) {
		unsigned left = 0;
		if (all.number[i] < from / RUNFILE_BUCKET)
			continue;
		e = walk_bucket(runs, all.number[i], from, fn, ctx, &more, &left, why);
		if (!e && !left && i + 1 < all.n)
			remove_bucket(runs, all.number[i]);
	}
	free(all.number);
	return e;
}

uint64_t runfile_remove(struct run_files *f, bool keep_result)
{
	uint64_t freed = 0;
	unsigned left = 0;
	for (unsigned i = 0; i < f->files; i++) {
		const struct run_file *file = &f->file[i];
		char name[RUNFILE_NAME_MAX];
		bool keep = keep_result && (!strcmp(file->kind, "run") || !strcmp(file->kind, "out"));
		runfile_name(name, file->run, file->attempt, file->kind);
		if (keep || unlinkat(f->dir, name, 0) < 0)
			left++;
		else
			freed += file->bytes;
	}
	f->gone = !left;
	return freed;
}

bool runfile_any_alive(const char *runs, const struct run_files *f)
{
	for (unsigned i = 0; i < f->files; i++) {
		struct runfile file = { 0 };
		enum run_life life = LIFE_ALIVE;
		struct why why;
		if (!strcmp(f->file[i].kind, "run") &&
		    (runfile_read(runs, f->run, f->file[i].attempt, &life, &file, &why) ||
		     life == LIFE_ALIVE))
			return true;
	}
	return false;
}

static bool note_run(void *ctx, struct run_files *f)
{
	*(uint64_t *)ctx = f->run;
	return true;
}

enum err runfile_last_run(const char *runs, uint64_t *ret, struct why *why)
{
	struct bucket_list all = { 0 };
	uint64_t last = 0;
	enum err e = list_buckets(runs, &all, why);
	/* The last bucket may be empty. */
	for (unsigned i = all.n; i > 0 && !last && !e; i--) {
		bool more;
		unsigned left = 0;
		e = walk_bucket(runs, all.number[i - 1], 0, note_run, &last, &more, &left, why);
	}
	free(all.number);
	if (!e)
		*ret = last;
	return e;
}
