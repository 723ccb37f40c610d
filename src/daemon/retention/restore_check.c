#include "daemon/retention/restore_check.h"

#include "core/model.h"
#include "runfile/read.h"
#include "runfile/walk.h"
#include "store/sqlite/read/reader.h"
#include "sys/clock.h"

#include <poll.h>

/* --- runs that it knows --- */

/* The last attempt after `attempt` that was ever born, and when. */
static enum err last_attempt(const char *runs, uint64_t run, uint16_t *attempt, struct wall *born,
			     struct why *why)
{
	enum run_life life = LIFE_ALIVE;
	for (unsigned n = *attempt + 1u; n <= UINT16_MAX; n++) {
		struct runfile f = { 0 };
		enum err e = runfile_read(runs, run, n, &life, &f, why);
		if (e || life == LIFE_ABSENT || f.cause == CAUSE_PREVENTED)
			return e;
		*attempt = (uint16_t)n;
		*born = (struct wall){ f.started };
	}
	return OK;
}

static enum err carry_out(const struct restore_check_ask *ask, const struct st_req *q, struct why *why)
{
	struct pollfd p = { .fd = store_sqlite_ops.fd(ask->store), .events = POLLIN };
	struct st_ack ack;
	enum err e = store_sqlite_ops.submit(ask->store, q);
	while (!e && !store_sqlite_ops.collect(ask->store, &ack, 1)) {
		poll(&p, 1, 100);
		if (store_sqlite_trouble(ask->store, NULL, NULL, why))
			return E_IO;
	}
	return e;
}

static enum err bring_up(const struct restore_check_ask *ask, const struct run_row *run, struct why *why)
{
	struct st_req q = { .op = ST_VERDICT, .lane = LANE_USER, .sid = run->sid, .run = *run };
	enum err e = last_attempt(ask->runs, run->run, &q.run.attempt, &q.run.started, why);
	if (e || q.run.attempt == run->attempt)
		return e;
	if (run->state == RUN_PENDING) {
		q.run.state = RUN_CLAIMED;
		e = carry_out(ask, &q, why);
	}
	q.op = ST_STARTED;
	return e ? e : carry_out(ask, &q, why);
}

static enum err bring_up_all(const struct restore_check_ask *ask, struct why *why)
{
	struct reader *reader = NULL;
	struct arena arena = { 0 };
	struct read_filter f = { .states = 1 << RUN_PENDING | 1 << RUN_CLAIMED | 1 << RUN_RETRYING,
				 .limit = READ_LIST_MAX };
	struct read_runs found = { .more = true };
	enum err e = reader_open(ask->database, &reader, why);
	while (!e && found.more) {
		e = read_runs(reader, &f, &arena, &found, why);
		for (unsigned i = 0; !e && i < found.n; i++) {
			f.before.run = found.item[i].run;
			f.before.nominal = found.item[i].nominal;
			e = bring_up(ask, &found.item[i], why);
		}
	}
	reader_close(reader);
	arena_free(&arena);
	return e;
}

/* --- runs that it does not know --- */

struct strays {
	const struct restore_check_ask *ask;
	unsigned stopped;
};

/* Alive, or its shim is dead and what it began may not be: the runner sees to either. */
static bool stop(void *ctx, struct run_files *files)
{
	struct strays *s = ctx;
	for (unsigned i = 0; i < files->files; i++) {
		struct rn_req q = { .op = RN_KILL,
				    .run = files->run,
				    .attempt = (uint16_t)files->file[i].attempt,
				    .reason = REASON_RESTORED };
		enum run_life life = LIFE_ABSENT;
		struct runfile f = { 0 };
		struct why why;
		if (strcmp(files->file[i].kind, "run") != 0 ||
		    runfile_read(s->ask->runs, files->run, q.attempt, &life, &f, &why) ||
		    (life != LIFE_ALIVE && life != LIFE_DEAD))
			continue;
		if (runner_submit(s->ask->runner, &q) == OK)
			s->stopped += life == LIFE_ALIVE;
	}
	return true;
}

/* False: some are not over yet. */
static bool wait_for_ends(struct runner *runner)
{
	struct pollfd p = { .fd = runner_fd(runner), .events = POLLIN };
	int64_t end = clock_boot().us + STRAYS_WAIT_MS * INT64_C(1000);
	struct rn_report says[64]; /* nobody is there to be told */
	while (runner_busy(runner) && clock_boot().us < end) {
		poll(&p, 1, 100);
		while (runner_collect(runner, says, ARRAY_LEN(says)) > 0)
			continue;
	}
	while (runner_collect(runner, says, ARRAY_LEN(says)) > 0)
		continue;
	return !runner_busy(runner);
}

enum err restore_check_settle(const struct restore_check_ask *ask, unsigned *stopped, struct why *why)
{
	struct strays s = { .ask = ask };
	enum err e = bring_up_all(ask, why);
	if (!e)
		e = runfile_walk(ask->runs, ask->past->restored_run + 1, stop, &s, why);
	if (!e && wait_for_ends(ask->runner))
		e = copy_settled(ask->database, why);
	if (!e)
		*stopped = s.stopped;
	return e;
}
