/* Checks at the start whether the database was restored from a copy, and if so brings runs and records into
 * agreement with the run files. */
#include "daemon/internal.h"

#include "core/model.h"
#include "port/read.h"
#include "runfile/read.h"
#include "runfile/walk.h"
#include "sys/clock.h"

#include <poll.h>

/* --- runs that are open in the database: they are advanced to their last attempt, which the engine then
 * adopts or finds ended --- */

struct last_attempt {
	const char *runs;
	uint64_t run;
	uint16_t attempt;
	struct wall started;
	enum err err;
	struct why *why;
};

/* Attempts before the last one may have no file, because their check found no work or failed, and some were
 * prevented from starting. */
static bool find_started(void *ctx, struct run_files *files)
{
	struct last_attempt *last = ctx;
	for (unsigned i = 0; i < files->files && files->run == last->run && !last->err; i++) {
		const struct run_file *file = &files->file[i];
		enum run_life life = LIFE_ABSENT;
		struct runfile f = { 0 };
		if (strcmp(file->kind, "run") != 0 || file->attempt & RUN_CHECK ||
		    file->attempt <= last->attempt)
			continue;
		last->err = runfile_read(last->runs, last->run, file->attempt, &life, &f, last->why);
		if (last->err || life == LIFE_ABSENT || f.cause == CAUSE_PREVENTED)
			continue;
		last->attempt = (uint16_t)file->attempt;
		last->started = (struct wall){ f.started };
	}
	return false; /* only the files of this run matter */
}

/* Finds the last attempt after run.attempt that was ever started, and when. */
static enum err find_last_attempt(const char *runs, struct run_row *run, struct why *why)
{
	struct last_attempt last = {
		.runs = runs, .run = run->run, .attempt = run->attempt, .started = run->started, .why = why
	};
	enum err e = runfile_walk(runs, run->run, find_started, &last, why);
	run->attempt = last.attempt;
	run->started = last.started;
	return e ? e : last.err;
}

static enum err store_and_wait(struct store *store, const struct st_req *q, struct why *why)
{
	struct pollfd p = { .fd = store->ops->fd(store), .events = POLLIN };
	struct st_ack ack;
	enum err e = store->ops->submit(store, q);
	while (!e && !store->ops->collect(store, &ack, 1)) {
		poll(&p, 1, 100);
		if (store->ops->failure(store, NULL, NULL, why))
			return E_IO;
	}
	return e;
}

static enum err advance_run(struct daemon *d, const struct run_row *run, struct why *why)
{
	struct st_req q = { .op = ST_VERDICT, .lane = LANE_USER, .sid = run->sid, .run = *run };
	enum err e = find_last_attempt(d->runs_dir, &q.run, why);
	if (e || q.run.attempt == run->attempt)
		return e;
	if (run->state == RUN_PENDING) {
		q.run.state = RUN_CLAIMED;
		e = store_and_wait(d->store, &q, why);
	}
	q.op = ST_STARTED;
	return e ? e : store_and_wait(d->store, &q, why);
}

static enum err advance_open_runs(struct daemon *d, struct why *why)
{
	struct reader *reader = NULL;
	struct arena arena = { 0 };
	struct read_filter f = { .states = 1 << RUN_PENDING | 1 << RUN_CLAIMED | 1 << RUN_RETRYING,
				 .limit = READ_LIST_MAX };
	struct read_runs found = { .more = true };
	enum err e = daemon_reader(d, &reader, why);
	while (!e && found.more) {
		e = read_runs(reader, &f, &arena, &found, why);
		for (unsigned i = 0; !e && i < found.n; i++) {
			f.before.run = found.item[i].run;
			f.before.nominal = found.item[i].nominal;
			e = advance_run(d, &found.item[i], why);
		}
	}
	reader_close(reader);
	arena_free(&arena);
	return e;
}

/* --- runs that are not in the database: they are killed, because their end could not be recorded --- */

struct unknown_runs {
	struct daemon *d;
	unsigned alive; /* number of runs that were alive when they were found */
};

