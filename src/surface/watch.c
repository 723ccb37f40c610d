#include "surface/watch.h"

#include "host/clock.h"
#include "surface/op_apply.h"
#include "surface/remote.h"

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
};

struct watch {
	struct op_call call; /* a copy, with an arena and zones of its own for each round */
	struct daemon *daemon;
	char *dir;
	int inotify, stop;
	pthread_t thread;
	struct file *file;
	unsigned n, room;
	bool lost;    /* the directory cannot be read, and people have been told */
	bool waiting; /* a file is being written, or the daemon was busy: soon again */
	bool applied; /* all, once */
	struct boot begun;
	atomic_bool stopping;
};

/* --- problems
 * --------------------------------------------------------------------------------------------------- */

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
	while (!key.failed && daemon_send(w->daemon, &r, NULL, NULL) == E_BUSY && !atomic_load(&w->stopping))
		usleep(1000);
}

/* --- what is there
 * ---------------------------------------------------------------------------------------------- */

static struct file *file_of(struct watch *w, const char *path)
{
	for (unsigned i = 0; i < w->n; i++)
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
	if (!copy)
		return NULL;
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

static void look_at(struct watch *w, const char *path)
{
	struct stat st;
	struct file *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? file_of(w, path) : NULL;
	if (!f)
		return;
	f->seen = true;
	bool same = f->inode == st.st_ino && f->size == st.st_size &&
		    f->changed.tv_sec == st.st_mtim.tv_sec && f->changed.tv_nsec == st.st_mtim.tv_nsec;
	if (same && f->state != FILE_GONE)
		return;
	if (is_being_written(path)) {
		w->waiting = true;
		return;
	}
	f->state = FILE_CHANGED;
	f->inode = st.st_ino;
	f->size = st.st_size;
	f->changed = st.st_mtim;
}

/* False: the directory itself cannot be read, and nothing is to be concluded from that. */
static bool look(struct watch *w)
{
	DIR *d = opendir(w->dir);
	w->waiting = false;
	if (!d)
		return false;
	for (unsigned i = 0; i < w->n; i++)
		w->file[i].seen = false;
	for (struct dirent *e; (e = readdir(d));) {
		char *path = NULL;
		if (docs_is_document(e->d_name) && asprintf(&path, "%s/%s", w->dir, e->d_name) > 0)
			look_at(w, path);
		free(path);
	}
	closedir(d);
	for (unsigned i = 0; i < w->n; i++)
		if (!w->file[i].seen)
			w->file[i].state = FILE_GONE;
	return true;
}

/* --- applying
 * --------------------------------------------------------------------------------------------------- */

static void settle(struct watch *w, struct file *f, enum err e)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (e == E_BUSY || e == E_NODAEMON || e == E_TIMEOUT || e == E_GONE || e == E_NOMEM) {
		w->waiting = true; /* not the file's fault */
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
static enum err ask(struct watch *w, const struct docs *docs, struct file *const *file, unsigned n)
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
	enum err e = apply_body(&w->call, docs, false, path, n, w->applied ? NULL : w->dir, &body);
	if (!e)
		e = remote_call(&w->call, "POST", op_row("apply")->route, buf_str(&body), &text, &answer);
	return e ? e : apply_error(&w->call, &answer);
}

static void apply_alone(struct watch *w, struct file *f)
{
	_cleanup_(docs_free) struct docs docs = { 0 };
	enum err e = f->state == FILE_GONE ? OK : docs_file(&w->call, f->path, &docs);
	if (!e)
		e = ask(w, &docs, &f, 1);
	settle(w, f, e);
}

/* All together, so that a schedule may move from one file to another; if that is refused, one by one, so that
 * one file's fault is not the others'. */
static void apply_these(struct watch *w, struct file **file, unsigned n)
{
	_cleanup_(docs_free) struct docs docs = { 0 };
	unsigned good = 0;
	for (unsigned i = 0; i < n; i++) {
		enum err e = file[i]->state == FILE_GONE ? OK : docs_file(&w->call, file[i]->path, &docs);
		if (e)
			settle(w, file[i], e);
		else
			file[good++] = file[i];
	}
	/* The first time also for what was removed while nobody looked. */
	enum err e = good || !w->applied ? ask(w, &docs, file, good) : OK;
	for (unsigned i = 0; i < good; i++)
		if (e && good > 1)
			apply_alone(w, file[i]);
		else
			settle(w, file[i], e);
}

static void forget_over(struct watch *w)
{
	unsigned n = 0;
	for (unsigned i = 0; i < w->n; i++)
		if (w->file[i].state == FILE_OVER)
			free(w->file[i].path);
		else
			w->file[n++] = w->file[i];
	w->n = n;
}

static void documents_are_in(void *arg)
{
	daemon_documents(arg);
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
	any |= there && !w->applied;
	w->call.arena = &arena;
	w->call.why = &why;
	struct file **file = any ? arena_alloc(&arena, (w->n + 1) * sizeof(struct file *)) : NULL;
	if (file && zoneinfo_open(&zones) == OK) {
		unsigned n = 0;
		w->call.zones = zones;
		for (unsigned i = 0; i < w->n; i++)
			if (w->file[i].state != FILE_GOOD)
				file[n++] = &w->file[i];
		apply_these(w, file, n);
		forget_over(w);
	}
	zoneinfo_close(zones);
	arena_free(&arena);
	bool late = clock_boot().us - w->begun.us > WATCH_FIRST_MS * INT64_C(1000);
	if (!w->applied && (!w->waiting || late))
		w->applied = daemon_call(w->daemon, documents_are_in, w->daemon) == OK;
}

/* --- the thread
 * ------------------------------------------------------------------------------------------------- */

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
		int watch = inotify_add_watch(w->inotify, w->dir,
					      IN_CLOSE_WRITE | IN_MODIFY | IN_MOVE | IN_CREATE | IN_DELETE |
						      IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
		bool again = watch < 0 || w->waiting || w->lost || !w->applied;
		poll(fd, ARRAY_LEN(fd), again ? WATCH_AGAIN_MS : -1);
	}
	return NULL;
}

enum err watch_open(struct op_call *call, const char *dir, struct daemon *daemon, struct watch **ret,
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
	else if (w->inotify < 0 || w->stop < 0 ||
		 inotify_add_watch(w->inotify, w->dir,
				   IN_CLOSE_WRITE | IN_MODIFY | IN_MOVE | IN_CREATE | IN_DELETE |
					   IN_ONLYDIR) < 0)
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
	free(w->file);
	free(w->dir);
	free(w);
}
