/* The prepare worker's thread: its queue, what it does for each kind of task, and the tasks that it
 * postpones. */
#include "daemon/prepare/worker.h"

#include "base/json.h"
#include "daemon/agent_resolve.h"
#include "daemon/prepare/preconditions.h"
#include "daemon/prepare/provenance.h"
#include "daemon/prepare/relevant_notes.h"
#include "store/sqlite/read/reader.h"
#include "store/sqlite/store.h"
#include "sys/clock.h"
#include "sys/mailbox.h"
#include "sys/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Room in the queue that questions and calls must leave free for attempts and compilations, which would fail
 * if they found no room. At most this many attempts, checks and compilations, and a few changes of zone
 * files, wait at the same time. */
enum { ROOM_KEPT = LAUNCHES_MAX + RUNNER_CHECKS_MAX + DAEMON_COMPILE_MAX + 16 };
enum { QUESTIONS_MAX = PREPARE_TASKS_MAX - ROOM_KEPT };
static_assert(QUESTIONS_MAX > 0, "there is room for questions and calls");

struct prepare_worker {
	struct prepare_options options;
	struct mailbox *mail;
	struct reader *reader;
	struct zoneinfo *zones;
	pthread_t thread;
	bool started;
	atomic_bool stop;
	atomic_uint questions; /* the number of PREPARE_ANSWER tasks that are not finished */
	/* Used by the worker's thread alone. */
	struct prepare_task *postponed;
	struct boot retry_at; /* when the postponed tasks are tried again */
	struct notes_pace pace;
	/* Protected by the lock. */
	pthread_mutex_t lock;
	bool failing;
	struct why why; /* why the last attempt was postponed */
};

void prepare_task_free(struct prepare_task *t)
{
	if (!t)
		return;
	arena_free(&t->arena);
	free(t);
}

/* --- on the worker's thread --- */

/* Whether the same task may succeed later, because the machine failed. E_BUSY means that a reader gave up;
 * E_LIMIT is about the content of a document, which stays too large. */
static bool is_transient(enum err e)
{
	return e && e != E_INPUT && e != E_VALUE && e != E_NOTFOUND && e != E_LIMIT;
}

/* The document was valid when it was stored. Its agent is looked up now, so a later definition of the agent
 * is used. */
static enum err read_document(struct prepare_worker *w, struct str text, struct arena *a,
			      struct schedule_doc *ret, struct why *why)
{
	struct val value, documents;
	struct doc_list list;
	enum err e = json_read(text, a, &value, why);
	if (e)
		return e;
	documents = (struct val){ .kind = VAL_LIST, .list = { &value, 1 } };
	struct doc_env env = w->options.defaults;
	env.when.zones = zoneinfo_source(w->zones);
	errno = 0;
	env.when.zone = env.when.zones->find(env.when.zones->self, env.when.zone_name);
	env.when.now = clock_wall();
	e = doc_read(text, &documents, &env, a, &list, why);
	if (e == E_INPUT && is_machine_error(errno))
		return E_IO;
	if (e)
		return e;
	if (list.n != 1)
		return why_set(why, E_INPUT, WHY_NOWHERE, "the document holds %u schedules", list.n);
	*ret = list.doc[0];
	return agent_resolve(w->reader, &env, a, ret, why);
}

struct loaded_run {
	struct schedule_doc doc; /* the version of the document under which the run was claimed */
	struct run_row run;
	struct context_source source;
};

static enum err load_run(struct prepare_worker *w, struct prepare_task *t, struct loaded_run *ret)
{
	struct str text;
	enum err e = read_document_of(w->reader, t->req.sid, t->req.rev, &t->arena, &text, &t->why);
	if (!e)
		e = read_document(w, text, &t->arena, &ret->doc, &t->why);
	if (!e)
		e = read_run(w->reader, t->req.run, &ret->run, &t->why);
	ret->source = (struct context_source){ .reader = w->reader,
					       .zones = zoneinfo_source(w->zones),
					       .pace = &w->pace,
					       .doc = &ret->doc,
					       .run = &ret->run,
					       .attempt = (uint16_t)(t->req.attempt & ~RUN_CHECK),
					       .runs = w->options.place.runs };
	return e;
}

static enum err render_task(struct prepare_worker *w, struct prepare_task *t)
{
	const struct prepare_options *o = &w->options;
	struct loaded_run l;
	enum err e = load_run(w, t, &l);
	if (e)
		return e;
	if (t->req.attempt & RUN_CHECK)
		return render_check(&l.source, &o->place, o->defaults.timeout[DOC_WEBHOOK], &t->arena,
				    &t->launch, &t->why);
	e = render_launch(&l.source, &o->place, &t->arena, &t->launch, &t->why);
	return e ? e : provenance_write(&l.doc, &t->launch, &t->arena, &t->provenance);
}

