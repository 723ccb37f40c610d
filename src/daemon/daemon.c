#include "daemon/internal.h"

#include "daemon/agent_resolve.h"
#include "exec/rundir.h"
#include "store/sqlite/backup.h"
#include "store/sqlite/store.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct intern *daemon_intern(struct daemon *d)
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

const struct token_key *daemon_tokens(const struct daemon *d)
{
	return &d->tokens;
}

void daemon_documents(struct daemon *d)
{
	loop_event(d->loop, &(struct event){ .kind = EV_DOCUMENTS });
}

const struct engine *daemon_engine(const struct daemon *d)
{
	return pump_engine(d->pump);
}

/* Before any thread is started and before the store has grown: the launcher is the child of a small process.
 */
static enum err open_runner(struct daemon *d, struct why *why)
{
	bool delegated = rundir_cgroup(&d->cgroup) == OK;
	struct runner_config c = {
		.place = { .runs = d->runs, .cgroup = delegated ? d->cgroup.p : NULL, .flush = true },
		.ctx = d,
		.want = attempts_want,
		.ask = attempts_ask
	};
	enum err e = runner_open(&c, &d->runner, why);
	if (!e && !runner_keep_launcher(d->runner, d->options.launcher))
		e = runner_trouble(d->runner, NULL, why);
	return e;
}

static enum err open_all(struct daemon *d, struct why *why)
{
	const struct daemon_options *o = &d->options;
	char aside[PATH_MAX];
	enum err e = daemon_lock(o->data, &d->lock, why);
	if (!e)
		e = copy_finish(d->database, aside, sizeof aside, why);
	if (!e)
		e = datadir_make(d->runs, why);
	if (!e)
		e = datadir_make(d->letters, why);
	if (!e)
		e = token_key_open(o->data, &d->tokens, why);
	if (!e)
		e = open_runner(d, why);
	if (!e)
		e = intern_new(&d->names);
	if (!e)
		intern_default_agent(d->names, o->defaults.default_agent);
	if (!e)
		e = mailbox_new(DAEMON_MAIL_MAX, &d->mail);
	if (!e)
		e = store_sqlite_open(d->database, &d->store, why);
	if (!e)
		e = restore_check(d, why);
	if (!e)
		e = prepare_open(&(struct prepare_options){ .store = d->store,
							    .place = { .socket = o->socket,
								       .runs = d->runs,
								       .out = o->out,
								       .secrets = o->secrets,
								       .tokens = d->tokens },
							    .defaults = o->defaults,
							    .names = d->names,
							    .done = attempts_prepared,
							    .compiled = recompile_compiled,
							    .zones_read = recompile_zones_read,
							    .answered = attempts_answered,
							    .ctx = d },
				 &d->desk, why);
	if (!e)
		e = problems_new(&(struct problems_config){ .desk = d->desk,
							    .names = d->names,
							    .ctx = d,
							    .send = store_requests_problem },
				 &d->problems);
	return e;
}

const char *daemon_out(const struct daemon *d)
{
	return d->options.out.program;
}

enum err daemon_notify(struct daemon *d, struct reader *r, struct arena *a, struct config_notify *ret,
		       const char **origin, struct why *why)
{
	return notifier_config(r, d->options.notify, a, ret, origin, why);
}

/* When there is somebody who can be told what became of it. */
static enum err open_post(struct daemon *d, struct why *why)
{
	const struct daemon_options *o = &d->options;
	return notifier_open(&(struct notifier_options){ .store = d->store,
							 .dir = d->letters,
							 .runs = d->runs,
							 .launcher = o->launcher,
							 .out = o->out,
							 .config = o->notify,
							 .ctx = d,
							 .send = store_requests_post },
			     &d->post, why);
}

static void load_also(void *ctx, const struct load_item *item)
{
	struct daemon *d = ctx;
	problems_load(d->problems, item);
	d->said_restored |= item->kind == LOAD_PROBLEM && str_eq(item->problem.key, STR("restored"));
	if (item->kind == LOAD_NAME &&
	    intern_load(d->names, (enum name_kind)item->name.kind, item->name.number, item->name.text))
		return; /* its rules are outdated, and wait */
}

