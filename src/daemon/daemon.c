/* Opens the parts of the daemon in order, connects them, and closes them. */
#include "daemon/internal.h"

#include "core/doc/config/config.h"
#include "daemon/agent_resolve.h"
#include "exec/rundir.h"
#include "port/read.h"
#include "store/open.h"
#include "sys/clock.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- parts --- */

/* To be called before any thread is started and before the process grows: the launcher must be forked from a
 * small process. */
static enum err open_runner(struct daemon *d, struct why *why)
{
	bool delegated = rundir_cgroup(&d->cgroup) == OK;
	struct runner_config c = {
		.place = { .runs = d->runs_dir, .cgroup = delegated ? d->cgroup.p : NULL, .flush = true },
		.owner = d->owner,
		.ctx = d,
		.want = attempts_want,
	};
	enum err e = runner_open(&c, &d->runner, why);
	if (!e && !runner_keep_launcher(d->runner, d->options.launcher))
		e = runner_trouble(d->runner, NULL, why);
	return e;
}

/* Earlier versions called the notifier's directory "post". */
static enum err rename_post_dir(const struct daemon *d, struct why *why)
{
	char *post = datadir_path(d->options.data, "post");
	enum err e = post ? OK : E_NOMEM;
	/* Both directories exist if an earlier version was used in between. Then the new one is used. */
	if (post && access(post, F_OK) == 0 && rename(post, d->notify_dir) < 0 && errno != ENOTEMPTY &&
	    errno != EEXIST)
		e = why_set(why, E_IO, WHY_NOWHERE, "cannot rename %s to %s: %s", post, d->notify_dir,
			    strerror(errno));
	free(post);
	return e;
}

