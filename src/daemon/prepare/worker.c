/* The prepare worker: a pool of threads, what they do for each kind of task, and the tasks that they
 * postpone. */
#include "daemon/prepare/worker.h"

#include "base/json.h"
#include "daemon/agent_resolve.h"
#include "daemon/prepare/hook_answer.h"
#include "daemon/prepare/preconditions.h"
#include "daemon/prepare/provenance.h"
#include "daemon/prepare/relevant_notes.h"
#include "port/read.h"
#include "sys/clock.h"
#include "sys/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Room in the queue that questions and calls must leave free for attempts and compilations, which would fail
 * if they found no room. At most this many attempts, checks, hooks and compilations, and a few changes of
 * zone files, wait at the same time. */
enum { ROOM_KEPT = LAUNCHES_MAX + RUNNER_CHECKS_MAX + RUNNER_HOOKS_MAX + DAEMON_COMPILE_MAX + 16 };
enum { QUESTIONS_MAX = PREPARE_TASKS_MAX - ROOM_KEPT };
static_assert(QUESTIONS_MAX > 0, "there is room for questions and calls");

/* The keys of tasks that are about no single attempt; other tasks have the number of their schedule. Calls
 * are made in order; compilations, of which there may be very many, occupy one thread. */
enum { KEY_CALLS = 0 };
#define KEY_COMPILE UINT64_MAX
/* The key of a hook that has ended, whose schedule is not known yet, has this bit and the number of its run.
 */
#define KEY_HOOK (UINT64_C(1) << 63)

/* The state of one thread. */
struct prepare_thread {
	struct prepare_worker *worker;
	struct reader *reader;
	struct zoneinfo *zones;
	unsigned generation; /* of the zone files */
	struct notes_pace pace;
};

struct prepare_worker {
	struct prepare_options options;
	struct pool *pool;
	struct prepare_thread thread[PREPARE_THREADS];
	atomic_uint questions;  /* PREPARE_ANSWER, not finished */
	atomic_uint generation; /* counts how often the zone files have changed */
	/* Protected by the lock. */
	pthread_mutex_t lock;
	unsigned troubled; /* attempts that were postponed and are not finished */
	struct why why;    /* of the last attempt that was postponed */
};

void prepare_task_free(struct prepare_task *t)
{
	if (!t)
		return;
	arena_free(&t->arena);
	free((char *)(uintptr_t)t->input.p);
	free(t);
}

/* --- on one of the threads --- */

/* Whether the same task may succeed later, because the machine failed. E_BUSY means that a reader gave up;
 * E_LIMIT is about the content of a document, which stays too large. */
static bool is_transient(enum err e)
{
	return e && e != E_INPUT && e != E_VALUE && e != E_NOTFOUND && e != E_LIMIT;
}

/* The document was valid when it was stored. Its agent is looked up now, so a later definition of the agent
 * is used. */
static enum err read_document(struct prepare_thread *w, struct str text, const struct read_attempt *known,
			      struct arena *a, struct schedule_doc *ret, struct why *why)
{
	struct val value, documents;
	struct doc_list list;
	enum err e = json_read(text, a, &value, why);
	if (e)
		return e;
	documents = (struct val){ .kind = VAL_LIST, .list = { &value, 1 } };
	struct doc_env env = w->worker->options.defaults;
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
		return why_set(why, E_INPUT, WHY_NOWHERE, "the document has %u schedules instead of one",
			       list.n);
	*ret = list.doc[0];
	return agent_resolve_known(w->reader, known, &env, a, ret, why);
}

struct loaded_run {
	struct read_attempt read;
	struct schedule_doc doc; /* the version of the document under which the run was claimed */
	struct context_source source;
};

/* The attempt to which a program belongs; hooks come before the first. */
static uint16_t attempt_of(unsigned number)
{
	return run_is_hook(number) ? 1 : (uint16_t)(number & ~(unsigned)RUN_CHECK);
}

