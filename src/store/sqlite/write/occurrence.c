/* ST_OCC: records an occurrence, at most once. */
#include "store/event_cause.h"
#include "store/sqlite/write/operations.h"

static int insert_run(struct operation *o, struct run_row run, bool *added)
{
	int rc = SQLITE_OK;
	run.end = 0;
	if (run.state == RUN_FINISHED) {
		rc = operation_last_end(o, run.sid, &run.end);
		run.end++;
	}
	if (rc != SQLITE_OK)
		return rc;
	run_bind(o->sql->stmt[SQL_RUN_ADD], &run);
	rc = db_step(o->sql->stmt[SQL_RUN_ADD]);
	*added = rc == SQLITE_OK && sqlite3_changes(o->sql->db) == 1;
	if (*added) {
		o->ack->end = run.end;
		operation_number_used(o, NUMBER_RUN, run.run);
	}
	return rc;
}

/* Logs the events of the occurrence that was inserted. */
static int log_occurrence(struct operation *o)
{
	const struct run_row *run = &o->r->run;
	const unsigned cause[RUN_STATES] = {
		[RUN_PENDING] = EVENT_RUN_CLAIMED,
		[RUN_CLAIMED] = CAUSE_CLAIMED,
		[RUN_RETRYING] = EVENT_RUN_CLAIMED,
		[RUN_FINISHED] = o->r->publishes ? CAUSE_DONE_PUBLISHED : CAUSE_DONE,
		[RUN_SKIPPED] = EVENT_SCHEDULE_SKIPPED,
		[RUN_MISSED] = EVENT_SCHEDULE_MISSED,
	};
	return operation_log(o, cause[run->state],
			     &(struct event_row){ .sid = run->sid,
						  .rev = run->rev,
						  .run = run->run,
						  .attempt = run->attempt,
						  .reason = run->reason,
						  .outcome = run->outcome,
						  .first = run->nominal,
						  .last = run->due });
}

/* Adds what the inserted occurrence is reported by: a row of news, and events. */
static int report_occurrence(struct operation *o)
{
	int rc = operation_add_news(o, o->sched.row.sid, o->r->run.run, 0);
	return rc == SQLITE_OK ? log_occurrence(o) : rc;
}

/* A backfill replaces the record `old` of a skipped or missed occurrence. */
static int replace_record(struct operation *o, const struct run_row *old)
{
	struct run_row run = o->r->run;
	bool added = false;
	run.replaced = (uint8_t)(old->state + 1);
	int rc = db_step(o->sql->stmt[SQL_RUN_SAVE_LAST]);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_RUN_REMOVE, old->run);
	if (rc == SQLITE_OK)
		rc = insert_run(o, run, &added);
	if (rc == SQLITE_OK && !added)
		rc = SQLITE_CONSTRAINT;
	if (rc == SQLITE_OK)
		rc = report_occurrence(o);
	return rc == SQLITE_OK ? operation_move(o) : rc;
}

/* No occurrence at or before pruned_to is claimed, whether or not a record is left. This does not apply to
 * followers: each end comes once, and `seen` says which of them were acted on. */
static bool is_pruned(const struct operation *o)
{
	const struct sched_row *s = &o->sched.row;
	return o->r->run.kind != KIND_MANUAL && !s->after && o->r->run.nominal.us <= s->pruned_to.us;
}

/* Whether the run that has the request's number was recorded by this request. */
static bool is_same_record(const struct run_row *a, const struct run_row *b)
{
	return a->sid == b->sid && a->nominal.us == b->nominal.us && a->kind == b->kind &&
	       a->claimed.us == b->claimed.us && a->node == b->node;
}

/* Finds the answer after nothing was inserted: the number exists (a repeated request, or a collision), `res`
 * says why the request was not carried out, or the occurrence is recorded or pruned. */
static int answer_not_inserted(struct operation *o, enum st_res res)
{
	const struct run_row *run = &o->r->run;
	struct run_row old;
	bool found;
	OP_BIND(o, SQL_RUN_GET, run->run);
	int rc = operation_read_run(o, SQL_RUN_GET, &found, &old);
	if (rc == SQLITE_OK && found && !is_same_record(&old, run))
		return operation_answer(o, ST_COLLISION);
	if (rc == SQLITE_OK && found && run->state == RUN_FINISHED)
		o->ack->end = old.end;
	if (rc != SQLITE_OK || found || res != ST_OK)
		return rc != SQLITE_OK ? rc : operation_answer(o, found ? ST_OK : res);

	OP_BIND(o, SQL_RUN_AT, run->sid, run->nominal.us);
	rc = operation_read_run(o, SQL_RUN_AT, &found, &old);
	if (rc != SQLITE_OK || (!found && !is_pruned(o)))
		return rc != SQLITE_OK ? rc : SQLITE_CONSTRAINT;
	bool idle = found && (old.state == RUN_SKIPPED || old.state == RUN_MISSED);
	if (run->kind == KIND_BACKFILL && idle && !is_pruned(o))
		return replace_record(o, &old);
	if (found)
		o->ack->existing = old;
	return operation_answer(o, ST_LOST);
}

/* The common case takes three statements: read the schedule, insert the run, update the schedule. Whether the
 * run exists is checked only if it could not be inserted; the result is the same as with a check before the
 * insertion. */
int write_occurrence(struct operation *o)
{
	const struct run_row *run = &o->r->run;
	if (!is_number(run->run) || run->sid != o->r->sid)
		return operation_answer(o, ST_REFUSED);
	enum st_res res = operation_judge_move(o, run->nominal);
	bool added = false;
	int rc = res == ST_OK && !is_pruned(o) ? insert_run(o, *run, &added) : SQLITE_OK;
	if (rc == SQLITE_OK && added)
		rc = report_occurrence(o);
	if (rc != SQLITE_OK)
		return rc;
	return added ? operation_move(o) : answer_not_inserted(o, res);
}
