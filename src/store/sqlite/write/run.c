/* ST_VERDICT, ST_STARTED, ST_FINISH and ST_RUN_TEXT: what happens to a run after it was recorded. */
#include "store/sqlite/write/operations.h"

int write_verdict(struct operation *o)
{
	const struct run_row *want = &o->r->run, *run = &o->run;
	if (want->state != RUN_CLAIMED && want->state != RUN_SKIPPED && want->state != RUN_MISSED)
		return operation_answer(o, ST_REFUSED);
	if (run->state == want->state && run->reason == want->reason)
		return operation_answer(o, ST_OK); /* repeated */
	if (run->state != RUN_PENDING && (run->state != RUN_CLAIMED || run->attempt != 0))
		return operation_answer(o, ST_LOST);
	int rc = OP_RUN(o, SQL_RUN_VERDICT, run->run, want->state, want->reason);
	return rc == SQLITE_OK ? operation_add_news(o, o->sched.row.sid, run->run, 0) : rc;
}

/* A late request changes nothing: it neither returns the run to an earlier attempt nor restarts a finished
 * run. */
int write_start(struct operation *o)
{
	const struct run_row *want = &o->r->run, *run = &o->run;
	bool may_start = run->state == RUN_CLAIMED || run->state == RUN_RETRYING;
	if (!may_start || want->attempt < run->attempt)
		return operation_answer(o, ST_OK);
	int rc = OP_RUN(o, SQL_RUN_STARTED, run->run, want->attempt, want->started.us);
	return rc == SQLITE_OK && want->attempt > run->attempt
		       ? operation_add_news(o, o->sched.row.sid, run->run, 0)
		       : rc;
}

static bool is_same_end(const struct run_row *a, const struct run_row *b)
{
	return a->attempt == b->attempt && a->state == b->state && a->outcome == b->outcome &&
	       a->reason == b->reason && a->uncounted == b->uncounted && a->ended.us == b->ended.us &&
	       a->retry_at.us == b->retry_at.us && a->cost == b->cost && a->tokens_in == b->tokens_in &&
	       a->tokens_out == b->tokens_out && a->exit_code == b->exit_code;
}

static int count_avoided(struct operation *o)
{
	int rc = OP_RUN(o, SQL_AVOIDED_COUNT, 0, AVOIDED_EVER);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_AVOIDED_COUNT, 0, avoided_since(o->r->run.ended));
	return rc == SQLITE_OK ? OP_RUN(o, SQL_AVOIDED_COUNT, o->run.sid, AVOIDED_EVER) : rc;
}

static int save_end(struct operation *o)
{
	const struct run_row *end = &o->r->run;
	uint64_t number = 0;
	int rc = end->state == RUN_FINISHED ? operation_last_end(o, &number) : SQLITE_OK;
	if (rc == SQLITE_OK && end->state == RUN_FINISHED)
		rc = operation_set_last_end(o, ++number);
	if (rc != SQLITE_OK)
		return rc;
	return OP_RUN(o, SQL_RUN_FINISH, o->run.run, end->attempt, end->state, end->outcome, end->reason,
		      end->ended.us, end->retry_at.us, end->cost, end->tokens_in, end->tokens_out,
		      end->uncounted, number, end->exit_code);
}

int write_end(struct operation *o)
{
	const struct run_row *end = &o->r->run, *run = &o->run;
	if (end->state != RUN_FINISHED && end->state != RUN_RETRYING)
		return operation_answer(o, ST_REFUSED);
	if (is_same_end(run, end)) {
		o->ack->end = run->end;
		return operation_answer(o, ST_OK); /* repeated */
	}
	if (run->state >= RUN_FINISHED || run->attempt > end->attempt)
		return operation_answer(o, ST_LOST);
	int rc = save_end(o);
	if (rc == SQLITE_OK && o->r->avoided)
		rc = count_avoided(o);
	if (rc == SQLITE_OK)
		rc = operation_add_news(o, o->sched.row.sid, run->run, 0);
	/* Most ends leave the count of failures as it is: then the schedule's row need not be written. */
	if (rc != SQLITE_OK || end->state != RUN_FINISHED || o->sched.row.failures == o->r->failures)
		return rc;
	o->sched.row.failures = o->r->failures;
	return operation_save_counts(o);
}

int write_run_text(struct operation *o)
{
	const struct run_text_row *w = &o->r->run_text;
	sqlite3_stmt *s = o->sql->stmt[SQL_RUN_TEXT_PUT];
	bool found;
	OP_BIND(o, SQL_RUN_GET, w->run);
	int rc = operation_has_row(o, SQL_RUN_GET, &found, NULL);
	if (rc != SQLITE_OK || !found || w->kind >= RUN_TEXT_KINDS || w->text.n > STORE_RUN_TEXT_BYTES_MAX)
		return rc != SQLITE_OK ? rc : operation_answer(o, ST_REFUSED);
	if (!w->text.n)
		return OP_RUN(o, SQL_RUN_TEXT_REMOVE, w->run, w->kind);
	DB_BIND(s, w->run, w->kind);
	return db_step_bound(s, db_bind_text(s, 3, w->text));
}
