#include "daemon/daemon.h"

#include "base/map.h"
#include "core/when/dur.h"
#include "daemon/desk.h"
#include "daemon/problems.h"
#include "daemon/restored.h"
#include "daemon/retain.h"
#include "host/clock.h"
#include "host/rundir.h"
#include "host/runfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A command on its way: from whoever gave it to the engine, and its answer back. */
struct pending {
	struct daemon *d;
	struct command command;
	reply_fn *done;
	void *ctx;
	char *id, *document, *source, *note; /* copies, until the store has answered */
	struct boot give_up;                 /* until then a busy schedule is asked again */
	struct pending *next;
};

/* A request of somebody's own to the store. */
struct sending {
	struct daemon *d;
	struct st_req req;
	sent_fn *done;
	void *ctx;
	struct arena texts;
	struct sending *next;
};

enum { LOG_STORE, LOG_RUNNER, LOG_CLOCK, LOG_STEP, LOGS };

struct daemon {
	struct daemon_options options;
	char *database, *runs;
	int lock;
	struct buf cgroup;
	struct names *names;
	struct store *store;
	struct runner *runner;
	struct desk *desk;
	atomic_bool closing;
	struct mailbox *mail;
	struct pump *pump;
	struct loop *loop;
	uint64_t last_tag;
	bool stopping;           /* as soon as nothing is pending */
	struct pending *pending; /* those the engine has; few at a time */
	struct pending *again;   /* those that were answered BUSY */
	struct sending *sent;
	struct problems *problems;
	struct retain *retain;
	char restored[WHY_TEXT_MAX]; /* what is to be said of it; empty: nothing */
	bool said_restored;          /* a problem of an earlier start is open */
	struct boot looked;
	struct boot fed;     /* when memory was last enough, … */
	atomic_bool starved; /* … and whether it is */
	int64_t skew;        /* wall - boot, at the last turn; 0: there was none */
	struct {
		struct boot at;
		bool fresh;              /* not yet told */
		char text[WHY_TEXT_MAX]; /* "": none of late */
	} step;                          /* the last time somebody set the clock */
	bool unwell;                     /* at the last look */
	bool said[LOGS];                 /* that it fails */
	struct {
		uint32_t at;        /* where to look on for the next outdated one */
		unsigned under_way; /* on the desk, or with the engine */
		bool again;         /* one was busy: look again when something was answered */
	} compile;
};

struct names *daemon_names(struct daemon *d)
{
	return d->names;
}

const char *daemon_database(const struct daemon *d)
{
	return d->database;
}

enum err daemon_reader(struct daemon *d, struct reader **ret, struct why *why)
{
	return store_sqlite_reader(d->store, ret, why);
}

const char *daemon_runs(const struct daemon *d)
{
	return d->runs;
}

void daemon_documents(struct daemon *d)
{
	loop_event(d->loop, &(struct event){ .kind = EV_DOCUMENTS });
}

const struct engine *daemon_engine(const struct daemon *d)
{
	return pump_engine(d->pump);
}

/* --- commands
 * ------------------------------------------------------------------------------------------------ */

static void pending_free(struct pending *p)
{
	free(p->id);
	free(p->document);
	free(p->source);
	free(p->note);
	free(p);
}

static void pending_free_all(struct pending *p)
{
	for (struct pending *next; p; p = next) {
		next = p->next;
		pending_free(p);
	}
}

static void stop_if_idle(struct daemon *d)
{
	if (d->stopping && !d->pending && !d->again)
		loop_stop(d->loop);
}

static void replied(void *ctx, const struct reply *r)
{
	struct daemon *d = ctx;
	for (struct pending **at = &d->pending; *at; at = &(*at)->next) {
		struct pending *p = *at;
		if (p->command.tag != r->tag)
			continue;
		*at = p->next;
		if (r->code == REPLY_BUSY && clock_boot().us < p->give_up.us) {
			p->next = d->again;
			d->again = p;
			return;
		}
		if (p->done)
			p->done(p->ctx, r);
		pending_free(p);
		stop_if_idle(d);
		return;
	}
}

