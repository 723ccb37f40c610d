/* The engine drops a pending retry when the next occurrence is claimed, and records when. So the run that
 * took its place is the newest one that was claimed by then. */
#include "daemon/retry_drop.h"

#include "core/model.h"

/* True if a run like this drops the retries of older runs. Times that were refused when they were recorded,
 * and runs that a person asked for, do not. */
static bool drops_retries(const struct run_row *r)
{
	bool asked = r->reason == REASON_CONDITION || r->reason == REASON_BUDGET ||
		     r->reason == REASON_HOOK || r->reason == REASON_PAUSED ||
		     r->reason == REASON_WINDOW_CLOSED;
	bool refused = r->state == RUN_SKIPPED || r->state == RUN_MISSED;
	return r->kind != KIND_MANUAL && r->kind != KIND_BACKFILL && (!refused || asked);
}

uint64_t retry_superseded_by(struct reader *reader, const struct run_row *run)
{
	enum { NEWER_RUNS = 32 }; /* skipped times may lie between */
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct read_runs newer;
	struct why why;
	struct read_filter f = {
		.sid = run->sid, .since = { run->nominal.us + 1 }, .until = run->retry_at, .limit = NEWER_RUNS
	};
	if (run->state != RUN_FINISHED || !run->retry_at.us || read_runs(reader, &f, &arena, &newer, &why))
		return 0;
	for (unsigned i = 0; i < newer.n; i++) {
		const struct run_row *r = &newer.item[i];
		if (drops_retries(r) && r->claimed.us >= run->ended.us && r->claimed.us <= run->retry_at.us)
			return r->run;
	}
	return 0;
}
