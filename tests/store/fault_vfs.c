/* The VFS that fails on command: images of files, their unsynced changes, and SQLite's methods on them. */
#include "fault_vfs.h"
#include "test.h"

#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 16, SECTOR = 512 };

/* The bytes of a file. */
struct image {
	uint8_t *p;
	size_t n, cap;
};

/* A change of a file that is not yet synced. */
struct change {
	bool truncates; /* true: the file is truncated to `at` bytes; false: n bytes are written at `at` */
	size_t at, n;
	uint8_t *bytes;
};

struct file {
	char path[PATH_MAX];
	bool exists, exists_on_disk;
	struct image now, disk;
	struct change *change;
	size_t changes, change_cap;
};

static struct {
	pthread_mutex_t lock;
	struct file file[FILES_MAX];
	unsigned files;
	uint64_t count[FAULTS];
	uint64_t fail_from[FAULTS], fail_to[FAULTS]; /* range of calls, by number, that fail */
	uint64_t stop_at;                            /* number of the sync during which the machine stops */
	bool stopped, has_failed;
	size_t capacity;
	unsigned open;
} fs = { .lock = PTHREAD_MUTEX_INITIALIZER, .capacity = SIZE_MAX };

static sqlite3_vfs *real;

struct handle {
	sqlite3_file base;
	struct file *file;
	sqlite3_file *real; /* the real file, for locks and shared memory; only the database has one */
};

/* --- images --- */

static void *not_null(void *p)
{
	if (!p)
		abort();
	return p;
}

static void image_resize(struct image *m, size_t n)
{
	if (n > m->cap) {
		m->cap = 2 * n;
		m->p = not_null(realloc(m->p, m->cap));
	}
	if (n > m->n)
		memset(m->p + m->n, 0, n - m->n);
	m->n = n;
}

static void image_write(struct image *m, size_t at, const uint8_t *bytes, size_t n)
{
	if (at + n > m->n)
		image_resize(m, at + n);
	memcpy(m->p + at, bytes, n);
}

static void image_copy(struct image *to, const struct image *from)
{
	image_resize(to, from->n);
	if (from->n)
		memcpy(to->p, from->p, from->n);
}

static void add_change(struct file *f, struct change c)
{
	if (f->changes == f->change_cap) {
		f->change_cap = f->change_cap ? 2 * f->change_cap : 16;
		f->change = not_null(realloc(f->change, f->change_cap * sizeof *f->change));
	}
	f->change[f->changes++] = c;
}

static void forget_changes(struct file *f)
{
	for (size_t i = 0; i < f->changes; i++)
		free(f->change[i].bytes);
	f->changes = 0;
}

/* Applies the changes to the disk: all of them (no seed), or random sectors of them. */
static void apply_changes(struct file *f, uint64_t *seed)
{
	for (size_t i = 0; i < f->changes; i++) {
		const struct change *c = &f->change[i];
		if (c->truncates) {
			if (!seed || test_random(seed) % 2)
				image_resize(&f->disk, c->at);
			continue;
		}
		for (size_t k = 0; k < c->n;) {
			size_t n = SECTOR - (c->at + k) % SECTOR;
			n = n < c->n - k ? n : c->n - k;
			if (!seed || test_random(seed) % 2)
				image_write(&f->disk, c->at + k, c->bytes + k, n);
			k += n;
		}
	}
	forget_changes(f);
}

/* --- files --- */

static struct file *find_file(const char *path)
{
	for (unsigned i = 0; i < fs.files; i++)
		if (strcmp(fs.file[i].path, path) == 0)
			return &fs.file[i];
	return NULL;
}

static struct file *open_file(const char *path)
{
	struct file *f = find_file(path);
	if (!f) {
		if (fs.files == FILES_MAX)
			abort();
		f = &fs.file[fs.files++];
		snprintf(f->path, sizeof f->path, "%s", path);
	}
	if (!f->exists) {
		f->exists = true;
		f->now.n = 0;
		/* A file of this name on the disk is truncated, which is a change, too. */
		add_change(f, (struct change){ .truncates = true });
	}
	return f;
}