/* The store has them and cannot write: nobody is kept waiting for that, but their texts are still needed. */
static void reply_to_all(struct daemon *d)
{
	for (struct pending *p = d->pending; p; p = p->next) {
		reply_fn *done = p->done;
		if (!done || p->command.kind == CMD_RECOMPILE)
			continue;
		p->done = NULL;
		done(p->ctx, &(struct reply){ .code = REPLY_BUSY });
	}
}

/* A name is written before the rules that hold its number: both go the same way, one after the other. There
 * are two ways for schedules, and whoever comes next may go by the other; what is there twice is there once.
 */
static void save_name(void *ctx, enum name_kind kind, uint32_t number, struct str text)
{
	struct daemon *d = ctx;
	static const uint8_t ways[] = { LANE_USER, LANE_BULK };
	for (unsigned i = 0; i < ARRAY_LEN(ways); i++) {
		struct st_req r = { .op = ST_NAME, .lane = ways[i], .name = { (uint8_t)kind, number, text } };
		/* Out of memory here is met again by the request it is for. */
		if (pump_send(d->pump, &r))
			return;
	}
}

static void order(struct daemon *d, struct pending *p)
{
	p->command.tag = ++d->last_tag;
	p->next = d->pending;
	d->pending = p;
	loop_event(d->loop, &(struct event){ .kind = EV_COMMAND, .command = &p->command });
}

static void take_order(void *arg)
{
	struct pending *p = arg;
	names_unsaved(p->d->names, save_name, p->d);
	order(p->d, p);
}

static void order_again(struct daemon *d)
{
	struct pending *all = d->again;
	d->again = NULL;
	while (all) {
		struct pending *p = all;
		all = p->next;
		order(d, p);
	}
}

/* What a person asks for, and must be durable before it is done. */
static bool needs_store(uint8_t kind)
{
	return kind != CMD_STOP && kind != CMD_CLOCK && kind != CMD_RECOMPILE;
}

/* How long a busy answer is not taken for an answer. */
static int64_t patience(uint8_t kind)
{
	switch (kind) {
	case CMD_PUT:
	case CMD_DROP:
	case CMD_PAUSE:
	case CMD_RESUME:
	case CMD_RECOMPILE:
		return ORDER_BUSY_MS;
	case CMD_RUN:
		return RUN_BUSY_MS;
	default:
		return 0;
	}
}

static char *copy(struct str s)
{
	char *p = malloc(s.n + 1);
	if (p) {
		memcpy(p, s.n ? s.p : "", s.n);
		p[s.n] = '\0';
	}
	return p;
}

enum err daemon_order(struct daemon *d, const struct command *c, reply_fn *done, void *ctx)
{
	if (needs_store(c->kind) && daemon_writes(d, NULL))
		return E_BUSY;
	struct pending *p = calloc(1, sizeof *p);
	if (!p)
		return E_NOMEM;
	*p = (struct pending){ .d = d, .command = *c, .done = done, .ctx = ctx };
	p->id = copy(c->id);
	p->document = copy(c->document);
	p->source = copy(c->source.from);
	p->note = copy(c->note);
	p->give_up.us = clock_boot().us + patience(c->kind) * 1000;
	p->command.id.p = p->id;
	p->command.document.p = p->document;
	if (c->source.from.p)
		p->command.source.from.p = p->source;
	if (c->note.p)
		p->command.note.p = p->note;
	bool copied = p->id && p->document && p->source && p->note;
	enum err e = copied ? mailbox_put(d->mail, take_order, p) : E_NOMEM;
	if (e)
		pending_free(p);
	return e == E_LIMIT ? E_BUSY : e;
}

enum err daemon_call(struct daemon *d, mail_fn *fn, void *arg)
{
	enum err e = mailbox_put(d->mail, fn, arg);
	return e == E_LIMIT ? E_BUSY : e;
}

static void stop_now(void *arg)
{
	struct daemon *d = arg;
	d->stopping = true;
	stop_if_idle(d);
}

void daemon_stop(struct daemon *d)
{
	if (mailbox_put(d->mail, stop_now, d))
		kill(getpid(), SIGTERM);
}

/* --- requests of others to the store
 * ------------------------------------------------------------------------- */

static void sending_free(struct sending *s)
{
	arena_free(&s->texts);
	free(s);
}

