#include "admin/watch.h"

#include "base/hash.h"
#include "base/map.h"
#include "cli/apply_request.h"
#include "cli/remote.h"
#include "store/sqlite/read/reader.h"
#include "sys/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHANGES       (IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB)
#define CHANGES_BELOW (CHANGES | IN_MOVE | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

enum file_state {
	FILE_GOOD,    /* in force as it is */
	FILE_CHANGED, /* to be applied */
	FILE_BAD,     /* refused; to be tried again when anything changes */
	FILE_GONE,    /* what came from it is to be removed … */
	FILE_OVER,    /* … and was */
};

struct file {
	char *path;
	struct timespec changed;
	ino_t inode;
	off_t size;
	enum file_state state;
	bool seen, told; /* in this round; a problem is, or may be, open for it */
	bool written;    /* just now, by somebody: it is left alone */
};

struct watch {
	struct cli_call call; /* a copy, with an arena and zones of its own for each round */
	struct daemon *daemon;
	char *dir;
	int inotify, stop;
	pthread_t thread;
	struct file *file;
	unsigned n, room;
	struct map by_path; /* hashes */
	bool lost;          /* the directory cannot be read, and people have been told */
	bool waiting;       /* a file is being written, or the daemon was busy: soon again */
	bool adrift;        /* a link leads nowhere, or cannot be watched: looked at every now and then */
	bool swept;         /* what was removed while nobody looked is gone */
	bool applied;       /* all, once, or it took too long: the daemon has been told */
	struct boot begun;
	atomic_bool stopping;
};

/* --- problems --- */

static void say(struct watch *w, enum problem_act act, const char *path, const char *text)
{
	_cleanup_(buf_free) struct buf key = { 0 };
	buf_addf(&key, "file:%s", path);
	struct st_req r = { .op = ST_PROBLEM,
			    .lane = LANE_USER,
			    .at = clock_wall(),
			    .problem = { .act = (uint8_t)act, .key = buf_str(&key) } };
	if (act == PROBLEM_OPEN) {
		r.problem.subject = str_of(path);
		r.problem.text = str_of(text);
	}
	if (!key.failed && daemon_send_wait(w->daemon, &r, NULL, NULL))
		return; /* no memory, or the daemon stops */
}

/* --- what is there --- */

static uint64_t hash_of(const char *path)
{
	return fnv1a(FNV_START, str_of(path)) | 1;
}

static struct file *file_of(struct watch *w, const char *path)
{
	uint32_t at = map_get(&w->by_path, hash_of(path));
	if (at != MAP_NONE && !strcmp(w->file[at].path, path))
		return &w->file[at];
	/* Only if another has its hash. */
	for (unsigned i = 0; (at != MAP_NONE || w->by_path.n < w->n) && i < w->n; i++)
		if (!strcmp(w->file[i].path, path))
			return &w->file[i];
	if (w->n == w->room) {
		unsigned room = w->room ? 2 * w->room : 16;
		struct file *more = realloc(w->file, room * sizeof *more);
		if (!more)
			return NULL;
		w->file = more;
		w->room = room;
	}
	char *copy = strdup(path);
	if (!copy || (at == MAP_NONE && !map_put(&w->by_path, hash_of(path), w->n))) {
		free(copy);
		return NULL;
	}
	w->file[w->n] = (struct file){ .path = copy, .state = FILE_CHANGED, .told = true };
	return &w->file[w->n++];
}

/* A lease to read is granted only where nobody writes; whoever may not ask for one is told nothing. */
static bool is_being_written(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	bool busy = fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EAGAIN;
	close(fd);
	return busy;
}

/* Is there a file? What a link leads to changes elsewhere; one that leads nowhere is there all the same. So
 * is what may not be looked at: only what is known to be gone is. */