static void set_trouble(struct prepare_worker *w, const struct why *why)
{
	pthread_mutex_lock(&w->lock);
	w->failing = why != NULL;
	if (why)
		w->why = *why;
	pthread_mutex_unlock(&w->lock);
}

/* The claim of an attempt is durable, so it is tried until it can be prepared. */
static void postpone(struct prepare_worker *w, struct prepare_task *t)
{
	struct why why;
	if (t->kind == PREPARE_LAUNCH) {
		why_write(&why, WHY_NOWHERE, "run %llu cannot be prepared: %s",
			  (unsigned long long)t->req.run,
			  t->why.text[0] ? t->why.text : "Cannot allocate memory");
		set_trouble(w, &why);
	}
	if (!w->postponed)
		w->retry_at.us = clock_boot().us + PREPARE_RETRY_MS * 1000;
	t->next = w->postponed;
	w->postponed = t;
}

static enum err do_launch(struct prepare_worker *w, struct prepare_task *t)
{
	t->provenance = (struct str){ 0 };
	enum err e = render_task(w, t);
	if (e && !is_transient(e)) {
		t->outcome = OUTCOME_FAILED;
		t->reason = e == E_VALUE ? REASON_TEMPLATE : REASON_DEFINITION;
	}
	return e;
}

static enum err do_answer(struct prepare_worker *w, struct prepare_task *t)
{
	struct precondition_answer found = { .reason = REASON_DEFINITION };
	struct loaded_run l;
	enum err e = load_run(w, t, &l);
	if (!e)
		e = precondition_answer(&l.source, (enum rn_ask)t->req.ask, &t->arena, &found, &t->why);
	t->answer = (struct rn_report){ .kind = RN_ANSWER,
					.ask = t->req.ask,
					.attempt = t->req.attempt,
					.number = t->req.number,
					.run = t->req.run,
					.yes = found.yes,
					.reason = found.reason };
	t->detail = found.detail;
	return e;
}

static enum err do_rules(struct prepare_worker *w, struct prepare_task *t)
{
	struct doc_names names = intern_for_documents(w->options.intern);
	struct read_sched s;
	struct schedule_doc doc;
	enum err e = read_sched(w->reader, t->req.sid, &t->arena, &s, &t->why);
	if (!e)
		e = read_document(w, s.document, &t->arena, &doc, &t->why);
	if (!e)
		e = doc_rules(&doc, &names, &t->rules);
	t->error = e;
	return e;
}

/* Prepares a task and hands it over, or postpones it. */
static void prepare(struct prepare_worker *w, struct prepare_task *t)
{
	static enum err (*const functions[])(struct prepare_worker *, struct prepare_task *) = {
		[PREPARE_LAUNCH] = do_launch, [PREPARE_ANSWER] = do_answer, [PREPARE_RULES] = do_rules
	};
	arena_free(&t->arena);
	t->arena = (struct arena){ 0 };
	t->why.text[0] = '\0';
	if (is_transient(functions[t->kind](w, t))) {
		postpone(w, t);
		return;
	}
	if (t->kind == PREPARE_ANSWER)
		atomic_fetch_sub(&w->questions, 1);
	w->options.finished(w->options.ctx, t);
}

static void reread_zones(struct prepare_worker *w)
{
	struct zoneinfo *fresh = NULL;
	if (intern_reread(w->options.intern) || zoneinfo_open(&fresh))
		return; /* the zone files that were read before stay in use */
	zoneinfo_close(w->zones);
	w->zones = fresh;
	w->options.zones_read(w->options.ctx);
}

/* Called from the worker's mailbox. */
static void do_task(void *arg)
{
	struct prepare_task *t = arg;
	struct prepare_worker *w = t->worker;
	if (t->postponed) {
		t->postponed = false;
		postpone(w, t);
		return;
	}
	if (t->kind != PREPARE_CALL && t->kind != PREPARE_ZONES) {
		prepare(w, t);
		return;
	}
	if (t->kind == PREPARE_CALL)
		t->fn(w->reader, t->arg);
	else
		reread_zones(w);
	prepare_task_free(t);
}

/* Called after every batch of mail, because a busy worker is never idle. */
static void retry_postponed(struct prepare_worker *w)
{
	struct prepare_task *all = w->postponed;
	if (!all || clock_boot().us < w->retry_at.us)
		return;
	w->postponed = NULL;
	while (all) {
		struct prepare_task *t = all;
		all = t->next;
		prepare(w, t);
	}
	bool attempts_wait = false;
	for (const struct prepare_task *t = w->postponed; t; t = t->next)
		attempts_wait |= t->kind == PREPARE_LAUNCH;
	if (!attempts_wait)
		set_trouble(w, NULL);
}