static size_t used_bytes(void)
{
	size_t n = 0;
	for (unsigned i = 0; i < fs.files; i++)
		n += fs.file[i].exists ? fs.file[i].now.n : 0;
	return n;
}

/* Counts a call, and returns whether it may succeed. The lock must be held. */
static bool count_call(enum fault what)
{
	uint64_t n = ++fs.count[what];
	if (what == FAULT_SYNC && n == fs.stop_at)
		fs.stopped = true;
	if (n >= fs.fail_from[what] && n < fs.fail_to[what]) {
		fs.has_failed = true;
		return false;
	}
	return !fs.stopped;
}

static int file_read(sqlite3_file *base, void *to, int amount, sqlite3_int64 offset)
{
	struct file *f = ((struct handle *)base)->file;
	size_t n = (size_t)amount, at = (size_t)offset;
	pthread_mutex_lock(&fs.lock);
	int rc = count_call(FAULT_READ) ? SQLITE_OK : SQLITE_IOERR_READ;
	if (rc == SQLITE_OK) {
		size_t have = at < f->now.n ? f->now.n - at : 0;
		have = have < n ? have : n;
		if (have)
			memcpy(to, f->now.p + at, have);
		memset((uint8_t *)to + have, 0, n - have);
		rc = have < n ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
	}
	pthread_mutex_unlock(&fs.lock);
	return rc;
}

static int file_write(sqlite3_file *base, const void *from, int amount, sqlite3_int64 offset)
{
	struct file *f = ((struct handle *)base)->file;
	size_t n = (size_t)amount, at = (size_t)offset;
	pthread_mutex_lock(&fs.lock);
	int rc = count_call(FAULT_WRITE) ? SQLITE_OK : SQLITE_IOERR_WRITE;
	size_t more = at + n > f->now.n ? at + n - f->now.n : 0;
	if (rc == SQLITE_OK && more && used_bytes() + more > fs.capacity)
		rc = SQLITE_FULL;
	if (rc == SQLITE_OK) {
		uint8_t *bytes = not_null(malloc(n + 1));
		memcpy(bytes, from, n);
		image_write(&f->now, at, bytes, n);
		add_change(f, (struct change){ .at = at, .n = n, .bytes = bytes });
	}
	pthread_mutex_unlock(&fs.lock);
	return rc;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	struct file *f = ((struct handle *)base)->file;
	pthread_mutex_lock(&fs.lock);
	int rc = count_call(FAULT_TRUNCATE) ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
	if (rc == SQLITE_OK) {
		image_resize(&f->now, (size_t)size);
		add_change(f, (struct change){ .truncates = true, .at = (size_t)size });
	}
	pthread_mutex_unlock(&fs.lock);
	return rc;
}

static int file_sync(sqlite3_file *base, int flags)
{
	struct file *f = ((struct handle *)base)->file;
	(void)flags;
	pthread_mutex_lock(&fs.lock);
	int rc = count_call(FAULT_SYNC) ? SQLITE_OK : SQLITE_IOERR_FSYNC;
	if (rc == SQLITE_OK) {
		apply_changes(f, NULL);
		f->exists_on_disk = true;
	}
	pthread_mutex_unlock(&fs.lock);
	return rc;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *ret)
{
	pthread_mutex_lock(&fs.lock);
	*ret = (sqlite3_int64)((struct handle *)base)->file->now.n;
	pthread_mutex_unlock(&fs.lock);
	return SQLITE_OK;
}

static int file_close(sqlite3_file *base)
{
	struct handle *h = (struct handle *)base;
	pthread_mutex_lock(&fs.lock);
	fs.open--;
	pthread_mutex_unlock(&fs.lock);
	return h->real ? h->real->pMethods->xClose(h->real) : SQLITE_OK;
}

/* --- locks and shared memory --- */

static int file_lock(sqlite3_file *base, int level)
{
	struct handle *h = (struct handle *)base;
	return h->real ? h->real->pMethods->xLock(h->real, level) : SQLITE_OK;
}