static void send_now(void *arg)
{
	struct sending *s = arg;
	if (pump_send(s->d->pump, &s->req)) {
		sending_free(s); /* its caller is told when its time is up */
		return;
	}
	s->next = s->d->sent;
	s->d->sent = s;
}

static bool keep_text(struct sending *s, struct str *text)
{
	if (!text->p)
		return true;
	text->p = arena_dup(&s->texts, *text);
	return text->p != NULL;
}

static bool keep_texts(struct sending *s)
{
	struct problem_said *p = &s->req.problem;
	switch ((enum st_op)s->req.op) {
	case ST_PROBLEM:
		return keep_text(s, &p->key) && keep_text(s, &p->subject) && keep_text(s, &p->text) &&
		       keep_text(s, &p->by) && keep_text(s, &p->note);
	case ST_STATE:
		return keep_text(s, &s->req.state.key) && keep_text(s, &s->req.state.text);
	case ST_WORDS:
		return keep_text(s, &s->req.words.text);
	case ST_SOURCE:
		return keep_text(s, &s->req.source.from);
	default:
		return true;
	}
}

enum err daemon_send(struct daemon *d, const struct st_req *r, sent_fn *done, void *ctx)
{
	struct sending *s = calloc(1, sizeof *s);
	if (!s)
		return E_NOMEM;
	*s = (struct sending){ .d = d, .req = *r, .done = done, .ctx = ctx };
	enum err e = keep_texts(s) ? mailbox_put(d->mail, send_now, s) : E_NOMEM;
	if (e)
		sending_free(s);
	return e == E_LIMIT ? E_BUSY : e;
}

static void tell(struct daemon *d, const struct pump_fact *f, const struct st_ack *ack)
{
	if (d->options.happened)
		d->options.happened(d->options.ctx, f, ack);
}

/* Conditions that wait for a better moment are asked again: the user's profile is in the scope of all. */
static void state_changed(struct daemon *d, struct str agent)
{
	uint32_t number = agent.n ? names_known(d->names, DOC_AGENT, agent) : 0;
	if (number || !agent.n) /* nobody waits for one that no schedule names */
		loop_event(d->loop, &(struct event){ .kind = EV_STATE, .key = number });
}

static void answered(void *ctx, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	for (struct sending **at = &d->sent; *at; at = &(*at)->next) {
		struct sending *s = *at;
		if (s->req.tag != ack->tag)
			continue;
		*at = s->next;
		struct pump_fact f = { .op = s->req.op, .res = ack->res, .at = ack->done };
		f.problem.act = s->req.problem.act;
		f.problem.number = ack->problem;
		f.problem.fresh = ack->count == 1;
		if (s->req.op == ST_STATE && ack->res == ST_OK)
			state_changed(d, s->req.state.key);
		if (s->done)
			s->done(s->ctx, ack);
		if (f.op == ST_PROBLEM)
			tell(d, &f, ack);
		sending_free(s);
		return;
	}
}

/* From the desk's thread. There is room sooner or later: the loop empties its mail at every turn. */
static void send_problem(void *ctx, const struct st_req *r)
{
	struct daemon *d = ctx;
	while (daemon_send(d, r, NULL, NULL) == E_BUSY && !d->closing)
		usleep(1000);
}

/* --- health
 * ---------------------------------------------------------------------------------------------------- */

static enum err say_starved(struct why *why)
{
	return why_set(why, E_IO, WHY_NOWHERE, "what is to be recorded waits: %s", strerror(ENOMEM));
}

enum err daemon_trouble(struct daemon *d, const char **which, struct why *why)
{
	*which = "store";
	enum err e = daemon_store_trouble(d, why);
	if (e)
		return e;
	*which = "runner";
	return daemon_runner_trouble(d, why);
}

enum err daemon_writes(struct daemon *d, struct why *why)
{
	if (atomic_load(&d->starved))
		return say_starved(why);
	return store_sqlite_writes(d->store, why);
}

enum err daemon_store_trouble(struct daemon *d, struct why *why)
{
	if (pump_starved(d->pump))
		return say_starved(why);
	return store_sqlite_trouble(d->store, NULL, NULL, why);
}

enum err daemon_runner_trouble(struct daemon *d, struct why *why)
{
	enum err e = runner_trouble(d->runner, NULL, why);
	return e ? e : desk_trouble(d->desk, why);
}

