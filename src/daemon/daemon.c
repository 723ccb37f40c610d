#include "daemon/daemon.h"

#include "base/map.h"
#include "daemon/desk.h"
#include "daemon/problems.h"
#include "host/clock.h"
#include "host/rundir.h"
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
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
	char *id, *document; /* copies, until the store has answered */
	struct boot give_up; /* until then a busy schedule is asked again */
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

struct daemon {
	struct daemon_options options;
	char *database, *runs, *lock_path;
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
	struct boot looked;
	bool unwell; /* at the last look */
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

const char *daemon_runs(const struct daemon *d)
{
	return d->runs;
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
		p->done(p->ctx, r);
		pending_free(p);
		stop_if_idle(d);
		return;
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
	struct pending *p = calloc(1, sizeof *p);
	if (!p)
		return E_NOMEM;
	*p = (struct pending){ .d = d, .command = *c, .done = done, .ctx = ctx };
	p->id = copy(c->id);
	p->document = copy(c->document);
	p->give_up.us = clock_boot().us + patience(c->kind) * 1000;
	p->command.id.p = p->id;
	p->command.document.p = p->document;
	enum err e = p->id && p->document ? mailbox_put(d->mail, take_order, p) : E_NOMEM;
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

enum err daemon_send(struct daemon *d, const struct st_req *r, sent_fn *done, void *ctx)
{
	struct sending *s = calloc(1, sizeof *s);
	if (!s)
		return E_NOMEM;
	*s = (struct sending){ .d = d, .req = *r, .done = done, .ctx = ctx };
	struct problem_said *p = &s->req.problem;
	bool kept = keep_text(s, &p->key) && keep_text(s, &p->subject) && keep_text(s, &p->text) &&
		    keep_text(s, &p->by) && keep_text(s, &p->note);
	enum err e = kept ? mailbox_put(d->mail, send_now, s) : E_NOMEM;
	if (e)
		sending_free(s);
	return e == E_LIMIT ? E_BUSY : e;
}

static void tell(struct daemon *d, const struct pump_fact *f, const struct st_ack *ack)
{
	if (d->options.happened)
		d->options.happened(d->options.ctx, f, ack);
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
		if (s->done)
			s->done(s->ctx, ack);
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

enum err daemon_trouble(struct daemon *d, const char **which, struct wall *since, struct why *why)
{
	*which = "store";
	enum err e = store_sqlite_trouble(d->store, since, NULL, why);
	if (e)
		return e;
	*which = "runner";
	return runner_trouble(d->runner, since, why);
}

bool daemon_has_cgroup(const struct daemon *d)
{
	return d->cgroup.n > 0;
}

static int64_t turned(void *ctx, struct now now)
{
	struct daemon *d = ctx;
	order_again(d);
	if (now.boot.us - d->looked.us >= HEALTH_MS * 1000) {
		struct why store = { 0 }, runner = { 0 };
		bool bad_store = store_sqlite_trouble(d->store, NULL, NULL, &store) != OK;
		bool bad_runner = runner_trouble(d->runner, NULL, &runner) != OK;
		struct health h = { .clock_held = engine_clock_held(pump_engine(d->pump)),
				    .store = bad_store ? store.text : NULL,
				    .runner = bad_runner ? runner.text : NULL };
		d->unwell = problems_look(d->problems, &h);
		d->looked = now.boot;
	}
	return d->again ? ORDER_AGAIN_MS * 1000 : d->unwell ? HEALTH_MS * 1000 : 0;
}

/* --- runs
 * ---------------------------------------------------------------------------------------------------- */

static void give(void *arg)
{
	struct desk_job *j = arg;
	struct daemon *d = j->ctx;
	if (j->outcome || runner_give(d->runner, j->req.run, j->req.attempt, &j->launch, &j->why))
		runner_refuse(d->runner, j->req.run, j->req.attempt, j->outcome ? j->outcome : OUTCOME_FAILED,
			      j->reason ? j->reason : REASON_DEFINITION);
	desk_job_free(j);
}

/* On the desk's thread. */
static void prepared(void *ctx, struct desk_job *j)
{
	struct daemon *d = ctx;
	j->ctx = d;
	while (mailbox_put(d->mail, give, j)) {
		if (atomic_load(&d->closing)) { /* nobody empties it any more; the next daemon asks again */
			desk_job_free(j);
			return;
		}
		usleep(1000);
	}
}

static void want(void *ctx, const struct rn_req *r)
{
	struct daemon *d = ctx;
	/* LAUNCHES_MAX are under way at most, so there is room; what memory refuses is said. */
	if (desk_put(d->desk, r))
		runner_refuse(d->runner, r->run, r->attempt, OUTCOME_FAILED, REASON_DEFINITION);
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
static enum err take_lock(struct daemon *d, struct why *why)
{
	d->lock = open(d->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (d->lock < 0)
		return why_set(why, E_IO, WHY_NOWHERE, "%s cannot be opened: %s", d->lock_path,
			       strerror(errno));
	if (flock(d->lock, LOCK_EX | LOCK_NB) < 0) {
		char pid[16] = "";
		ssize_t n = pread(d->lock, pid, sizeof pid - 1, 0);
		pid[n > 0 ? strcspn(pid, "\n") : 0] = '\0';
		return why_set(why, E_BUSY, WHY_NOWHERE, "another rota serves %s (process %s)",
			       d->options.data, pid[0] ? pid : "unknown");
	}
	if (ftruncate(d->lock, 0) == 0)
		dprintf(d->lock, "%d\n", (int)getpid());
	return OK;
}

static enum err open_runner(struct daemon *d, struct why *why)
{
	struct launcher l;
	bool delegated = rundir_cgroup(&d->cgroup) == OK;
	struct runner_config c = {
		.place = { .runs = d->runs, .cgroup = delegated ? d->cgroup.p : NULL, .flush = true },
		.ctx = d,
		.want = want
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
	enum err e = make_directories(o->data, why);
	if (!e)
		e = take_lock(d, why);
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
		e = desk_open(&(struct desk_options){ .database = d->database,
						      .socket = o->socket,
						      .defaults = o->defaults,
						      .names = d->names,
						      .done = prepared,
						      .compiled = compiled,
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
	if (item->kind == LOAD_NAME &&
	    names_load(d->names, (enum name_kind)item->name.kind, item->name.number, item->name.text))
		return; /* its rules are outdated, and wait */
}

static void happened(void *ctx, const struct pump_fact *f, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	if (d->compile.again && !d->compile.under_way) /* it looks at all of them */
		compile_all(d);
	problems_happened(d->problems, f, ack);
	tell(d, f, ack);
}

static void zones_changed(void *ctx)
{
	struct daemon *d = ctx;
	if (names_reread(d->names))
		return; /* the old ones are as good as before */
	/* The engine is told next; this is done after that. Full boxes: then by the next change. */
	if (desk_zones_changed(d->desk) || mailbox_put(d->mail, compile_all, d))
		return;
	if (d->options.zones_changed)
		d->options.zones_changed(d->options.ctx);
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
					     .catch_up_per_second = d->options.catch_up_per_second },
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
	d->lock_path = path_in(o->data, "lock");
	/* Threads inherit it: the loop alone hears of them. */
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	enum err e = d->database && d->runs && d->lock_path ? open_all(d, why) : E_NOMEM;
	if (!e)
		e = load(d, why);
	if (e)
		daemon_close(d);
	else
		*ret = d;
	return e;
}

void daemon_close(struct daemon *d)
{
	if (!d)
		return;
	atomic_store(&d->closing, true);
	desk_close(d->desk);
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
	free(d->lock_path);
	free(d);
}

/* --- running
 * ------------------------------------------------------------------------------------------------- */

enum err daemon_run(struct daemon *d, struct why *why)
{
	return loop_run(d->loop, why);
}
