/* ST_RANGE and ST_WITHDRAW: records ranges of occurrences that did not run, and withdraws such records. */
#include "store/sqlite/write/operations.h"

/* Extends the record with the same state and reason that ends at the schedule's `high`, or adds one. */
static int put_range(struct operation *o)
{
	const struct range_row *g = &o->r->range;
	struct wall high = o->sched.row.high;
	bool found = false;
	int64_t row = 0;
	int rc = SQLITE_OK;
	if (g->last.us != INT64_MAX && high.us != INT64_MAX && g->first.us > high.us) {
		OP_BIND(o, SQL_RANGE_ENDING, g->sid, high.us, g->state, g->reason);
		rc = operation_has_row(o, SQL_RANGE_ENDING, &found, &row);
	}
	if (rc != SQLITE_OK)
		return rc;
	return found ? OP_RUN(o, SQL_RANGE_SET_LAST, row, g->last.us)
		     : OP_RUN(o, SQL_RANGE_ADD, g->sid, g->first.us, g->last.us, g->state, g->reason);
}

static int log_range(struct operation *o)
{
	const struct range_row *g = &o->r->range;
	return operation_log(o,
			     o->r->expires            ? EVENT_SCHEDULE_EXPIRED
			     : g->state == RUN_MISSED ? EVENT_SCHEDULE_MISSED
						      : EVENT_SCHEDULE_SKIPPED,
			     &(struct event_row){ .sid = g->sid,
						  .rev = o->sched.row.rev,
						  .reason = g->reason,
						  .first = g->first,
						  .last = g->last });
}

int write_range(struct operation *o)
{
	const struct range_row *g = &o->r->range;
	bool found, idle = g->state == RUN_SKIPPED || g->state == RUN_MISSED;
	if (g->sid != o->r->sid || !idle || g->first.us > g->last.us)
		return operation_answer(o, ST_REFUSED);
	if (o->sched.dropped)
		return operation_answer(o, ST_REFUSED); /* even if another range covers it */
	OP_BIND(o, SQL_RANGE_COVERS, g->sid, g->first.us, g->last.us, g->state, g->reason);
	int rc = operation_has_row(o, SQL_RANGE_COVERS, &found, NULL);
	if (rc != SQLITE_OK || found)
		return rc != SQLITE_OK ? rc : operation_answer(o, ST_OK); /* repeated */
	enum st_res res = operation_judge_move(o, g->first);
	if (res != ST_OK)
		return operation_answer(o, res);
	if (g->last.us == INT64_MAX) {
		OP_BIND(o, SQL_RANGE_OPEN, g->sid);
		rc = operation_has_row(o, SQL_RANGE_OPEN, &found, NULL);
		if (rc != SQLITE_OK || found)
			return rc != SQLITE_OK ? rc : operation_answer(o, ST_REFUSED);
	}
	rc = put_range(o);
	if (rc == SQLITE_OK)
		rc = operation_add_news(o, o->sched.row.sid, 0, 0);
	if (rc == SQLITE_OK)
		rc = log_range(o);
	return rc == SQLITE_OK ? operation_move(o) : rc;
}

static int remove_records(struct operation *o)
{
	int64_t sid = (int64_t)o->r->sid, at = o->r->at.us;
	int rc = db_step(o->sql->stmt[SQL_RUN_SAVE_LAST]);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_RUNS_WITHDRAW, sid, at, o->sched.row.after != 0);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_RANGES_WITHDRAW, sid, at);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_RANGES_CUT, sid, at);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_RANGE_OPEN_SET_FIRST, sid, o->r->move.next.us);
	return rc;
}

int write_withdrawal(struct operation *o)
{
	struct sched_row *s = &o->sched.row;
	if (operation_judge(o) != ST_OK)
		return operation_answer(o, operation_judge(o));
	int rc = remove_records(o);
	s->high = s->pruned_to;
	s->next = o->r->move.next;
	s->changed = earlier(s->changed, o->r->at);
	s->next_set_at = (struct wall){ 0 };
	return rc == SQLITE_OK ? operation_save_counts(o) : rc;
}