static void *worker_main(void *arg)
{
	struct prepare_worker *w = arg;
	struct pollfd bell = { mailbox_fd(w->mail), POLLIN, 0 };
	while (!atomic_load(&w->stop)) {
		if (poll(&bell, 1, w->postponed ? PREPARE_RETRY_MS : -1) > 0)
			mailbox_run(w->mail);
		retry_postponed(w);
	}
	return NULL;
}

/* --- open and close --- */

enum err prepare_open(const struct prepare_options *o, struct prepare_worker **ret, struct why *why)
{
	struct prepare_worker *w = calloc(1, sizeof *w);
	if (!w)
		return E_NOMEM;
	w->options = *o;
	pthread_mutex_init(&w->lock, NULL);
	enum err e = mailbox_new(PREPARE_TASKS_MAX, &w->mail);
	if (!e)
		e = store_sqlite_reader(o->store, &w->reader, why);
	if (!e)
		reader_be_patient(w->reader);
	if (!e)
		e = zoneinfo_open(&w->zones);
	if (!e)
		e = thread_start(&w->thread, worker_main, w);
	w->started = !e;
	if (e)
		prepare_close(w);
	else
		*ret = w;
	return e;
}

static void drop_mail(struct prepare_worker *w)
{
	mail_fn *fn;
	void *arg;
	while (w->mail && mailbox_pop(w->mail, &fn, &arg)) {
		struct prepare_task *t = arg;
		if (t->kind == PREPARE_CALL)
			t->fn(NULL, t->arg);
		prepare_task_free(t);
	}
}

void prepare_close(struct prepare_worker *w)
{
	if (!w)
		return;
	atomic_store(&w->stop, true);
	if (w->started) {
		mailbox_close(w->mail); /* wakes the thread */
		pthread_join(w->thread, NULL);
	}
	drop_mail(w);
	while (w->postponed) {
		struct prepare_task *t = w->postponed;
		w->postponed = t->next;
		prepare_task_free(t);
	}
	reader_close(w->reader);
	zoneinfo_close(w->zones);
	mailbox_free(w->mail);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

/* --- from any thread --- */

static enum err add_task(struct prepare_worker *w, const struct prepare_task *what, unsigned room)
{
	struct prepare_task *t = malloc(sizeof *t);
	if (!t)
		return E_NOMEM;
	*t = *what;
	t->worker = w;
	enum err e = mailbox_put_reserving(w->mail, room, do_task, t);
	if (e)
		free(t);
	return e == E_LIMIT ? E_BUSY : e;
}

enum err prepare_launch(struct prepare_worker *w, const struct rn_req *r)
{
	return add_task(w, &(struct prepare_task){ .kind = PREPARE_LAUNCH, .req = *r }, 0);
}

enum err prepare_answer(struct prepare_worker *w, const struct rn_req *r)
{
	/* The engine may ask any number of questions, and postponed questions are not in the mailbox: so the
	 * mailbox alone does not limit their number. */
	if (atomic_fetch_add(&w->questions, 1) >= QUESTIONS_MAX) {
		atomic_fetch_sub(&w->questions, 1);
		return E_BUSY;
	}
	enum err e = add_task(w, &(struct prepare_task){ .kind = PREPARE_ANSWER, .req = *r }, ROOM_KEPT);
	if (e)
		atomic_fetch_sub(&w->questions, 1);
	return e;
}

enum err prepare_rules(struct prepare_worker *w, uint64_t sid)
{
	return add_task(w, &(struct prepare_task){ .kind = PREPARE_RULES, .req = { .sid = sid } }, 0);
}

enum err prepare_retry(struct prepare_worker *w, struct prepare_task *t)
{
	t->worker = w;
	t->postponed = true;
	return mailbox_put(w->mail, do_task, t) ? E_BUSY : OK;
}

enum err prepare_call(struct prepare_worker *w, void (*fn)(struct reader *reader, void *arg), void *arg)
{
	return add_task(w, &(struct prepare_task){ .kind = PREPARE_CALL, .fn = fn, .arg = arg }, ROOM_KEPT);
}

enum err prepare_zones_changed(struct prepare_worker *w)
{
	return add_task(w, &(struct prepare_task){ .kind = PREPARE_ZONES }, 0);
}

enum err prepare_trouble(struct prepare_worker *w, struct why *why)
{
	pthread_mutex_lock(&w->lock);
	bool failing = w->failing;
	if (failing && why)
		*why = w->why;
	pthread_mutex_unlock(&w->lock);
	return failing ? E_IO : OK;
}