bool daemon_has_cgroup(const struct daemon *d)
{
	return d->cgroup.n > 0;
}

/* Once when it begins, and once when it is over. */
static void log_trouble(struct daemon *d, unsigned which, const char *text)
{
	static const char *const words[LOGS] = {
		[LOG_STORE] = "the store",
		[LOG_RUNNER] = "starting runs",
		[LOG_CLOCK] = "the clock",
		[LOG_STEP] = "the clock's pace",
	};
	if (d->options.trouble && d->said[which] != (text != NULL))
		d->options.trouble(d->options.ctx, words[which], text);
	d->said[which] = text != NULL;
}

/* The wall clock against the one that only counts, suspension included. */
static void watch_clock(struct daemon *d, struct now now)
{
	struct buf length = { 0 };
	int64_t skew = now.wall.us - now.boot.us, step = 0;
	if (d->skew)
		step = (skew - d->skew + (skew < d->skew ? -USEC : USEC) / 2) / USEC;
	d->skew = skew;
	if (step > CLOCK_TOLD_SECONDS || step < -CLOCK_TOLD_SECONDS) {
		dur_format(step < 0 ? -step : step, &length);
		d->step.at = now.boot;
		d->step.fresh = true;
		snprintf(
			d->step.text, sizeof d->step.text,
			step > 0
				? "the clock was set ahead by %s: what was due in between is run late or "
				  "recorded "
				  "as missed, as its policy says"
				: "the clock was set back by %s: what has run does not run again; `rota why` "
				  "explains any time",
			buf_str(&length).p);
		buf_free(&length);
	} else if (now.boot.us - d->step.at.us > CLOCK_CALM_SECONDS * USEC) {
		d->step.text[0] = '\0';
	}
}

/* Whatever is said of it must be said soon, for there may be no other reason to look again. */
static bool clock_changed(const struct daemon *d)
{
	return d->said[LOG_CLOCK] != engine_clock_held(pump_engine(d->pump)) || d->step.fresh ||
	       d->said[LOG_STEP] != (d->step.text[0] != '\0');
}

static int64_t turned(void *ctx, struct now now)
{
	struct daemon *d = ctx;
	order_again(d);
	watch_clock(d, now);
	if (now.boot.us - d->looked.us >= HEALTH_MS * 1000 || clock_changed(d)) {
		struct why store = { 0 }, runner = { 0 };
		bool bad_store = daemon_store_trouble(d, &store) != OK;
		bool bad_runner = daemon_runner_trouble(d, &runner) != OK;
		struct health h = { .clock_held = engine_clock_held(pump_engine(d->pump)),
				    .clock_step = d->step.text[0] ? d->step.text : NULL,
				    .clock_stepped = d->step.fresh,
				    .store = bad_store ? store.text : NULL,
				    .runner = bad_runner ? runner.text : NULL };
		log_trouble(d, LOG_STORE, h.store);
		log_trouble(d, LOG_RUNNER, h.runner);
		log_trouble(d, LOG_STEP, h.clock_step);
		log_trouble(d, LOG_CLOCK, h.clock_held ? "it ran far ahead and is not believed" : NULL);
		d->unwell = problems_look(d->problems, &h);
		d->step.fresh = false;
		atomic_store(&d->starved, pump_starved(d->pump));
		if (daemon_writes(d, NULL))
			reply_to_all(d);
		if (!d->starved)
			d->fed = now.boot;
		else if (now.boot.us - d->fed.us >= STARVED_MS * INT64_C(1000))
			loop_out_of_memory(d->loop);
		d->looked = now.boot;
	}
	bool told = problems_flush(d->problems);
	int64_t calm = d->step.at.us + CLOCK_CALM_SECONDS * USEC - now.boot.us + 1;
	return d->again             ? ORDER_AGAIN_MS * 1000
	       : d->unwell || !told ? HEALTH_MS * 1000
	       : d->step.text[0]    ? calm
				    : 0;
}

/* --- runs
 * ---------------------------------------------------------------------------------------------------- */

