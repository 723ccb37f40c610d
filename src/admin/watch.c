/* The thread that applies the documents of a directory when they change. */
#include "admin/watch.h"

#include "admin/watched_files.h"
#include "cli/apply_request.h"
#include "cli/remote.h"
#include "port/read.h"
#include "sys/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY_CHANGES                                                                                    \
	(FILE_CHANGES | IN_MOVE | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

struct watch {
	struct cli_call call; /* a copy; each round has its own arena and zones */
	struct daemon *daemon;
	char *dir;
	struct watched_files files;
	int stop; /* eventfd: readable when the thread is to end */
	pthread_t thread;
	bool unreadable;    /* the directory cannot be read; a problem is open */
	bool retry_soon;    /* a file is being written, or the daemon was busy */
	bool removed_swept; /* schedules of files that were removed before the start have been removed */
	bool first_applied; /* the daemon was told that all files were applied once, or that this took too
			       long */
	struct boot started;
	atomic_bool stopping;
};

/* --- problems --- */

static void update_problem(struct watch *w, enum problem_act act, const char *path, const char *text)
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

/* --- applying --- */

/* Whether the error has another cause than the file, so that a second try may succeed. */
static bool is_temporary(enum err e)
{
	return e == E_BUSY || e == E_NODAEMON || e == E_TIMEOUT || e == E_GONE || e == E_NOMEM;
}

/* Records the result of applying a file, and opens or closes its problem. */
static void record_result(struct watch *w, struct watched_file *f, enum err e)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (is_temporary(e)) {
		w->retry_soon = true;
		return;
	}
	if (e) {
		if (w->call.source_name)
			buf_addf(&text, "%s: ", f->path);
		err_describe(e, w->call.why, w->call.source, &text);
		update_problem(w, PROBLEM_OPEN, f->path,
			       text.failed ? "the file could not be applied" : buf_str(&text).p);
		print(stderr, "rota: %s\n", text.failed ? f->path : text.p);
	} else if (f->problem) {
		update_problem(w, PROBLEM_CLOSE, f->path, NULL);
	}
	f->problem = e != OK;
	f->state = e ? FILE_REFUSED : f->state == FILE_REMOVED ? FILE_DROPPED : FILE_APPLIED;
}

/* Sends the documents of these files; schedules and agents that came from the files and are no longer in them
 * are removed. `gone` as in apply_body. */
static enum err send_documents(struct watch *w, const struct documents *docs,
			       struct watched_file *const *file, unsigned n, const char *gone)
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
	return e == E_IO ? E_BUSY : e; /* E_IO: the files have been read, so the socket or the store failed */
}

static void apply_file(struct watch *w, struct watched_file *f)
{
	_cleanup_(documents_free) struct documents docs = { 0 };
	enum err e = f->state == FILE_REMOVED ? OK : documents_read_file(&w->call, f->path, true, &docs);
	if (!e)
		e = send_documents(w, &docs, &f, 1, NULL);
	record_result(w, f, e);
}

/* Applies all files in one request, so that a schedule can move from one file to another. If the request is
 * refused, the files are applied one by one, so that an error in one file does not stop the others from being
 * applied. */
static void apply_files(struct watch *w, struct watched_file **file, unsigned n)
{
	_cleanup_(documents_free) struct documents docs = { 0 };
	unsigned good = 0;
	for (unsigned i = 0; i < n; i++) {
		enum err e = file[i]->state == FILE_REMOVED
				     ? OK
				     : documents_read_file(&w->call, file[i]->path, true, &docs);
		if (e)
			record_result(w, file[i], e);
		else
			file[good++] = file[i];
	}
	/* The first request also covers files that were removed before the start. */
	const char *gone = w->removed_swept ? NULL : w->dir;
	enum err e = good || gone ? send_documents(w, &docs, file, good, gone) : OK;
	bool one_by_one = e && !is_temporary(e) && good > 1;
	for (unsigned i = 0; i < good && !atomic_load(&w->stopping); i++)
		if (one_by_one)
			apply_file(w, file[i]);
		else
			record_result(w, file[i], e);
	if (e && gone && !is_temporary(e))
		e = send_documents(w, &(struct documents){ 0 }, NULL, 0, gone);
	w->removed_swept |= !e;
	w->retry_soon |= is_temporary(e);
}