static int file_unlock(sqlite3_file *base, int level)
{
	struct handle *h = (struct handle *)base;
	return h->real ? h->real->pMethods->xUnlock(h->real, level) : SQLITE_OK;
}

static int file_reserved(sqlite3_file *base, int *ret)
{
	struct handle *h = (struct handle *)base;
	*ret = 0;
	return h->real ? h->real->pMethods->xCheckReservedLock(h->real, ret) : SQLITE_OK;
}

static int file_control(sqlite3_file *base, int op, void *arg)
{
	(void)base, (void)op, (void)arg;
	return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *base)
{
	(void)base;
	return 4096;
}

/* As on the real file system, a write does not damage the bytes beside it. */
static int file_device(sqlite3_file *base)
{
	(void)base;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int shm_map(sqlite3_file *base, int region, int size, int extend, void volatile **ret)
{
	struct handle *h = (struct handle *)base;
	return h->real->pMethods->xShmMap(h->real, region, size, extend, ret);
}

static int shm_lock(sqlite3_file *base, int offset, int n, int flags)
{
	struct handle *h = (struct handle *)base;
	return h->real->pMethods->xShmLock(h->real, offset, n, flags);
}

static void shm_barrier(sqlite3_file *base)
{
	struct handle *h = (struct handle *)base;
	h->real->pMethods->xShmBarrier(h->real);
}

static int shm_unmap(sqlite3_file *base, int remove)
{
	struct handle *h = (struct handle *)base;
	return h->real->pMethods->xShmUnmap(h->real, remove);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_device,
	.xShmMap = shm_map,
	.xShmLock = shm_lock,
	.xShmBarrier = shm_barrier,
	.xShmUnmap = shm_unmap,
};

/* --- the file system --- */

static int fs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *out)
{
	struct handle *h = (struct handle *)base;
	(void)vfs;
	h->base.pMethods = NULL;
	h->real = NULL;
	pthread_mutex_lock(&fs.lock);
	bool may_open = !fs.stopped;
	pthread_mutex_unlock(&fs.lock);
	if (!may_open)
		return SQLITE_CANTOPEN;
	if (flags & SQLITE_OPEN_MAIN_DB) {
		h->real = (sqlite3_file *)(h + 1);
		int rc = real->xOpen(real, path, h->real, flags, out);
		if (rc != SQLITE_OK)
			return rc;
	} else if (out) {
		*out = flags;
	}
	pthread_mutex_lock(&fs.lock);
	h->file = open_file(path ? path : "(temporary)");
	fs.open++;
	pthread_mutex_unlock(&fs.lock);
	h->base.pMethods = &methods;
	return SQLITE_OK;
}

/* Without a sync of the directory, the file may exist again after a power cut. */
static int fs_delete(sqlite3_vfs *vfs, const char *path, int sync_directory)
{
	(void)vfs;
	pthread_mutex_lock(&fs.lock);
	struct file *f = find_file(path);
	int rc = fs.stopped ? SQLITE_IOERR_DELETE : f && f->exists ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
	if (rc == SQLITE_OK) {
		forget_changes(f);
		f->exists = false;
		if (sync_directory)
			f->exists_on_disk = false;
	}
	pthread_mutex_unlock(&fs.lock);
	return rc;
}

static int fs_access(sqlite3_vfs *vfs, const char *path, int flags, int *ret)
{
	(void)vfs, (void)flags;
	pthread_mutex_lock(&fs.lock);
	struct file *f = find_file(path);
	*ret = f && f->exists && f->now.n > 0;
	pthread_mutex_unlock(&fs.lock);
	return SQLITE_OK;
}