static void give(void *arg)
{
	struct desk_job *j = arg;
	struct daemon *d = j->ctx;
	j->why.text[0] = '\0';
	enum err e =
		j->outcome ? OK : runner_give(d->runner, j->req.run, j->req.attempt, &j->launch, &j->why);
	/* No descriptor or no memory for it now is no fault of the schedule's. */
	if ((e == E_IO || e == E_NOMEM) && desk_again(d->desk, j) == OK)
		return;
	if (e == E_IO || e == E_NOMEM)
		loop_out_of_memory(d->loop);
	else if (e)
		j->reason = REASON_DEFINITION;
	if (j->reason)
		runner_refuse(d->runner, j->req.run, j->req.attempt, j->outcome ? j->outcome : OUTCOME_FAILED,
			      j->reason);
	desk_job_free(j);
}

/* On the desk's thread: what people will want to know of it, written down before it counts. None: as it was.
 */
static void write_words(struct daemon *d, uint64_t run, struct str words)
{
	struct st_req r = { .op = ST_WORDS,
			    .lane = LANE_USER,
			    .words = { .run = run, .kind = WORDS_WHY, .text = words } };
	while (words.p && daemon_send(d, &r, NULL, NULL) == E_BUSY && !atomic_load(&d->closing))
		usleep(1000);
}

/* On the desk's thread. */
static void prepared(void *ctx, struct desk_job *j)
{
	struct daemon *d = ctx;
	j->ctx = d;
	if (j->outcome)
		write_words(d, j->req.run, str_of(j->why.text));
	while (!atomic_load(&d->closing)) {
		if (mailbox_put(d->mail, give, j) == OK)
			return;
		usleep(1000);
	}
	desk_job_free(j); /* nobody empties it any more; the next daemon asks again */
}

static void want(void *ctx, const struct rn_req *r)
{
	struct daemon *d = ctx;
	/* LAUNCHES_MAX and RUNNER_CHECKS_MAX are under way at most, so there is room. Without memory the
	 * claim stands, and is taken up by the next daemon. */
	if (desk_put(d->desk, r))
		loop_out_of_memory(d->loop);
}

static enum err ask(void *ctx, const struct rn_req *r)
{
	return desk_ask(((struct daemon *)ctx)->desk, r);
}

struct answer {
	struct daemon *daemon;
	struct rn_says says;
};

static void say(void *arg)
{
	struct answer *a = arg;
	/* Without memory for it, it waits in the mail: nobody would ask again. */
	if (runner_say(a->daemon->runner, &a->says) == OK || mailbox_put(a->daemon->mail, say, a))
		free(a);
}

/* On the desk's thread. */
static void guard_answered(void *ctx, const struct rn_says *says, struct str words)
{
	struct daemon *d = ctx;
	struct answer *a = NULL;
	write_words(d, says->run, words);
	while (!atomic_load(&d->closing)) { /* then the next daemon asks again */
		a = a ? a : calloc(1, sizeof *a);
		if (a)
			*a = (struct answer){ d, *says };
		if (a && mailbox_put(d->mail, say, a) == OK)
			return;
		usleep(1000);
	}
	free(a);
}

/* --- outdated rules
 * ------------------------------------------------------------------------------------------ */

static void compile_next(struct daemon *d)
{
	while (!d->stopping && d->compile.under_way < DAEMON_COMPILE_MAX) {
		uint64_t sid = engine_outdated(pump_engine(d->pump), &d->compile.at);
		if (!sid)
			return;
		if (desk_compile(d->desk, sid))
			d->compile.again = true;
		else
			d->compile.under_way++;
	}
}

/* Nothing of theirs comes due before they are compiled anew: after a start with other zone files than the
 * last time, or another version, and whenever the zone files change. */
static void compile_all(void *arg)
{
	struct daemon *d = arg;
	d->compile.at = 0;
	d->compile.again = false;
	compile_next(d);
}

static void compile_over(void *ctx, const struct reply *r)
{
	struct daemon *d = ctx;
	d->compile.again |= r->code == REPLY_BUSY;
	d->compile.under_way--;
	compile_next(d);
}

/* It waits as it is, until the zone files change again or somebody changes it. */
static void compile_failed(void *arg)
{
	compile_over(arg, &(struct reply){ .code = REPLY_REFUSED });
}