static bool look_through(struct watch *w, const char *path, struct stat *ret)
{
	struct stat to;
	if (lstat(path, ret) < 0)
		return errno != ENOENT && errno != ENOTDIR;
	if (!S_ISLNK(ret->st_mode))
		return S_ISREG(ret->st_mode);
	int watch = inotify_add_watch(w->inotify, path, CHANGES | IN_DELETE_SELF | IN_MOVE_SELF);
	bool there = stat(path, &to) == 0;
	w->adrift |= watch < 0 || !there;
	if (there)
		*ret = to;
	return !there || S_ISREG(to.st_mode);
}

static void look_at(struct watch *w, const char *path)
{
	struct stat st = { 0 };
	struct file *f = look_through(w, path, &st) ? file_of(w, path) : NULL;
	if (!f)
		return;
	f->seen = true;
	/* Nobody can set this time back. */
	bool same = f->inode == st.st_ino && f->size == st.st_size &&
		    f->changed.tv_sec == st.st_ctim.tv_sec && f->changed.tv_nsec == st.st_ctim.tv_nsec;
	f->written = false;
	if (same && f->state != FILE_GONE)
		return;
	f->written = is_being_written(path);
	if (f->written) {
		w->waiting = true;
		return;
	}
	f->state = FILE_CHANGED;
	f->inode = st.st_ino;
	f->size = st.st_size;
	f->changed = st.st_ctim;
}

/* False: the directory itself cannot be read, and nothing is to be concluded from that. */
static bool look(struct watch *w)
{
	DIR *d = opendir(w->dir);
	w->waiting = w->adrift = false;
	if (!d)
		return false;
	for (unsigned i = 0; i < w->n; i++)
		w->file[i].seen = false;
	bool good = true;
	for (struct dirent *e; good && (errno = 0, e = readdir(d));) {
		char *path = NULL;
		if (!documents_is_name(e->d_name))
			continue;
		good = asprintf(&path, "%s/%s", w->dir, e->d_name) > 0;
		if (good)
			look_at(w, path);
		free(path);
	}
	good = good && !errno;
	closedir(d);
	if (!good)
		return false;
	for (unsigned i = 0; i < w->n; i++)
		if (!w->file[i].seen) {
			w->file[i].state = FILE_GONE;
			w->file[i].written = false;
		}
	return true;
}

/* --- applying --- */

/* Not the file's fault. */
static bool passes(enum err e)
{
	return e == E_BUSY || e == E_NODAEMON || e == E_TIMEOUT || e == E_GONE || e == E_NOMEM;
}

static void settle(struct watch *w, struct file *f, enum err e)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (passes(e)) {
		w->waiting = true;
		return;
	}
	if (e) {
		if (w->call.source_name)
			buf_addf(&text, "%s: ", f->path);
		err_describe(e, w->call.why, w->call.source, &text);
		say(w, PROBLEM_OPEN, f->path, text.failed ? "it was refused" : buf_str(&text).p);
		fprintf(stderr, "rota: %s\n", text.failed ? f->path : text.p);
	} else if (f->told) {
		say(w, PROBLEM_CLOSE, f->path, NULL);
	}
	f->told = e != OK;
	f->state = e ? FILE_BAD : f->state == FILE_GONE ? FILE_OVER : FILE_GOOD;
}

/* Asks for these files, and for what came from them to go if it is in none of them any more. */
static enum err ask(struct watch *w, const struct documents *docs, struct file *const *file, unsigned n,
		    const char *gone)
{
	_cleanup_(buf_free) struct buf body = { 0 };
	struct str text;
	struct val answer;
	const char **path = arena_alloc(w->call.arena, (n + 1) * sizeof *path);
	if (!path)
		return E_NOMEM;
	for (unsigned i = 0; i < n; i++)
		path[i] = file[i]->path;
	w->call.source = (struct str){ 0 };
	w->call.source_name = NULL;
	enum err e = apply_body(&w->call, docs, false, true, path, n, gone, &body);
	if (!e)
		e = remote_call(&w->call, "POST", ops[OP_APPLY].route, buf_str(&body), &text, &answer);
	if (!e)
		e = apply_error(&w->call, &answer);
	return e == E_IO ? E_BUSY : e; /* of the socket or the store: the files have been read */
}