static bool kill_unknown(void *ctx, struct run_files *files)
{
	struct unknown_runs *u = ctx;
	for (unsigned i = 0; i < files->files; i++) {
		struct rn_req q = { .op = RN_KILL,
				    .run = files->run,
				    .attempt = (uint16_t)files->file[i].attempt,
				    .reason = REASON_RESTORED };
		enum run_life life = LIFE_ABSENT;
		struct runfile f = { 0 };
		struct why why;
		/* Processes of the run may be alive even if its shim is dead: the runner kills those, too. */
		if (strcmp(files->file[i].kind, "run") != 0 ||
		    runfile_read(u->d->runs_dir, files->run, q.attempt, &life, &f, &why) ||
		    (life != LIFE_ALIVE && life != LIFE_DEAD))
			continue;
		if (runner_submit(u->d->runner, &q) == OK)
			u->alive += life == LIFE_ALIVE;
	}
	return true;
}

/* False: some runs have not ended after STRAYS_WAIT_MS. The runner continues to kill them, and so does the
 * next start. */
static bool wait_for_ends(struct runner *runner)
{
	struct pollfd p = { .fd = runner_fd(runner), .events = POLLIN };
	int64_t end = clock_boot().us + STRAYS_WAIT_MS * INT64_C(1000);
	struct rn_report says[64]; /* these reports are dropped, because there is no engine yet */
	while (runner_busy(runner) && clock_boot().us < end) {
		poll(&p, 1, 100);
		while (runner_collect(runner, says, ARRAY_LEN(says)) > 0)
			continue;
	}
	while (runner_collect(runner, says, ARRAY_LEN(says)) > 0)
		continue;
	return !runner_busy(runner);
}

static enum err settle_runs(struct daemon *d, uint64_t last_known, unsigned *killed, struct why *why)
{
	struct unknown_runs u = { .d = d };
	enum err e = advance_open_runs(d, why);
	if (!e)
		e = runfile_walk(d->runs_dir, last_known + 1, kill_unknown, &u, why);
	if (!e && wait_for_ends(d->runner))
		e = d->store->ops->clear_unknown_runs(d->store, why);
	*killed = u.alive;
	return e;
}

/* --- the check --- */

enum err restore_check(struct daemon *d, struct why *why)
{
	struct restore_state past = { 0 };
	uint64_t last_run = 0;
	unsigned killed = 0;
	enum err e = runfile_last_run(d->runs_dir, &last_run, why);
	if (!e)
		e = d->store->ops->count_opening(d->store, last_run, clock_wall(), &past, why);
	if (e || !past.unknown_runs)
		return e;
	e = settle_runs(d, past.restored_run, &killed, why);
	snprintf(d->restore_text, sizeof d->restore_text,
		 "the store was restored from a copy%s: due times since the copy are recorded as "
		 "missed/restored, and %u %s that the store does not know %s alive and stopped",
		 past.older ? " by hand" : "", killed, killed == 1 ? "run" : "runs",
		 killed == 1 ? "was" : "were");
	return e;
}

/* Opens a problem, which stays open until the next start. */
void restore_report(void *arg)
{
	struct daemon *d = arg;
	bool restored = d->restore_text[0] != '\0';
	struct st_req r = { .op = ST_PROBLEM, .lane = LANE_FINISH, .at = clock_wall() };
	r.problem = (struct problem_change){ .act = restored ? PROBLEM_OPEN : PROBLEM_CLOSE,
					     .key = STR("restored"),
					     .subject = STR("store") };
	if (restored)
		r.problem.text = str_of(d->restore_text);
	r.news = (uint8_t)(1u << (restored ? NEWS_OPENED : NEWS_CLOSED));
	if (daemon_send(d, &r, NULL, NULL))
		return; /* the text was printed at the start */
}

const char *daemon_restore_text(const struct daemon *d)
{
	return d->restore_text[0] ? d->restore_text : NULL;
}