void fault_vfs_install(void)
{
	static sqlite3_vfs vfs;
	if (real)
		return;
	real = sqlite3_vfs_find(NULL);
	vfs = *real; /* paths, time, randomness and sleep are those of the real VFS */
	vfs.iVersion = 1;
	vfs.pNext = NULL;
	vfs.zName = "fault_vfs";
	vfs.szOsFile = (int)sizeof(struct handle) + real->szOsFile;
	vfs.xOpen = fs_open;
	vfs.xDelete = fs_delete;
	vfs.xAccess = fs_access;
	if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK)
		abort();
}

void fault_vfs_reset(void)
{
	pthread_mutex_lock(&fs.lock);
	if (fs.open)
		abort();
	for (unsigned i = 0; i < fs.files; i++) {
		forget_changes(&fs.file[i]);
		free(fs.file[i].change);
		free(fs.file[i].now.p);
		free(fs.file[i].disk.p);
		fs.file[i] = (struct file){ 0 };
	}
	fs.files = 0;
	memset(fs.count, 0, sizeof fs.count);
	memset(fs.fail_from, 0, sizeof fs.fail_from);
	memset(fs.fail_to, 0, sizeof fs.fail_to);
	fs.stop_at = 0;
	fs.stopped = fs.has_failed = false;
	fs.capacity = SIZE_MAX;
	pthread_mutex_unlock(&fs.lock);
}

void fault_vfs_fail(enum fault what, uint64_t nth, uint64_t times)
{
	pthread_mutex_lock(&fs.lock);
	fs.fail_from[what] = fs.count[what] + nth;
	fs.fail_to[what] = times > UINT64_MAX - fs.fail_from[what] ? UINT64_MAX : fs.fail_from[what] + times;
	fs.has_failed = false;
	pthread_mutex_unlock(&fs.lock);
}

uint64_t fault_vfs_count(enum fault what)
{
	pthread_mutex_lock(&fs.lock);
	uint64_t n = fs.count[what];
	pthread_mutex_unlock(&fs.lock);
	return n;
}

bool fault_vfs_has_failed(void)
{
	pthread_mutex_lock(&fs.lock);
	bool failed = fs.has_failed;
	pthread_mutex_unlock(&fs.lock);
	return failed;
}

void fault_vfs_capacity(size_t bytes)
{
	pthread_mutex_lock(&fs.lock);
	fs.capacity = bytes;
	pthread_mutex_unlock(&fs.lock);
}

size_t fault_vfs_used(void)
{
	pthread_mutex_lock(&fs.lock);
	size_t n = used_bytes();
	pthread_mutex_unlock(&fs.lock);
	return n;
}

void fault_vfs_stop_at_sync(uint64_t nth)
{
	pthread_mutex_lock(&fs.lock);
	fs.stop_at = fs.count[FAULT_SYNC] + nth;
	pthread_mutex_unlock(&fs.lock);
}

void fault_vfs_stop(void)
{
	pthread_mutex_lock(&fs.lock);
	fs.stopped = true;
	pthread_mutex_unlock(&fs.lock);
}

bool fault_vfs_stopped(void)
{
	pthread_mutex_lock(&fs.lock);
	bool stopped = fs.stopped;
	pthread_mutex_unlock(&fs.lock);
	return stopped;
}

static void cut_power(struct file *f, uint64_t *seed)
{
	if (seed)
		apply_changes(f, seed);
	else
		forget_changes(f);
	/* If the file was created or removed without a sync of the directory, it may exist or not. */
	if (f->exists != f->exists_on_disk)
		f->exists_on_disk = seed ? test_random(seed) % 2 : f->exists_on_disk;
	f->exists = f->exists_on_disk;
	if (!f->exists)
		f->disk.n = 0;
	image_copy(&f->now, &f->disk);
}

void fault_vfs_restart(enum fault_vfs_end end, uint64_t seed)
{
	pthread_mutex_lock(&fs.lock);
	if (fs.open)
		abort();
	for (unsigned i = 0; i < fs.files && end != FAULT_VFS_KILLED; i++)
		cut_power(&fs.file[i], end == FAULT_VFS_CUT_SOME ? &seed : NULL);
	fs.stopped = false;
	fs.stop_at = 0;
	pthread_mutex_unlock(&fs.lock);
}
