/* What happens to the store from outside: old records are pruned, and a backup is made and restored. */
#include "check/check.h"
#include "opinion/opinion.h"

static void prune(struct world *w, struct st_req q)
{
	struct st_ack a;
	q.op = ST_PRUNE;
	q.lane = LANE_BULK;
	model_apply(w->rows, &q, &a);
}

/* As the retention thread does it: runs first, since other records are kept as long as runs refer to them. */
void world_prune(struct world *w, struct wall by)
{
	if (!w->engine || engine_counts(w->engine).clock_held)
		return;
	world_log(w, "records up to %s are pruned", check_time_text(by));
	world_hash(w, (uint64_t)by.us);
	/* Ends on which a follower has not acted stay. */
	struct wall acted = engine_acted_until(w->engine);
	prune(w, (struct st_req){ .at = acted.us < by.us ? acted : by,
				  .prune = { .what = PRUNE_RUNS, .first = 1, .last = INT64_MAX } });
	for (size_t i = model_scheds(w->rows); i-- > 0;) {
		uint64_t sid = model_sched_at(w->rows, i)->row.sid;
		prune(w, (struct st_req){ .at = by, .sid = sid, .prune.what = PRUNE_RANGES });
		prune(w, (struct st_req){ .at = by, .sid = sid, .prune.what = PRUNE_SCHED });
	}
	opinion_pruned(w->opinion);
}

void world_back_up(struct world *w)
{
	world_log(w, "a backup is made");
	model_free(w->backup);
	w->backup = model_clone(w->rows);
	w->backup_t = w->t;
}

/* The last attempt that was ever started. Attempts before it may have no file, because their check found no
 * work or failed, and some were prevented from starting. */
static uint16_t last_attempt(const struct world *w, const struct run_row *r)
{
	uint16_t last = r->attempt;
	for (unsigned i = 0; i < w->files; i++) {
		const struct run_file *f = &w->file[i];
		bool started = f->state != FILE_PREVENTED && f->state != FILE_REQUESTED;
		if (f->request.run == r->run && started && f->request.attempt > last)
			last = f->request.attempt;
	}
	return last;
}

/* An open run of the backup is set to the last attempt that has a file. */
static void advance_runs(struct world *w)
{
	for (size_t i = 0; i < model_open_runs(w->rows); i++) {
		struct run_row r = *model_open_run_at(w->rows, i);
		uint16_t last = last_attempt(w, &r);
		if (last == r.attempt)
			continue;
		struct st_ack a;
		struct st_req q = { .op = ST_VERDICT, .sid = r.sid, .run = r };
		q.run.state = RUN_CLAIMED;
		if (r.state == RUN_PENDING)
			model_apply(w->rows, &q, &a);
		q.op = ST_STARTED;
		q.run.attempt = last;
		q.run.started = world_wall(w);
		model_apply(w->rows, &q, &a);
	}
}

void world_restore(struct world *w, int64_t down_for)
{
	if (!w->backup || !w->engine)
		return;
	world_crash(w, down_for);
	world_log(w, "the backup is restored");
	world_hash(w, 4);
	uint64_t last_run = w->rows->last_run, known = w->backup->last_run;
	model_free(w->rows);
	w->rows = w->backup;
	w->backup = NULL;
	model_mark_restored(w->rows, world_wall(w), last_run);
	sim_runner_restore(w, known);
	advance_runs(w);
	check_restored(w->check, w->backup_t);
	opinion_restored(w->opinion);
}
