#include "daemon/prepare/worker.h"

#include "base/json.h"
#include "core/when/iso.h"
#include "daemon/agent_resolve.h"
#include "daemon/prepare/preconditions.h"
#include "daemon/prepare/provenance.h"
#include "daemon/prepare/relevant_notes.h"
#include "store/sqlite/read/reader.h"
#include "store/sqlite/store.h"
#include "sys/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* For what is under way at most, and changes of zones. */
enum { DESK_ROOM = LAUNCHES_MAX + RUNNER_CHECKS_MAX + DAEMON_COMPILE_MAX + 16 };
static_assert(DESK_ROOM < DESK_JOBS_MAX, "there is room for other calls, too");

struct prepare_worker {
	struct prepare_options options;
	struct mailbox *mail;
	struct reader *reader;
	struct zoneinfo *zones;
	pthread_t thread;
	bool started;
	atomic_bool stop;
	/* The desk's thread's. */
	struct prepare_task *late; /* could not be done, for reasons of the machine's … */
	struct boot late_next;     /* … and are not tried again before */
	struct notes_pace pace;
	pthread_mutex_t lock; /* of what follows */
	bool failing;
	struct why why; /* of the last that could not be done */
};

struct errand {
	struct prepare_worker *desk;
	struct prepare_task *job; /* an attempt, … */
	uint64_t sid;             /* … a schedule to be compiled anew, or … */
	prepare_fn *fn;           /* … something else, or … */
	void *arg;
	struct rn_req ask; /* … a guard's question */
};

void prepare_task_free(struct prepare_task *j)
{
	if (!j)
		return;
	arena_free(&j->arena);
	free(j);
}

/* --- on the desk's thread --- */

/* It fails now, and may not later: neither what is asked for nor what it is asked of is wrong. A reader that
 * gave up says E_BUSY; E_LIMIT is of what stands in documents, which is no smaller the next time. */
static bool is_machines(enum err e)
{
	return e && e != E_INPUT && e != E_VALUE && e != E_NOTFOUND && e != E_LIMIT;
}

/* It was understood when it was taken; its zone's file may not be read for want of a descriptor. Who takes
 * its turns is settled by the agents as they are now. */
static enum err understand(struct prepare_worker *d, struct str text, struct arena *a,
			   struct schedule_doc *ret, struct why *why)
{
	struct val value, documents;
	struct doc_list list;
	enum err e = json_read(text, a, &value, why);
	if (e)
		return e;
	documents = (struct val){ .kind = VAL_LIST, .list = { &value, 1 } };
	struct doc_env env = d->options.defaults;
	env.when.zones = zoneinfo_source(d->zones);
	errno = 0;
	env.when.zone = env.when.zones->find(env.when.zones->self, env.when.zone_name);
	env.when.now = clock_wall();
	e = doc_read(text, &documents, &env, a, &list, why);
	if (e == E_INPUT && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO))
		return E_IO;
	if (e)
		return e;
	if (list.n != 1)
		return why_set(why, E_INPUT, WHY_NOWHERE, "the document holds %u schedules", list.n);
	*ret = list.doc[0];
	return agent_resolve(d->reader, &env, a, ret, why);
}

static enum err prepare(struct prepare_worker *d, struct prepare_task *j)
{
	struct schedule_doc doc;
	struct run_row run;
	struct str text;
	enum err e = read_document_of(d->reader, j->req.sid, j->req.rev, &j->arena, &text, &j->why);
	if (!e)
		e = read_run(d->reader, j->req.run, &run, &j->why);
	if (!e)
		e = understand(d, text, &j->arena, &doc, &j->why);
	if (e)
		return e;
	struct context_source about = { .reader = d->reader,
					.zones = zoneinfo_source(d->zones),
					.pace = &d->pace,
					.doc = &doc,
					.run = &run,
					.attempt = (uint16_t)(j->req.attempt & ~RUN_CHECK),
					.runs = d->options.place.runs };
	if (j->req.attempt & RUN_CHECK)
		return render_check(&about, &d->options.place, d->options.defaults.timeout[DOC_WEBHOOK],
				    &j->arena, &j->launch, &j->why);
	e = render_launch(&about, &d->options.place, &j->arena, &j->launch, &j->why);
	return e ? e : provenance_of(&doc, &j->launch, &j->arena, &j->origin);
}