/* On the desk's thread. */
static void compiled(void *ctx, uint64_t sid, enum err e, const struct rules *rules)
{
	struct daemon *d = ctx;
	struct command c = { .kind = CMD_RECOMPILE, .sid = sid };
	enum err full;
	if (!e)
		c.rules = *rules;
	do {
		full = e ? mailbox_put(d->mail, compile_failed, d) : daemon_order(d, &c, compile_over, d);
		if (full)
			usleep(1000);
	} while (full && !atomic_load(&d->closing));
}

static void take_zones(void *arg)
{
	struct daemon *d = arg;
	if (!names_take_over(d->names))
		return;
	loop_event(d->loop, &(struct event){ .kind = EV_ZONES });
	compile_all(d);
	if (d->options.zones_changed)
		d->options.zones_changed(d->options.ctx);
}

/* On the desk's thread. */
static void zones_read(void *ctx)
{
	struct daemon *d = ctx;
	while (mailbox_put(d->mail, take_zones, d) && !atomic_load(&d->closing))
		usleep(1000);
}

/* --- opening
 * ------------------------------------------------------------------------------------------------- */

static char *path_in(const char *dir, const char *name)
{
	char *p = NULL;
	return asprintf(&p, "%s/%s", dir, name) < 0 ? NULL : p;
}

static enum err make_directories(const char *path, struct why *why)
{
	char *copy_of = strdup(path);
	if (!copy_of)
		return E_NOMEM;
	enum err e = OK;
	for (char *at = copy_of + 1;; at++) {
		char c = *at;
		if (c != '/' && c != '\0')
			continue;
		*at = '\0';
		if (mkdir(copy_of, 0700) < 0 && errno != EEXIST) {
			e = why_set(why, E_IO, WHY_NOWHERE, "%s cannot be made: %s", copy_of,
				    strerror(errno));
			break;
		}
		*at = c;
		if (c == '\0')
			break;
	}
	free(copy_of);
	return e;
}

/* One daemon to a directory: the lock goes with the process, whatever its end. */
enum err daemon_lock(const char *data, int *ret, struct why *why)
{
	char path[PATH_MAX], pid[16] = "";
	enum err e = make_directories(data, why);
	if (e)
		return e;
	snprintf(path, sizeof path, "%s/lock", data);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return why_set(why, E_IO, WHY_NOWHERE, "%s cannot be opened: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		ssize_t n = pread(fd, pid, sizeof pid - 1, 0);
		pid[n > 0 ? strcspn(pid, "\n") : 0] = '\0';
		close(fd);
		return why_set(why, E_BUSY, WHY_NOWHERE, "another rota serves %s (process %s)", data,
			       pid[0] ? pid : "unknown");
	}
	if (ftruncate(fd, 0) == 0)
		dprintf(fd, "%d\n", (int)getpid());
	*ret = fd;
	return OK;
}

/* --- what is old, and what was brought back
 * ------------------------------------------------------------------ */

static void pruned(void *ctx, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	(void)ack;
	retain_answered(d->retain);
}

static enum err send_prune(void *ctx, const struct st_req *r)
{
	return daemon_send(ctx, r, pruned, ctx);
}

static void tell_facts(void *arg)
{
	struct daemon *d = arg;
	const struct engine *e = pump_engine(d->pump);
	retain_facts(d->retain, !engine_clock_held(e), engine_acted_on(e));
}

static enum err ask_facts(void *ctx)
{
	return daemon_call(ctx, tell_facts, ctx);
}

static enum err open_retain(struct daemon *d, struct why *why)
{
	int64_t every = d->options.kept.every;
	return retain_open(&(struct retain_options){ .database = d->database,
						     .runs = d->runs,
						     .runs_days = d->options.kept.runs_days,
						     .logs_days = d->options.kept.logs_days,
						     .logs_bytes = d->options.kept.logs_bytes,
						     .first = every < RETAIN_FIRST_SECONDS
								      ? every
								      : RETAIN_FIRST_SECONDS,
						     .every = every,
						     .ctx = d,
						     .send = send_prune,
						     .ask = ask_facts },
			   &d->retain, why);
}