/* By device and inode, so that a directory that was moved is the same. */
static enum err set_owner(struct daemon *d, struct why *why)
{
	struct stat st;
	if (stat(d->options.data, &st) != 0)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot read %s: %s", d->options.data,
			       strerror(errno));
	snprintf(d->owner, sizeof d->owner, "%s=%llx:%llx", RUN_OWNER_NAME, (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	return OK;
}

static enum err open_directory(struct daemon *d, struct why *why)
{
	enum err e = daemon_lock(d->options.data, &d->lock, why);
	if (!e)
		e = set_owner(d, why);
	if (!e)
		e = datadir_make(d->runs_dir, why);
	if (!e)
		e = rename_post_dir(d, why);
	if (!e)
		e = datadir_make(d->notify_dir, why);
	return e;
}

static enum err open_prepare_worker(struct daemon *d, struct why *why)
{
	const struct daemon_options *o = &d->options;
	return prepare_open(&(struct prepare_options){ .store = d->store,
						       .place = { .socket = o->socket,
								  .runs = d->runs_dir,
								  .out = o->out,
								  .rota = o->rota,
								  .timezone = o->defaults.when.zone_name,
								  .component_seconds = o->component_seconds,
								  .secrets = o->secrets,
								  .pass_env = o->pass_env,
								  .token_key = &d->token_key,
								  .hooks = o->hooks,
								  .hooks_cwd = o->hooks_cwd },
						       .defaults = o->defaults,
						       .intern = d->intern,
						       .ctx = d,
						       .finished = attempts_finished,
						       .zones_read = recompile_zones_read },
			    &d->prepare, why);
}

/* Runs on a thread of the prepare worker. */
static void send_problem(void *ctx, const struct st_req *r)
{
	if (daemon_send_wait(ctx, r, NULL, NULL))
		return; /* out of memory, or the daemon stops: the problem is reported when it happens again
			 */
}

static enum err open_parts(struct daemon *d, struct why *why)
{
	enum err e = open_directory(d, why);
	if (!e)
		e = open_runner(d, why);
	if (!e)
		e = intern_new(&d->intern);
	if (!e) {
		intern_default_agent(d->intern, d->options.defaults.default_agent);
		intern_default_zone(d->intern, d->options.defaults.when.zone_name);
	}
	if (!e)
		e = mailbox_new(DAEMON_MAIL_MAX, &d->mail);
	if (!e)
		e = store_open(d->options.data, &d->store, why);
	if (!e)
		e = restore_check(d, why);
	if (!e)
		e = open_prepare_worker(d, why);
	if (!e)
		e = problems_new(
			&(struct problems_config){
				.prepare = d->prepare, .intern = d->intern, .ctx = d, .send = send_problem },
			&d->problems);
	return e;
}

/* --- the engine --- */

static void load_item(void *ctx, const struct load_item *item)
{
	struct daemon *d = ctx;
	problems_load(d->problems, item);
	d->restore_problem_open |= item->kind == LOAD_PROBLEM && str_eq(item->problem.key, STR("restored"));
	shared_load(d, item);
}

static void zones_changed(void *ctx)
{
	struct daemon *d = ctx;
	if (prepare_zones_changed(d->prepare))
		return; /* the zone files are read when they change the next time */
}

static void stopping(void *ctx)
{
	struct daemon *d = ctx;
	if (d->options.stopping)
		d->options.stopping(d->options.ctx);
	else
		commands_stop(d);
}

/* To be called before the schedules are loaded: their rules are compared with the agents. */
static enum err load_agents(struct daemon *d, struct why *why)
{
	struct reader *reader = NULL;
	enum err e = daemon_reader(d, &reader, why);
	if (!e)
		e = agent_load_all(reader, d->intern, why);
	reader_close(reader);
	return e;
}

static bool has_trigger_hook(const struct daemon *d)
{
	return d->options.hooks && doc_has_command(&d->options.hooks->trigger.command);
}

static enum err open_engine(struct daemon *d, struct why *why)
{
	struct pump_config c = { .engine = { .slots = d->options.slots,
					     .catch_up_per_second = d->options.catch_up_per_second,
					     .documents_first = d->options.documents_first,
					     .has_hook = has_trigger_hook(d) },
				 .store = d->store,
				 .ops = d->store->ops,
				 .runner = d->runner,
				 .prepare = d->prepare,
				 .ctx = d,
				 .hook_ended = attempts_hook_ended,
				 .result = attempts_result,
				 .replied = commands_replied,
				 .answered = store_requests_answered };
	intern_tables(d->intern, &c.engine);
	enum err e = pump_new(&c, &d->pump);
	if (e)
		return e;
	pump_subscribe(d->pump, recompile_happened, d);
	pump_subscribe(d->pump, attempts_happened, d);
	pump_subscribe(d->pump, makers_happened, d);
	pump_subscribe(d->pump, problems_happened, d->problems);
	return loop_new(&(struct loop_config){ .pump = d->pump,
					       .store_fd = d->store->ops->fd(d->store),
					       .stop_fd = d->options.stop_fd,
					       .runner = d->runner,
					       .mail = d->mail,
					       .launcher = d->options.launcher,
					       .ctx = d,
					       .zones_changed = zones_changed,
					       .after_turn = health_after_turn,
					       .stopping = stopping },
			&d->loop, why);
}

/* To be called before other threads can use the daemon: otherwise a thread could give a new name a number
 * that the store has already given to another name. */
static enum err load_engine(struct daemon *d, struct why *why)
{
	enum err e = load_agents(d, why);
	if (!e)
		e = open_engine(d, why);
	if (!e)
		shared_take_numbers(d);
	if (!e)
		e = pump_load(d->pump, loop_now(), load_item, d);
	if (e == E_IO && d->store->ops->failure(d->store, NULL, NULL, why) == OK)
		why_write(why, WHY_NOWHERE, "the store in %s cannot be read", d->options.data);
	if (!e)
		e = intern_number_default_zone(d->intern);
	if (e == E_LIMIT || e == E_BUSY)
		e = OK; /* `rota doctor` reports the schedules that are outdated then */
	if (!e)
		shared_number_names(d);
	if (!e)
		e = shared_open_key(d, why);
	if (!e && (d->restore_text[0] || d->restore_problem_open))
		e = mailbox_put(d->mail, restore_report, d);
	return e ? e : mailbox_put(d->mail, recompile_all, d);
}

/* --- open and close --- */

static enum err open_retention(struct daemon *d, struct why *why)
{
	const struct daemon_options *o = &d->options;
	return retention_open(&(struct retention_options){ .daemon = d,
							   .runs_days = o->retention.runs_days,
							   .events_days = o->retention.events_days,
							   .logs_days = o->retention.logs_days,
							   .logs_bytes = o->retention.logs_bytes,
							   .every = o->retention.every },
			      &d->retention, why);
}

static enum err open_notifier(struct daemon *d, struct why *why)
{
	const struct daemon_options *o = &d->options;
	return notifier_open(&(struct notifier_options){ .daemon = d,
							 .dir = d->notify_dir,
							 .launcher = o->launcher,
							 .owner = d->owner,
							 .out = o->out,
							 .pass_env = o->pass_env,
							 .config = o->notify,
							 .events = o->events },
			     &d->notifier, why);
}

enum err daemon_open(const struct daemon_options *o, struct daemon **ret, struct why *why)
{
	struct daemon *d = calloc(1, sizeof *d);
	if (!d)
		return E_NOMEM;
	d->options = *o;
	d->lock = -1;
	d->runs_dir = datadir_path(o->data, "runs");
	d->notify_dir = datadir_path(o->data, "notify");
	signal(SIGPIPE, SIG_IGN);
	/* Processes of runs whose shim and launcher were killed become children of this process, and stay
	 * recognizable (exec/lineage.h); the kernel collects them. */
	signal(SIGCHLD, SIG_IGN);
	d->subreaper_since = clock_boot();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	enum err e = d->runs_dir && d->notify_dir ? open_parts(d, why) : E_NOMEM;
	if (!e)
		e = load_engine(d, why);
	if (!e)
		e = open_retention(d, why);
	if (!e)
		e = open_notifier(d, why);
	if (e) {
		daemon_close(d);
		return e;
	}
	pump_subscribe(d->pump, notifier_happened, d->notifier);
	pump_subscribe_log(d->pump, notifier_logged, d->notifier);
	makers_check(d);
	*ret = d;
	return OK;
}

/* Frees the daemon's own mail that came after the loop had stopped. */
static void drop_mail(struct daemon *d)
{
	mail_fn *fn;
	void *arg;
	while (d->mail && mailbox_pop(d->mail, &fn, &arg)) {
		if (fn == commands_take)
			free(arg);
		else if (fn == store_requests_take)
			store_requests_free(arg);
		else if (fn == attempts_take)
			prepare_task_free(arg);
		else if (fn == create_hooks_take)
			create_hooks_free(arg);
	}
}

void daemon_close(struct daemon *d)
{
	if (!d)
		return;
	if (d->mail)
		mailbox_close(d->mail);
	notifier_close(d->notifier);
	retention_close(d->retention);
	prepare_close(d->prepare);
	drop_mail(d);
	problems_free(d->problems);
	loop_free(d->loop);
	store_close(d->store);
	pump_free(d->pump);
	runner_close(d->runner);
	mailbox_free(d->mail);
	intern_free(d->intern);
	commands_free_all(d->pending);
	commands_free_all(d->busy);
	while (d->sent) {
		struct store_request *s = d->sent;
		d->sent = s->next;
		store_requests_free(s);
	}
	while (d->creates) {
		struct create_hook *h = d->creates;
		d->creates = h->next;
		create_hooks_free(h);
	}
	buf_free(&d->cgroup);
	if (d->lock >= 0)
		close(d->lock);
	free(d->runs_dir);
	free(d->notify_dir);
	free(d);
}

void daemon_subscribe_log(struct daemon *d, pump_log_fn *fn, void *ctx)
{
	pump_subscribe_log(d->pump, fn, ctx);
}

enum err daemon_run(struct daemon *d, struct why *why)
{
	enum err e = loop_run(d->loop, why);
	mailbox_close(d->mail); /* no thread waits for room in it any more */
	return e;
}

/* --- called by other threads --- */

struct intern *daemon_intern(struct daemon *d)
{
	return d->intern;
}

enum err daemon_reader(struct daemon *d, struct reader **ret, struct why *why)
{
	return d->store->ops->reader(d->store, ret, why);
}

struct lineage_place daemon_lineage_place(const struct daemon *d)
{
	return (struct lineage_place){ .runs = d->runs_dir,
				       .notify = d->notify_dir,
				       .cgroup = d->cgroup.n ? d->cgroup.p : NULL,
				       .owner = d->owner,
				       .since = d->subreaper_since };
}

const char *daemon_runs_dir(const struct daemon *d)
{
	return d->runs_dir;
}

const struct token_key *daemon_token_key(const struct daemon *d)
{
	return &d->token_key;
}

void daemon_documents_applied(struct daemon *d)
{
	loop_event(d->loop, &(struct event){ .kind = EV_DOCUMENTS });
}

const struct engine *daemon_engine(const struct daemon *d)
{
	return pump_engine(d->pump);
}

const char *daemon_out_program(const struct daemon *d)
{
	return d->options.out.program;
}

enum err daemon_notify_config(struct daemon *d, struct reader *r, struct arena *a, struct config_notify *ret,
			      const char **origin, struct why *why)
{
	return notifier_config(r, d->options.notify, a, ret, origin, why);
}
