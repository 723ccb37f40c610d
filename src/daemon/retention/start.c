#include "daemon/internal.h"

#include "daemon/retention/restore_check.h"
#include "runfile/walk.h"
#include "sys/clock.h"

#include <stdlib.h>

static void pruned(void *ctx, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	(void)ack;
	retention_answered(d->retain);
}

static enum err send_prune(void *ctx, const struct st_req *r)
{
	return daemon_send(ctx, r, pruned, ctx);
}

static void tell_facts(void *arg)
{
	struct daemon *d = arg;
	const struct engine *e = pump_engine(d->pump);
	retention_facts(d->retain, !engine_clock_held(e), engine_acted_on(e));
}

static enum err ask_facts(void *ctx)
{
	return daemon_call(ctx, tell_facts, ctx);
}

enum err retention_start(struct daemon *d, struct why *why)
{
	int64_t every = d->options.kept.every;
	return retention_open(&(struct retention_options){ .database = d->database,
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
enum err restore_check(struct daemon *d, struct why *why)
{
	struct copy_ask ask = { .database = d->database, .now = clock_wall() };
	struct copy_past past;
	unsigned stopped = 0;
	char *file = datadir_path(d->options.data, "generation");
	ask.generation = file;
	enum err e = file ? runfile_last_run(d->runs, &ask.last_run, why) : E_NOMEM;
	if (!e)
		e = copy_open(&ask, &past, why);
	free(file);
	if (e || !past.strays)
		return e;
	e = restore_check_settle(&(struct restore_check_ask){ .database = d->database,
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
void restore_report(void *arg)
{
	struct daemon *d = arg;
	struct st_req r = { .op = ST_PROBLEM, .lane = LANE_FINISH, .at = clock_wall() };
	r.problem = (struct problem_change){ .act = d->restored[0] ? PROBLEM_OPEN : PROBLEM_CLOSE,
					     .key = STR("restored"),
					     .subject = STR("store"),
					     .text = str_of(d->restored) };
	r.news = (uint8_t)(1u << (d->restored[0] ? NEWS_OPENED : NEWS_CLOSED));
	if (!d->restored[0])
		r.problem.text = (struct str){ 0 };
	if (daemon_send(d, &r, NULL, NULL))
		return; /* it has been printed */
}

const char *daemon_restored(const struct daemon *d)
{
	return d->restored[0] ? d->restored : NULL;
}