/* Is the database older than what happened? Then its runs are looked after first. */
static enum err look_back(struct daemon *d, struct why *why)
{
	struct copy_ask ask = { .database = d->database, .now = clock_wall() };
	struct copy_past past;
	unsigned stopped = 0;
	char *file = path_in(d->options.data, "generation");
	ask.generation = file;
	enum err e = file ? runfiles_last(d->runs, &ask.last_run, why) : E_NOMEM;
	if (!e)
		e = copy_open(&ask, &past, why);
	free(file);
	if (e || !past.strays)
		return e;
	e = restored_settle(&(struct restored_ask){ .database = d->database,
						    .runs = d->runs,
						    .store = d->store,
						    .runner = d->runner,
						    .past = &past },
			    &stopped, why);
	snprintf(d->restored, sizeof d->restored,
		 "the store was brought back from a copy%s; what came due since is missed/restored, and of "
		 "runs it "
		 "does not know %u %s found alive and stopped",
		 past.older ? " by hand" : "", stopped, stopped == 1 ? "was" : "were");
	return e;
}

/* A problem until the next start. */
static void say_restored(void *arg)
{
	struct daemon *d = arg;
	struct st_req r = { .op = ST_PROBLEM, .lane = LANE_FINISH, .at = clock_wall() };
	r.problem = (struct problem_said){ .act = d->restored[0] ? PROBLEM_OPEN : PROBLEM_CLOSE,
					   .key = STR("restored"),
					   .subject = STR("store"),
					   .text = str_of(d->restored) };
	if (!d->restored[0])
		r.problem.text = (struct str){ 0 };
	if (daemon_send(d, &r, NULL, NULL))
		return; /* it has been printed */
}

const char *daemon_restored(const struct daemon *d)
{
	return d->restored[0] ? d->restored : NULL;
}

static enum err open_runner(struct daemon *d, struct why *why)
{
	struct launcher l;
	bool delegated = rundir_cgroup(&d->cgroup) == OK;
	struct runner_config c = {
		.place = { .runs = d->runs, .cgroup = delegated ? d->cgroup.p : NULL, .flush = true },
		.ctx = d,
		.want = want,
		.ask = ask
	};
	/* Before any thread, and before the store has grown: the launcher is a small process's child. */
	enum err e = launcher_start(d->options.launcher, &l, why);
	if (e)
		return e;
	e = runner_open(&c, &d->runner, why);
	if (e) {
		close(l.socket);
		close(l.pidfd);
		return e;
	}
	runner_launcher(d->runner, l);
	return OK;
}

static enum err open_all(struct daemon *d, struct why *why)
{
	const struct daemon_options *o = &d->options;
	char aside[PATH_MAX];
	enum err e = daemon_lock(o->data, &d->lock, why);
	if (!e)
		e = copy_finish(d->database, aside, sizeof aside, why);
	if (!e)
		e = make_directories(d->runs, why);
	if (!e)
		e = open_runner(d, why);
	if (!e)
		e = names_new(&d->names);
	if (!e)
		e = mailbox_new(DAEMON_MAIL_MAX, &d->mail);
	if (!e)
		e = store_sqlite_open(d->database, &d->store, why);
	if (!e)
		e = look_back(d, why);
	if (!e)
		e = desk_open(&(struct desk_options){ .store = d->store,
						      .place = { o->socket, o->out },
						      .defaults = o->defaults,
						      .names = d->names,
						      .done = prepared,
						      .compiled = compiled,
						      .zones_read = zones_read,
						      .answered = guard_answered,
						      .ctx = d },
			      &d->desk, why);
	if (!e)
		e = problems_new(
			&(struct problems_config){
				.desk = d->desk, .names = d->names, .ctx = d, .send = send_problem },
			&d->problems);
	return e;
}

static void load_also(void *ctx, const struct load_item *item)
{
	struct daemon *d = ctx;
	problems_load(d->problems, item);
	d->said_restored |= item->kind == LOAD_PROBLEM && str_eq(item->problem.key, STR("restored"));
	if (item->kind == LOAD_NAME &&
	    names_load(d->names, (enum name_kind)item->name.kind, item->name.number, item->name.text))
		return; /* its rules are outdated, and wait */
}