static void happened(void *ctx, const struct pump_fact *f, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	/* It looks at all of them. What was put may have been compiled with what was replaced meanwhile. */
	if ((d->compile.again && !d->compile.under_way) ||
	    (f->op == ST_PUT && engine_is_outdated(pump_engine(d->pump), f->sid)))
		recompile_all(d);
	if (f->op == ST_FINISH || (f->op == ST_VERDICT && f->run.state != RUN_CLAIMED))
		runner_drop_check(d->runner, f->run.run, (uint16_t)(f->run.attempt + 1));
	if (f->news && f->res == ST_OK)
		notifier_news(d->post);
	if (f->op == ST_PUT || f->op == ST_DROP)
		notifier_changed_document(d->post);
	problems_happened(d->problems, f, ack);
	daemon_tell(d, f, ack);
}

/* The desk reads them, then all are told. Full: by the next change. */
static void zones_changed(void *ctx)
{
	struct daemon *d = ctx;
	if (prepare_zones_changed(d->desk))
		return;
}

static void stopping(void *ctx)
{
	struct daemon *d = ctx;
	if (d->options.stopping)
		d->options.stopping(d->options.ctx);
	else
		commands_stop(d);
}

/* Before the schedules whose rules are compared with them. */
static enum err load_agents(struct daemon *d, struct why *why)
{
	struct reader *reader = NULL;
	enum err e = store_sqlite_reader(d->store, &reader, why);
	if (!e)
		e = agent_index_load(reader, d->names, why);
	reader_close(reader);
	return e;
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
				 .replied = commands_replied,
				 .happened = happened,
				 .answered = store_requests_answered };
	intern_tables(d->names, &c.engine);
	enum err e = load_agents(d, why);
	if (!e)
		e = pump_new(&c, &d->pump);
	if (!e)
		e = loop_new(&(struct loop_config){ .pump = d->pump,
						    .store_fd = store_sqlite_ops.fd(d->store),
						    .runner = d->runner,
						    .mail = d->mail,
						    .launcher = d->options.launcher,
						    .ctx = d,
						    .zones_changed = zones_changed,
						    .turned = health_turned,
						    .stopping = stopping },
			     &d->loop, why);
	if (!e)
		e = pump_load(d->pump, loop_now(), load_also, d);
	if (e == E_IO && store_sqlite_trouble(d->store, NULL, NULL, why) == OK)
		why_write(why, WHY_NOWHERE, "%s cannot be read", d->database);
	if (!e && (d->restored[0] || d->said_restored))
		e = mailbox_put(d->mail, restore_report, d);
	return e ? e : mailbox_put(d->mail, recompile_all, d);
}

enum err daemon_open(const struct daemon_options *o, struct daemon **ret, struct why *why)
{
	struct daemon *d = calloc(1, sizeof *d);
	if (!d)
		return E_NOMEM;
	d->options = *o;
	d->lock = -1;
	d->database = datadir_path(o->data, "rota.db");
	d->runs = datadir_path(o->data, "runs");
	d->letters = datadir_path(o->data, "post");
	/* Threads inherit it: the loop alone hears of them. */
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	enum err e = d->database && d->runs && d->letters ? open_all(d, why) : E_NOMEM;
	if (!e)
		e = load(d, why);
	if (!e)
		e = retention_start(d, why);
	if (!e)
		e = open_post(d, why);
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
	while (d->mail && mailbox_pop(d->mail, &fn, &arg)) {
		if (fn == commands_take)
			commands_free(arg);
		else if (fn == store_requests_take)
			store_requests_free(arg);
		else if (fn == attempts_give)
			prepare_task_free(arg);
		else if (fn == attempts_say)
			free(arg);
	}
}

void daemon_close(struct daemon *d)
{
	if (!d)
		return;
	atomic_store(&d->closing, true);
	notifier_close(d->post);
	retention_close(d->retain);
	prepare_close(d->desk);
	drop_mail(d);
	problems_free(d->problems);
	loop_free(d->loop);
	store_sqlite_close(d->store);
	pump_free(d->pump);
	runner_close(d->runner);
	mailbox_free(d->mail);
	intern_free(d->names);
	commands_free_all(d->pending);
	commands_free_all(d->again);
	while (d->sent) {
		struct store_request *s = d->sent;
		d->sent = s->next;
		store_requests_free(s);
	}
	buf_free(&d->cgroup);
	if (d->lock >= 0)
		close(d->lock);
	free(d->database);
	free(d->runs);
	free(d->letters);
	free(d);
}

/* --- running --- */

enum err daemon_run(struct daemon *d, struct why *why)
{
	return loop_run(d->loop, why);
}