/* Closes problems that an earlier daemon opened for files that no longer exist. */
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
			bool current = path && (files_has(&w->files, path) ||
						(w->unreadable && !strcmp(path, w->dir)));
			if (path && !current)
				update_problem(w, PROBLEM_CLOSE, path, NULL);
		}
	}
	reader_close(reader);
	arena_free(&arena);
}

static void set_documents_applied(void *arg)
{
	daemon_documents_applied(arg);
}

/* Scans the directory and applies the changes. */
static void run_round(struct watch *w)
{
	struct arena arena = { 0 };
	struct why why = { .at = WHY_NOWHERE };
	struct zoneinfo *zones = NULL;
	bool readable = files_scan(&w->files, w->dir), any = false;
	w->retry_soon = w->files.being_written;
	if (!readable && !w->unreadable)
		update_problem(w, PROBLEM_OPEN, w->dir,
			       "the directory of documents cannot be read; its last documents stay in force");
	if (readable && w->unreadable)
		update_problem(w, PROBLEM_CLOSE, w->dir, NULL);
	w->unreadable = !readable;
	for (unsigned i = 0; i < w->files.n && readable; i++)
		any |= w->files.file[i].state == FILE_CHANGED || w->files.file[i].state == FILE_REMOVED;
	any |= readable && !w->removed_swept;
	w->call.arena = &arena;
	w->call.why = &why;
	struct watched_file **file =
		any ? arena_alloc(&arena, (w->files.n + 1) * sizeof(struct watched_file *)) : NULL;
	if (file && zoneinfo_open(&zones) == OK) {
		unsigned n = 0;
		w->call.zones = zones;
		for (unsigned i = 0; i < w->files.n; i++)
			if (w->files.file[i].state != FILE_APPLIED && !w->files.file[i].being_written)
				file[n++] = &w->files.file[i];
		apply_files(w, file, n);
		files_forget_dropped(&w->files);
	} else if (any) {
		w->retry_soon = true;
	}
	zoneinfo_close(zones);
	arena_free(&arena);
	bool late = clock_boot().us - w->started.us > WATCH_FIRST_MS * INT64_C(1000);
	if (!w->first_applied && ((readable && !w->retry_soon) || late)) {
		w->first_applied = daemon_call(w->daemon, set_documents_applied, w->daemon) == OK;
		if (w->first_applied)
			close_old_problems(w);
	}
}

/* --- the thread --- */

/* Discards the events: each round scans the whole directory. True: there were events. */
static bool drain_events(struct watch *w)
{
	char bytes[4096];
	bool any = false;
	while (read(w->files.inotify, bytes, sizeof bytes) > 0)
		any = true;
	return any;
}

static void *run_thread(void *arg)
{
	struct watch *w = arg;
	struct pollfd fd[] = { { w->files.inotify, POLLIN, 0 }, { w->stop, POLLIN, 0 } };
	while (!atomic_load(&w->stopping)) {
		/* Wait for a moment without changes: often several files are written together. */
		for (unsigned i = 0; i < WATCH_QUIET_MAX && drain_events(w); i++)
			poll(&fd[1], 1, WATCH_QUIET_MS);
		if (atomic_load(&w->stopping))
			break;
		run_round(w);
		/* Adds the watch again, in case the directory was removed and created again. An existing
		 * watch stays as it is. */
		int watch = inotify_add_watch(w->files.inotify, w->dir, DIRECTORY_CHANGES);
		bool again = watch < 0 || w->retry_soon || w->files.unwatched_link || w->unreadable ||
			     !w->first_applied;
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
	w->files.inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	w->stop = eventfd(0, EFD_CLOEXEC);
	w->started = clock_boot();
	enum err e = OK;
	if (!w->dir || stat(w->dir, &st) < 0 || !S_ISDIR(st.st_mode))
		e = why_set(why, E_INPUT, WHY_NOWHERE, "%.200s is not a directory", dir);
	else if (w->files.inotify < 0 || w->stop < 0 ||
		 inotify_add_watch(w->files.inotify, w->dir, DIRECTORY_CHANGES) < 0)
		e = why_set(why, E_IO, WHY_NOWHERE, "cannot watch %.200s: %s", dir, strerror(errno));
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!e && pthread_create(&w->thread, NULL, run_thread, w))
		e = why_set(why, E_IO, WHY_NOWHERE, "cannot start a thread");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!e) {
		*ret = w;
		return OK;
	}
	w->stopping = true;
	close(w->files.inotify);
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
	close(w->files.inotify);
	close(w->stop);
	files_free(&w->files);
	free(w->dir);
	free(w);
}