static void happened(void *ctx, const struct pump_fact *f, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	if (d->compile.again && !d->compile.under_way) /* it looks at all of them */
		compile_all(d);
	if (f->op == ST_FINISH || (f->op == ST_VERDICT && f->run.state != RUN_CLAIMED))
		runner_drop_check(d->runner, f->run.run, (uint16_t)(f->run.attempt + 1));
	problems_happened(d->problems, f, ack);
	tell(d, f, ack);
}

/* The desk reads them, then all are told. Full: by the next change. */
static void zones_changed(void *ctx)
{
	struct daemon *d = ctx;
	if (desk_zones_changed(d->desk))
		return;
}

static void stopping(void *ctx)
{
	struct daemon *d = ctx;
	if (d->options.stopping)
		d->options.stopping(d->options.ctx);
	else
		stop_now(d);
}

/* Before anybody can ask: numbers of names that are not known yet would be given out a second time. */
static enum err load(struct daemon *d, struct why *why)
{
	struct pump_config c = { .engine = { .slots = d->options.slots,
					     .catch_up_per_second = d->options.catch_up_per_second,
					     .documents_first = d->options.documents_first },
				 .store = d->store,
				 .ops = &store_sqlite_ops,
				 .runner = d->runner,
				 .ctx = d,
				 .replied = replied,
				 .happened = happened,
				 .answered = answered };
	names_tables(d->names, &c.engine);
	enum err e = pump_new(&c, &d->pump);
	if (!e)
		e = loop_new(&(struct loop_config){ .pump = d->pump,
						    .store_fd = store_sqlite_ops.fd(d->store),
						    .runner = d->runner,
						    .mail = d->mail,
						    .launcher = d->options.launcher,
						    .ctx = d,
						    .zones_changed = zones_changed,
						    .turned = turned,
						    .stopping = stopping },
			     &d->loop, why);
	if (!e)
		e = pump_load(d->pump, loop_now(), load_also, d);
	if (e == E_IO && store_sqlite_trouble(d->store, NULL, NULL, why) == OK)
		why_write(why, WHY_NOWHERE, "%s cannot be read", d->database);
	if (!e && (d->restored[0] || d->said_restored))
		e = mailbox_put(d->mail, say_restored, d);
	return e ? e : mailbox_put(d->mail, compile_all, d);
}

enum err daemon_open(const struct daemon_options *o, struct daemon **ret, struct why *why)
{
	struct daemon *d = calloc(1, sizeof *d);
	if (!d)
		return E_NOMEM;
	d->options = *o;
	d->lock = -1;
	d->database = path_in(o->data, "rota.db");
	d->runs = path_in(o->data, "runs");
	/* Threads inherit it: the loop alone hears of them. */
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	enum err e = d->database && d->runs ? open_all(d, why) : E_NOMEM;
	if (!e)
		e = load(d, why);
	if (!e)
		e = open_retain(d, why);
	if (e)
		daemon_close(d);
	else
		*ret = d;
	return e;
}

/* What came when nobody emptied it any more. Others' mail is theirs. */
static void drop_mail(struct daemon *d)
{
	mail_fn *fn;
	void *arg;
	while (d->mail && mailbox_take(d->mail, &fn, &arg)) {
		if (fn == take_order)
			pending_free(arg);
		else if (fn == send_now)
			sending_free(arg);
		else if (fn == give)
			desk_job_free(arg);
		else if (fn == say)
			free(arg);
	}
}

void daemon_close(struct daemon *d)
{
	if (!d)
		return;
	atomic_store(&d->closing, true);
	retain_close(d->retain);
	desk_close(d->desk);
	drop_mail(d);
	problems_free(d->problems);
	loop_free(d->loop);
	store_sqlite_close(d->store);
	pump_free(d->pump);
	runner_close(d->runner);
	mailbox_free(d->mail);
	names_free(d->names);
	pending_free_all(d->pending);
	pending_free_all(d->again);
	while (d->sent) {
		struct sending *s = d->sent;
		d->sent = s->next;
		sending_free(s);
	}
	buf_free(&d->cgroup);
	if (d->lock >= 0)
		close(d->lock);
	free(d->database);
	free(d->runs);
	free(d);
}

/* --- running
 * ------------------------------------------------------------------------------------------------- */

enum err daemon_run(struct daemon *d, struct why *why)
{
	return loop_run(d->loop, why);
}
