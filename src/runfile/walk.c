#include "runfile/walk.h"
#include "base/time.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct list {
	void *items;
	size_t n, room;
};

static bool room_for(struct list *l, size_t size)
{
	if (l->n < l->room)
		return true;
	size_t room = l->room ? 2 * l->room : 256;
	void *p = realloc(l->items, room * size);
	if (!p)
		return false;
	l->items = p;
	l->room = room;
	return true;
}

static enum err no_memory(struct why *why)
{
	return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* The numbers of its directories, in order. No directory: none. */
static enum err buckets(const char *runs, struct list *ret, struct why *why)
{
	DIR *d = opendir(runs);
	enum err e = OK;
	if (!d && errno == ENOENT)
		return OK;
	if (!d)
		return why_set(why, E_IO, WHY_NOWHERE, "%s cannot be read: %s", runs, strerror(errno));
	for (struct dirent *entry; !e && (entry = readdir(d));) {
		uint64_t n;
		if (!str_number(str_of(entry->d_name), UINT64_MAX / RUNFILE_BUCKET - 1, &n))
			continue;
		if (!room_for(ret, sizeof n))
			e = no_memory(why);
		else
			((uint64_t *)ret->items)[ret->n++] = n;
	}
	closedir(d);
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(uint64_t), by_number);
	return e;
}

/* "7.1.log", "7.1-check.log" */
static bool read_name(const char *name, struct run_file *ret)
{
	static const char *const kinds[] = { "run", "log", "out", "ctx", "box" };
	const char *one = strchr(name, '.'), *two = one ? strchr(one + 1, '.') : NULL;
	uint64_t attempt;
	struct str middle = two ? (struct str){ one + 1, (size_t)(two - one - 1) } : (struct str){ 0 };
	size_t plain = middle.n - (sizeof RUN_CHECK_WORD - 1);
	bool check =
		middle.n > sizeof RUN_CHECK_WORD - 1 && str_eq(str_from(middle, plain), STR(RUN_CHECK_WORD));
	if (check)
		middle.n = plain;
	if (!two || !str_number((struct str){ name, (size_t)(one - name) }, UINT64_C(1) << 48, &ret->run) ||
	    !str_number(middle, RUN_CHECK - 1, &attempt))
		return false;
	ret->attempt = (unsigned)attempt | (check ? RUN_CHECK : 0);
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(two + 1, kinds[i])) {
			memcpy(ret->kind, kinds[i], sizeof ret->kind);
			return true;
		}
	return false;
}

static enum err read_files(DIR *d, uint64_t from, struct list *ret, struct why *why)
{
	for (struct dirent *entry; (entry = readdir(d));) {
		struct run_file f = { 0 };
		struct stat st;
		if (!read_name(entry->d_name, &f) || f.run < from ||
		    fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		f.bytes = (uint64_t)st.st_blocks * 512;
		f.touched = (int64_t)st.st_mtim.tv_sec * USEC + st.st_mtim.tv_nsec / 1000;
		if (!room_for(ret, sizeof f))
			return no_memory(why);
		((struct run_file *)ret->items)[ret->n++] = f;
	}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(struct run_file), by_number); /* it begins with its number */
	return OK;
}

static_assert(offsetof(struct run_file, run) == 0, "sorted by it");

/* The runs of one directory; *left: how many of them are still there. False: enough. */
static bool tell(int dir, const struct run_file *file, size_t n, runfile_walk_fn *fn, void *ctx, size_t *left)
{
	for (size_t i = 0, k; i < n; i = k) {
		struct run_files f = { .run = file[i].run, .file = &file[i], .dir = dir };
		for (k = i; k < n && file[k].run == f.run; k++) {
			f.bytes += file[k].bytes;
			f.touched = file[k].touched > f.touched ? file[k].touched : f.touched;
			f.files++;
		}
		bool more = fn(ctx, &f);
		*left += !f.gone;
		if (!more) {
			*left += n - k;
			return false;
		}
	}
	return true;
}

static enum err walk_bucket(const char *runs, uint64_t bucket, uint64_t from, runfile_walk_fn *fn, void *ctx,
			    bool *more, size_t *left, struct why *why)
{
	char name[RUNFILE_NAME_MAX];
	struct list files = { 0 };
	runfile_bucket(name, bucket * RUNFILE_BUCKET);
	int top = open(runs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = top < 0 ? -1 : openat(top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (top >= 0)
		close(top);
	if (!d) {
		if (fd >= 0)
			close(fd);
		*left = 1; /* somebody else's business */
		return OK;
	}
	enum err e = read_files(d, from, &files, why);
	if (!e)
		*more = tell(dirfd(d), files.items, files.n, fn, ctx, left);
	closedir(d);
	free(files.items);
	return e;
}

enum err runfile_walk(const char *runs, uint64_t from, runfile_walk_fn *fn, void *ctx, struct why *why)
{
	struct list all = { 0 };
	enum err e = buckets(runs, &all, why);
	bool more = true;
	for (size_t i = 0; i < all.n && more && !e; i++) {
		uint64_t bucket = ((uint64_t *)all.items)[i];
		size_t left = 0;
		if (bucket < from / RUNFILE_BUCKET)
			continue;
		e = walk_bucket(runs, bucket, from, fn, ctx, &more, &left, why);
		if (!e && !left && i + 1 < all.n) {
			char path[4096], name[RUNFILE_NAME_MAX];
			runfile_bucket(name, bucket * RUNFILE_BUCKET);
			snprintf(path, sizeof path, "%s/%s", runs, name);
			rmdir(path); /* unless something is in it after all */
		}
	}
	free(all.items);
	return e;
}

uint64_t runfile_remove(struct run_files *f, bool keep_result)
{
	uint64_t free_now = 0;
	unsigned left = 0;
	for (unsigned i = 0; i < f->files; i++) {
		const struct run_file *file = &f->file[i];
		char name[RUNFILE_NAME_MAX];
		bool keeps = keep_result && (!strcmp(file->kind, "run") || !strcmp(file->kind, "out"));
		runfile_name(name, file->run, file->attempt, file->kind);
		if (keeps || unlinkat(f->dir, name, 0) < 0)
			left++;
		else
			free_now += file->bytes;
	}
	f->gone = !left;
	return free_now;
}

static bool note_last(void *ctx, struct run_files *f)
{
	*(uint64_t *)ctx = f->run;
	return true;
}

enum err runfile_last_run(const char *runs, uint64_t *ret, struct why *why)
{
	struct list all = { 0 };
	uint64_t last = 0;
	enum err e = buckets(runs, &all, why);
	/* The last directory may be empty. */
	for (size_t i = all.n; i > 0 && !last && !e; i--) {
		bool more;
		size_t left = 0;
		e = walk_bucket(runs, ((uint64_t *)all.items)[i - 1], 0, note_last, &last, &more, &left, why);
	}
	free(all.items);
	if (!e)
		*ret = last;
	return e;
}