static void apply_alone(struct watch *w, struct file *f)
{
	_cleanup_(documents_free) struct documents docs = { 0 };
	enum err e = f->state == FILE_GONE ? OK : documents_read_file(&w->call, f->path, true, &docs);
	if (!e)
		e = ask(w, &docs, &f, 1, NULL);
	settle(w, f, e);
}

/* All together, so that a schedule may move from one file to another; if that is refused, one by one, so that
 * one file's fault is not the others'. */
static void apply_these(struct watch *w, struct file **file, unsigned n)
{
	_cleanup_(documents_free) struct documents docs = { 0 };
	unsigned good = 0;
	for (unsigned i = 0; i < n; i++) {
		enum err e = file[i]->state == FILE_GONE
				     ? OK
				     : documents_read_file(&w->call, file[i]->path, true, &docs);
		if (e)
			settle(w, file[i], e);
		else
			file[good++] = file[i];
	}
	/* The first time also for what was removed while nobody looked. */
	const char *gone = w->swept ? NULL : w->dir;
	enum err e = good || gone ? ask(w, &docs, file, good, gone) : OK;
	bool alone = e && !passes(e) && good > 1;
	for (unsigned i = 0; i < good && !atomic_load(&w->stopping); i++)
		if (alone)
			apply_alone(w, file[i]);
		else
			settle(w, file[i], e);
	if (e && gone && !passes(e))
		e = ask(w, &(struct documents){ 0 }, NULL, 0, gone);
	w->swept |= !e;
	w->waiting |= passes(e);
}

static void forget_over(struct watch *w)
{
	unsigned n = 0;
	for (unsigned i = 0; i < w->n; i++) {
		struct file f = w->file[i];
		uint64_t hash = hash_of(f.path);
		bool mapped = map_get(&w->by_path, hash) == i;
		if (f.state == FILE_OVER) {
			if (mapped)
				map_remove(&w->by_path, hash);
			free(f.path);
			continue;
		}
		if (mapped && !map_put(&w->by_path, hash, n))
			map_remove(&w->by_path, hash);
		w->file[n++] = f;
	}
	w->n = n;
}

/* Problems of an earlier daemon with files that are there no more, or well by now. */
static void close_old_problems(struct watch *w)
{
	struct arena arena = { 0 };
	struct reader *reader = NULL;
	struct read_problems page = { .more = true };
	struct why why;
	enum err e = daemon_reader(w->daemon, &reader, &why);
	for (uint64_t before = 0; !e && page.more; before = page.n ? page.item[page.n - 1].number : 0) {
		e = read_problems(reader, false, before, 0, &arena, &page, &why);
		for (unsigned i = 0; !e && i < page.n; i++) {
			const struct problem_row *p = &page.item[i];
			const char *path =
				str_starts(p->key, STR("file:")) ? arena_dup(&arena, p->subject) : NULL;
			uint32_t at = path ? map_get(&w->by_path, hash_of(path)) : MAP_NONE;
			bool ours = at != MAP_NONE || (path && w->lost && !strcmp(path, w->dir));
			if (path && !ours)
				say(w, PROBLEM_CLOSE, path, NULL);
		}
	}
	reader_close(reader);
	arena_free(&arena);
}

static void documents_are_in(void *arg)
{
	daemon_documents_applied(arg);
}