static bool try_again(const struct prepare_worker *d, enum err e, unsigned times)
{
	if (!is_machines(e) || times >= DESK_TRIES_MAX || atomic_load(&d->stop))
		return false;
	poll(NULL, 0, DESK_PAUSE_MS);
	return true;
}

static void note(struct prepare_worker *d, const struct why *why)
{
	pthread_mutex_lock(&d->lock);
	d->failing = why != NULL;
	if (why)
		d->why = *why;
	pthread_mutex_unlock(&d->lock);
}

/* The claim stands: it is tried again until it can be done, and others are not kept waiting for it. */
static void put_off(struct prepare_worker *d, struct prepare_task *j)
{
	struct why why;
	why_write(&why, WHY_NOWHERE, "run %llu cannot be prepared: %s", (unsigned long long)j->req.run,
		  j->why.text[0] ? j->why.text : "Cannot allocate memory");
	note(d, &why);
	if (!d->late)
		d->late_next.us = clock_boot().us + DESK_PAUSE_MS * 1000;
	j->next = d->late;
	d->late = j;
}

static void try_job(struct prepare_worker *d, struct prepare_task *j)
{
	arena_free(&j->arena);
	j->arena = (struct arena){ 0 };
	j->origin = (struct str){ 0 };
	j->why.text[0] = '\0';
	enum err e = prepare(d, j);
	if (is_machines(e)) {
		put_off(d, j);
		return;
	}
	if (e) {
		j->outcome = OUTCOME_FAILED;
		j->reason = e == E_VALUE ? REASON_TEMPLATE : REASON_DEFINITION;
	}
	d->options.done(d->options.ctx, j);
}

static void do_job(void *arg)
{
	struct errand *errand = arg;
	struct prepare_worker *d = errand->desk;
	struct prepare_task *j = errand->job;
	free(errand);
	try_job(d, j);
}

static void do_again(void *arg)
{
	struct errand *errand = arg;
	put_off(errand->desk, errand->job);
	free(errand);
}

/* Whatever else there is to do: a desk that is never idle would never come to them. */
static void try_late_ones(struct prepare_worker *d)
{
	struct prepare_task *all = d->late;
	if (!all || clock_boot().us < d->late_next.us)
		return;
	d->late = NULL;
	while (all) {
		struct prepare_task *j = all;
		all = j->next;
		try_job(d, j);
	}
	if (!d->late)
		note(d, NULL);
}

static enum err find_answer(struct prepare_worker *d, const struct rn_req *r, struct arena *a,
			    struct precondition_answer *ret)
{
	struct schedule_doc doc;
	struct run_row run;
	struct str text;
	struct why why;
	struct context_source about = { .reader = d->reader,
					.zones = zoneinfo_source(d->zones),
					.pace = &d->pace,
					.doc = &doc,
					.run = &run,
					.attempt = r->attempt,
					.runs = d->options.place.runs };
	enum err e = read_document_of(d->reader, r->sid, r->rev, a, &text, &why);
	if (!e)
		e = understand(d, text, a, &doc, &why);
	if (!e)
		e = read_run(d->reader, r->run, &run, &why);
	return e ? e : precondition_ask(&about, (enum rn_ask)r->ask, a, ret, &why);
}