static enum err load_run(struct prepare_thread *w, struct prepare_task *t, struct loaded_run *ret)
{
	struct attempt_request q = { .run = t->req.run,
				     .sid = t->req.sid,
				     .rev = t->req.rev,
				     .agent = intern_agent_name(w->worker->options.intern, t->req.agent),
				     .notes = t->kind == PREPARE_LAUNCH ? RELEVANT_NOTES_NEWEST : 0 };
	enum err e = read_attempt(w->reader, &q, &t->arena, &ret->read, &t->why);
	if (!e)
		e = read_document(w, ret->read.document, &ret->read, &t->arena, &ret->doc, &t->why);
	ret->source = (struct context_source){ .reader = w->reader,
					       .read = &ret->read,
					       .zones = zoneinfo_source(w->zones),
					       .pace = &w->pace,
					       .doc = &ret->doc,
					       .attempt = attempt_of(t->req.attempt),
					       .runs = w->worker->options.place.runs };
	return e;
}

static enum err render_task(struct prepare_thread *w, struct prepare_task *t)
{
	const struct prepare_options *o = &w->worker->options;
	int64_t seconds = o->defaults.timeout[DOC_WEBHOOK];
	struct loaded_run l;
	enum err e = load_run(w, t, &l);
	if (e)
		return e;
	if (run_is_hook(t->req.attempt))
		return render_hook(&l.source, &o->place, (enum run_hook)(t->req.attempt - RUN_HOOK), seconds,
				   t->input, &t->arena, &t->launch, &t->why);
	if (t->req.attempt & RUN_CHECK)
		return render_check(&l.source, &o->place, seconds, &t->arena, &t->launch, &t->why);
	e = render_launch(&l.source, &o->place, &t->arena, &t->launch, &t->why);
	return e ? e : provenance_write(&l.doc, &t->launch, &t->arena, &t->provenance);
}

/* Counts the attempts that are postponed; `why` NULL: this one is not postponed any more. */
static void note_trouble(struct prepare_worker *w, struct prepare_task *t, const struct why *why)
{
	pthread_mutex_lock(&w->lock);
	w->troubled += why && !t->troubled;
	w->troubled -= !why && t->troubled;
	t->troubled = why != NULL;
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
		note_trouble(w, t, &why);
	}
	t->pool.after.us = clock_boot().us + PREPARE_RETRY_MS * 1000;
	enum err e = pool_put(w->pool, &t->pool, 0);
	assert(!e); /* tasks with a time always fit */
}

static enum err do_launch(struct prepare_thread *w, struct prepare_task *t)
{
	t->provenance = (struct str){ 0 };
	enum err e = render_task(w, t);
	if (e && !is_transient(e)) {
		t->outcome = OUTCOME_FAILED;
		t->reason = e == E_VALUE ? REASON_TEMPLATE : REASON_DEFINITION;
	}
	return e;
}

static enum err do_answer(struct prepare_thread *w, struct prepare_task *t)
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

/* The document is that of the run, which says what to do if the hook has failed. */
static enum err find_hook(struct prepare_thread *w, struct prepare_task *t, enum run_hook hook,
			  const struct doc_hook **ret)
{
	struct loaded_run *l = arena_alloc(&t->arena, sizeof *l);
	struct run_row run;
	enum err e = l ? read_run(w->reader, t->req.run, &run, &t->why) : E_NOMEM;
	if (e)
		return e;
	t->req.sid = run.sid;
	t->req.rev = run.rev;
	e = hook == HOOK_OF_SCHEDULE ? load_run(w, t, l) : OK;
	if (!e)
		*ret = render_hook_of(&w->worker->options.place, &l->doc, hook);
	return e;
}

static enum err do_hook(struct prepare_thread *w, struct prepare_task *t)
{
	static const enum run_hook hooks[RN_ASKS] = { [ASK_CONFIG_HOOK] = HOOK_OF_CONFIG,
						      [ASK_HOOK] = HOOK_OF_SCHEDULE,
						      [ASK_CREATE_HOOK] = HOOK_OF_CREATE };
	const struct rn_report *p = &t->program;
	const struct doc_hook *hook;
	struct hook_answer found = { 0 };
	struct hook_end end = {
		.runs = w->worker->options.place.runs, .run = p->run, .hook = hooks[p->ask], .program = p
	};
	enum err e = find_hook(w, t, end.hook, &hook);
	end.on_error = e ? HOOK_CANCELS : hook->on_error;
	if (!is_transient(e))
		e = hook_answer(&end, &t->arena, &found, &t->why);
	if (e)
		return e;
	t->answer = *p;
	t->answer.yes = found.yes;
	t->answer.reason = REASON_HOOK;
	t->hook_failed = found.failed && p->reason != REASON_CANCELLED;
	t->hook_words = found.words;
	/* A command that could not be prepared has recorded its own detail. */
	if (found.yes || p->reason == REASON_DEFINITION || p->reason == REASON_TEMPLATE)
		return OK;
	const char *detail = arena_printf(&t->arena, "%s%s: %.*s", hook_name(end.hook),
					  found.failed ? " failed" : "", STR_ARG(found.words));
	t->detail = detail ? str_of(detail) : (struct str){ 0 };
	return detail ? OK : E_NOMEM;
}