static void do_round(struct watch *w)
{
	struct arena arena = { 0 };
	struct why why = { .at = WHY_NOWHERE };
	struct zoneinfo *zones = NULL;
	bool there = look(w), any = false;
	if (!there && !w->lost)
		say(w, PROBLEM_OPEN, w->dir,
		    "the directory of documents cannot be read; what it said last is in force");
	if (there && w->lost)
		say(w, PROBLEM_CLOSE, w->dir, NULL);
	w->lost = !there;
	for (unsigned i = 0; i < w->n && there; i++)
		any |= w->file[i].state == FILE_CHANGED || w->file[i].state == FILE_GONE;
	any |= there && !w->swept;
	w->call.arena = &arena;
	w->call.why = &why;
	struct file **file = any ? arena_alloc(&arena, (w->n + 1) * sizeof(struct file *)) : NULL;
	if (file && zoneinfo_open(&zones) == OK) {
		unsigned n = 0;
		w->call.zones = zones;
		for (unsigned i = 0; i < w->n; i++)
			if (w->file[i].state != FILE_GOOD && !w->file[i].written)
				file[n++] = &w->file[i];
		apply_these(w, file, n);
		forget_over(w);
	} else if (any) {
		w->waiting = true;
	}
	zoneinfo_close(zones);
	arena_free(&arena);
	bool late = clock_boot().us - w->begun.us > WATCH_FIRST_MS * INT64_C(1000);
	if (!w->applied && ((there && !w->waiting) || late)) {
		w->applied = daemon_call(w->daemon, documents_are_in, w->daemon) == OK;
		if (w->applied)
			close_old_problems(w);
	}
}

/* --- the thread --- */

/* Forgets what was told: whatever it was, everything is looked at. True: there was something. */
static bool drain(struct watch *w)
{
	char bytes[4096];
	bool any = false;
	while (read(w->inotify, bytes, sizeof bytes) > 0)
		any = true;
	return any;
}

static void *work(void *arg)
{
	struct watch *w = arg;
	struct pollfd fd[] = { { w->inotify, POLLIN, 0 }, { w->stop, POLLIN, 0 } };
	while (!atomic_load(&w->stopping)) {
		/* People and programs write several files at a time: once they have been quiet for a moment.
		 */
		for (unsigned i = 0; i < WATCH_QUIET_MAX && drain(w); i++)
			poll(&fd[1], 1, WATCH_QUIET_MS);
		if (atomic_load(&w->stopping))
			break;
		do_round(w);
		/* A directory that came back is watched anew; a watch that is there already is the same one.
		 */
		int watch = inotify_add_watch(w->inotify, w->dir, CHANGES_BELOW);
		bool again = watch < 0 || w->waiting || w->adrift || w->lost || !w->applied;
		poll(fd, ARRAY_LEN(fd), again ? WATCH_RETRY_MS : -1);
	}
	return NULL;
}

enum err watch_open(struct cli_call *call, const char *dir, struct daemon *daemon, struct watch **ret,
		    struct why *why)
{
	struct stat st;
	struct watch *w = calloc(1, sizeof *w);
	if (!w)
		return E_NOMEM;
	w->call = *call;
	w->daemon = daemon;
	w->dir = realpath(dir, NULL);
	w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	w->stop = eventfd(0, EFD_CLOEXEC);
	w->begun = clock_boot();
	enum err e = OK;
	if (!w->dir || stat(w->dir, &st) < 0 || !S_ISDIR(st.st_mode))
		e = why_set(why, E_INPUT, WHY_NOWHERE, "%.200s is no directory", dir);
	else if (w->inotify < 0 || w->stop < 0 || inotify_add_watch(w->inotify, w->dir, CHANGES_BELOW) < 0)
		e = why_set(why, E_IO, WHY_NOWHERE, "%.200s cannot be watched: %s", dir, strerror(errno));
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!e && pthread_create(&w->thread, NULL, work, w))
		e = why_set(why, E_IO, WHY_NOWHERE, "a thread cannot be started");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!e) {
		*ret = w;
		return OK;
	}
	w->stopping = true;
	close(w->inotify);
	close(w->stop);
	free(w->dir);
	free(w);
	return e;
}

void watch_close(struct watch *w)
{
	if (!w)
		return;
	atomic_store(&w->stopping, true);
	eventfd_write(w->stop, 1);
	pthread_join(w->thread, NULL);
	for (unsigned i = 0; i < w->n; i++)
		free(w->file[i].path);
	close(w->inotify);
	close(w->stop);
	map_free(&w->by_path);
	free(w->file);
	free(w->dir);
	free(w);
}