static void do_ask(void *arg)
{
	struct errand *errand = arg;
	struct prepare_worker *d = errand->desk;
	struct precondition_answer answer = { .reason = REASON_DEFINITION };
	struct arena arena = { 0 };
	enum err e = find_answer(d, &errand->ask, &arena, &answer);
	for (unsigned n = 0; try_again(d, e, n); n++) {
		arena_reset(&arena);
		e = find_answer(d, &errand->ask, &arena, &answer);
	}
	/* A machine that fails is no answer: again, after others. */
	if (is_machines(e) && !atomic_load(&d->stop) && mailbox_put(d->mail, do_ask, errand) == OK) {
		arena_free(&arena);
		return;
	}
	struct rn_report says = { .kind = RN_ANSWER,
				  .ask = errand->ask.ask,
				  .attempt = errand->ask.attempt,
				  .number = errand->ask.number,
				  .run = errand->ask.run,
				  .yes = answer.yes,
				  .reason = answer.reason };
	free(errand);
	d->options.answered(d->options.ctx, &says, answer.words);
	arena_free(&arena);
}

static enum err compile(struct prepare_worker *d, uint64_t sid, struct rules *ret)
{
	struct arena arena = { 0 };
	struct read_sched s;
	struct schedule_doc doc;
	struct why why;
	struct doc_names names = intern_for_documents(d->options.names);
	enum err e = read_sched(d->reader, sid, &arena, &s, &why);
	if (!e)
		e = understand(d, s.document, &arena, &doc, &why);
	if (!e)
		e = doc_rules(&doc, &names, ret);
	arena_free(&arena);
	return e;
}

static void do_compile(void *arg)
{
	struct errand *errand = arg;
	struct prepare_worker *d = errand->desk;
	uint64_t sid = errand->sid;
	struct rules rules;
	enum err e = compile(d, sid, &rules);
	for (unsigned n = 0; try_again(d, e, n); n++)
		e = compile(d, sid, &rules);
	/* As above: who is told that it failed waits until something changes, which may be never. */
	if (is_machines(e) && !atomic_load(&d->stop) && mailbox_put(d->mail, do_compile, errand) == OK)
		return;
	free(errand);
	d->options.compiled(d->options.ctx, sid, e, &rules);
}

static void reread_zones(void *arg)
{
	struct prepare_worker *d = arg;
	struct zoneinfo *fresh = NULL;
	if (intern_reread(d->options.names) || zoneinfo_open(&fresh))
		return; /* the old ones are as good as before */
	zoneinfo_close(d->zones);
	d->zones = fresh;
	d->options.zones_read(d->options.ctx);
}

static void *work(void *arg)
{
	struct prepare_worker *d = arg;
	struct pollfd bell = { mailbox_fd(d->mail), POLLIN, 0 };
	while (!atomic_load(&d->stop)) {
		if (poll(&bell, 1, d->late ? DESK_PAUSE_MS : -1) > 0)
			mailbox_run(d->mail);
		try_late_ones(d);
	}
	return NULL;
}

/* --- from outside --- */

enum err prepare_open(const struct prepare_options *o, struct prepare_worker **ret, struct why *why)
{
	struct prepare_worker *d = calloc(1, sizeof *d);
	if (!d)
		return E_NOMEM;
	d->options = *o;
	pthread_mutex_init(&d->lock, NULL);
	enum err e = mailbox_new(DESK_JOBS_MAX, &d->mail);
	if (!e)
		e = store_sqlite_reader(o->store, &d->reader, why);
	if (!e)
		reader_be_patient(d->reader);
	if (!e)
		e = zoneinfo_open(&d->zones);
	if (!e && pthread_create(&d->thread, NULL, work, d))
		e = why_set(why, E_IO, WHY_NOWHERE, "a thread cannot be started");
	d->started = !e;
	if (e)
		prepare_close(d);
	else
		*ret = d;
	return e;
}

static void nothing(void *arg)
{
	(void)arg;
}

static void do_call(void *arg)
{
	struct errand errand = *(struct errand *)arg;
	free(arg);
	errand.fn(errand.desk->reader, errand.arg);
}