static enum err do_rules(struct prepare_thread *w, struct prepare_task *t)
{
	struct doc_names names = intern_for_documents(w->worker->options.intern);
	struct read_sched s;
	struct schedule_doc doc;
	enum err e = read_sched(w->reader, t->req.sid, &t->arena, &s, &t->why);
	if (!e)
		e = read_document(w, s.document, NULL, &t->arena, &doc, &t->why);
	if (!e)
		e = doc_rules(&doc, &names, &t->rules);
	t->error = e;
	return e;
}

/* Opens the zone files again if they have changed since this thread opened them. */
static enum err renew_zones(struct prepare_thread *w)
{
	struct zoneinfo *fresh = NULL;
	unsigned generation = atomic_load(&w->worker->generation);
	if (w->zones && generation == w->generation)
		return OK;
	enum err e = zoneinfo_open(&fresh);
	if (e)
		return e;
	zoneinfo_close(w->zones);
	w->zones = fresh;
	w->generation = generation;
	return OK;
}

/* Prepares a task and hands it over, or postpones it. */
static void prepare(struct prepare_thread *w, struct prepare_task *t)
{
	static enum err (*const functions[])(struct prepare_thread *, struct prepare_task *) = {
		[PREPARE_LAUNCH] = do_launch,
		[PREPARE_ANSWER] = do_answer,
		[PREPARE_HOOK] = do_hook,
		[PREPARE_RULES] = do_rules,
	};
	arena_free(&t->arena);
	t->arena = (struct arena){ 0 };
	t->why.text[0] = '\0';
	if (renew_zones(w) || is_transient(functions[t->kind](w, t))) {
		postpone(w->worker, t);
		return;
	}
	note_trouble(w->worker, t, NULL);
	if (t->kind == PREPARE_ANSWER)
		atomic_fetch_sub(&w->worker->questions, 1);
	w->worker->options.finished(w->worker->options.ctx, t);
}

/* Each thread opens the zone files again before its next task. */
static void reread_zones(struct prepare_worker *w)
{
	if (intern_reread(w->options.intern))
		return; /* the old ones stay in use */
	atomic_fetch_add(&w->generation, 1);
	w->options.zones_read(w->options.ctx);
}

static struct prepare_task *task_of(struct pool_task *t)
{
	return (struct prepare_task *)(void *)((char *)t - offsetof(struct prepare_task, pool));
}

/* Called by the pool. */
static void carry_out(void *ctx, struct pool_task *task, unsigned thread)
{
	struct prepare_task *t = task_of(task);
	struct prepare_worker *w = ctx;
	if (t->kind != PREPARE_CALL && t->kind != PREPARE_ZONES) {
		prepare(&w->thread[thread], t);
		return;
	}
	if (t->kind == PREPARE_CALL)
		t->fn(w->thread[thread].reader, t->arg);
	else
		reread_zones(w);
	prepare_task_free(t);
}

/* --- open and close --- */

enum err prepare_open(const struct prepare_options *o, struct prepare_worker **ret, struct why *why)
{
	struct prepare_worker *w = calloc(1, sizeof *w);
	enum err e = OK;
	if (!w)
		return E_NOMEM;
	w->options = *o;
	pthread_mutex_init(&w->lock, NULL);
	for (unsigned i = 0; i < PREPARE_THREADS && !e; i++) {
		struct prepare_thread *t = &w->thread[i];
		t->worker = w;
		e = o->store->ops->reader(o->store, &t->reader, why);
		if (!e) {
			t->reader->patient = true;
			e = renew_zones(t);
		}
	}
	if (!e)
		e = pool_new(PREPARE_THREADS, PREPARE_TASKS_MAX, carry_out, w, &w->pool);
	if (e)
		prepare_close(w);
	else
		*ret = w;
	return e;
}