/* What came too late for the thread. */
static void drop_mail(struct prepare_worker *d)
{
	mail_fn *fn;
	void *arg;
	while (d->mail && mailbox_pop(d->mail, &fn, &arg)) {
		struct errand *errand = arg;
		if (fn == nothing || fn == reread_zones)
			continue;
		if (fn == do_call)
			errand->fn(NULL, errand->arg);
		prepare_task_free(errand->job);
		free(errand);
	}
}

void prepare_close(struct prepare_worker *d)
{
	if (!d)
		return;
	atomic_store(&d->stop, true);
	if (d->started) {
		while (mailbox_put(d->mail, nothing, NULL) == E_LIMIT)
			poll(NULL, 0, 1);
		pthread_join(d->thread, NULL);
	}
	drop_mail(d);
	while (d->late) {
		struct prepare_task *j = d->late;
		d->late = j->next;
		prepare_task_free(j);
	}
	reader_close(d->reader);
	zoneinfo_close(d->zones);
	mailbox_free(d->mail);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

enum err prepare_put(struct prepare_worker *d, const struct rn_req *r)
{
	struct prepare_task *j = calloc(1, sizeof *j);
	struct errand *errand = calloc(1, sizeof *errand);
	enum err e = j && errand ? OK : E_NOMEM;
	if (!e) {
		j->req = *r;
		*errand = (struct errand){ .desk = d, .job = j };
		e = mailbox_put(d->mail, do_job, errand);
	}
	if (e) {
		free(j);
		free(errand);
	}
	return e == E_LIMIT ? E_BUSY : e;
}

enum err prepare_ask(struct prepare_worker *d, const struct rn_req *r)
{
	struct errand *errand = calloc(1, sizeof *errand);
	if (!errand)
		return E_NOMEM;
	*errand = (struct errand){ .desk = d, .ask = *r };
	/* There may be any number of questions: they leave room for attempts. */
	enum err e = mailbox_put_reserving(d->mail, DESK_ROOM, do_ask, errand);
	if (e)
		free(errand);
	return e == E_LIMIT ? E_BUSY : e;
}

enum err prepare_again(struct prepare_worker *d, struct prepare_task *j)
{
	struct errand *errand = calloc(1, sizeof *errand);
	if (!errand)
		return E_NOMEM;
	*errand = (struct errand){ .desk = d, .job = j };
	enum err e = mailbox_put(d->mail, do_again, errand);
	if (e)
		free(errand);
	return e == E_LIMIT ? E_BUSY : e;
}

enum err prepare_trouble(struct prepare_worker *d, struct why *why)
{
	pthread_mutex_lock(&d->lock);
	bool failing = d->failing;
	if (failing && why)
		*why = d->why;
	pthread_mutex_unlock(&d->lock);
	return failing ? E_IO : OK;
}

enum err prepare_call(struct prepare_worker *d, prepare_fn *fn, void *arg)
{
	struct errand *errand = calloc(1, sizeof *errand);
	if (!errand)
		return E_NOMEM;
	*errand = (struct errand){ .desk = d, .fn = fn, .arg = arg };
	/* Attempts and compilations are never turned away for it: they would be taken for failures. */
	enum err e = mailbox_put_reserving(d->mail, DESK_ROOM, do_call, errand);
	if (e)
		free(errand);
	return e == E_LIMIT ? E_BUSY : e;
}

enum err prepare_compile(struct prepare_worker *d, uint64_t sid)
{
	struct errand *errand = calloc(1, sizeof *errand);
	if (!errand)
		return E_NOMEM;
	*errand = (struct errand){ .desk = d, .sid = sid };
	enum err e = mailbox_put(d->mail, do_compile, errand);
	if (e)
		free(errand);
	return e == E_LIMIT ? E_BUSY : e;
}

enum err prepare_zones_changed(struct prepare_worker *d)
{
	enum err e = mailbox_put(d->mail, reread_zones, d);
	return e == E_LIMIT ? E_BUSY : e;
}