void prepare_close(struct prepare_worker *w)
{
	if (!w)
		return;
	for (struct pool_task *left = pool_close(w->pool), *next; left; left = next) {
		struct prepare_task *t = task_of(left);
		next = left->next;
		if (t->kind == PREPARE_CALL)
			t->fn(NULL, t->arg);
		prepare_task_free(t);
	}
	for (unsigned i = 0; i < PREPARE_THREADS; i++) {
		reader_close(w->thread[i].reader);
		zoneinfo_close(w->thread[i].zones);
	}
	pthread_mutex_destroy(&w->lock);
	free(w);
}

/* --- from any thread --- */

static enum err add_task(struct prepare_worker *w, const struct prepare_task *what, uint64_t key,
			 unsigned room)
{
	struct prepare_task *t = malloc(sizeof *t);
	if (!t)
		return E_NOMEM;
	*t = *what;
	t->pool.key = key;
	enum err e = pool_put(w->pool, &t->pool, room);
	if (e)
		free(t);
	return e == E_LIMIT ? E_BUSY : e;
}

enum err prepare_launch(struct prepare_worker *w, const struct rn_req *r)
{
	return prepare_create_hook(w, r, (struct str){ 0 });
}

enum err prepare_create_hook(struct prepare_worker *w, const struct rn_req *r, struct str input)
{
	return add_task(w, &(struct prepare_task){ .kind = PREPARE_LAUNCH, .req = *r, .input = input },
			r->sid, 0);
}

enum err prepare_hook(struct prepare_worker *w, const struct rn_report *program)
{
	struct prepare_task t = { .kind = PREPARE_HOOK,
				  .req = { .ask = program->ask, .run = program->run },
				  .program = *program };
	return add_task(w, &t, KEY_HOOK | program->run, ROOM_KEPT);
}

enum err prepare_answer(struct prepare_worker *w, const struct rn_req *r)
{
	/* The engine may have any number of questions; those that are postponed have no place in the queue.
	 */
	if (atomic_fetch_add(&w->questions, 1) >= QUESTIONS_MAX) {
		atomic_fetch_sub(&w->questions, 1);
		return E_BUSY;
	}
	enum err e =
		add_task(w, &(struct prepare_task){ .kind = PREPARE_ANSWER, .req = *r }, r->sid, ROOM_KEPT);
	if (e)
		atomic_fetch_sub(&w->questions, 1);
	return e;
}

enum err prepare_rules(struct prepare_worker *w, uint64_t sid)
{
	return add_task(w, &(struct prepare_task){ .kind = PREPARE_RULES, .req = { .sid = sid } },
			KEY_COMPILE, 0);
}

enum err prepare_retry(struct prepare_worker *w, struct prepare_task *t)
{
	t->pool = (struct pool_task){ .key = t->kind == PREPARE_RULES ? KEY_COMPILE : t->req.sid,
				      .after = { clock_boot().us + PREPARE_RETRY_MS * 1000 } };
	return pool_put(w->pool, &t->pool, 0) ? E_BUSY : OK;
}

enum err prepare_call(struct prepare_worker *w, void (*fn)(struct reader *reader, void *arg), void *arg)
{
	return add_task(w, &(struct prepare_task){ .kind = PREPARE_CALL, .fn = fn, .arg = arg }, KEY_CALLS,
			ROOM_KEPT);
}

enum err prepare_zones_changed(struct prepare_worker *w)
{
	return add_task(w, &(struct prepare_task){ .kind = PREPARE_ZONES }, KEY_COMPILE, 0);
}

enum err prepare_trouble(struct prepare_worker *w, struct why *why)
{
	pthread_mutex_lock(&w->lock);
	bool failing = w->troubled > 0;
	if (failing && why)
		*why = w->why;
	pthread_mutex_unlock(&w->lock);
	return failing ? E_IO : OK;
}
