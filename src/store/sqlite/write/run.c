/* ST_VERDICT, ST_STARTED, ST_FINISH and ST_RUN_TEXT: what happens to a run after it was recorded. */
#include "store/event_cause.h"
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
	int rc = OP_RUN(o, SQL_RUN_VERDICT, run->run, want->state, want->reason, want->node);
	if (rc == SQLITE_OK)
		rc = operation_add_news(o, o->sched.row.sid, run->run, 0);
	struct run_row logged = *run;
	logged.reason = want->reason;
	unsigned cause = want->state == RUN_CLAIMED   ? EVENT_SCHEDULE_TRIGGERED
			 : want->state == RUN_SKIPPED ? EVENT_SCHEDULE_SKIPPED
						      : EVENT_SCHEDULE_MISSED;
	return rc == SQLITE_OK ? operation_log_run(o, cause, &logged) : rc;
}

/* A late request changes nothing: it neither returns the run to an earlier attempt nor restarts a finished
 * run. */
int write_start(struct operation *o)
{
	const struct run_row *want = &o->r->run, *run = &o->run;
	bool may_start = run->state == RUN_CLAIMED || run->state == RUN_RETRYING;
	if (!may_start || want->attempt < run->attempt)
		return operation_answer(o, ST_OK);
	int rc = OP_RUN(o, SQL_RUN_STARTED, run->run, want->attempt, want->started.us, want->node);
	if (rc != SQLITE_OK || want->attempt == run->attempt)
		return rc;
	struct run_row logged = *run;
	logged.attempt = want->attempt;
	logged.outcome = 0;
	logged.reason = 0;
	rc = operation_add_news(o, o->sched.row.sid, run->run, 0);
	return rc == SQLITE_OK ? operation_log_run(o, EVENT_RUN_STARTED, &logged) : rc;
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
	int rc = SQLITE_OK;
	if (end->state == RUN_FINISHED) {
		rc = operation_last_end(o, o->run.sid, &number);
		o->ack->end = ++number;
	}
	if (rc == SQLITE_OK && end->state == RUN_FINISHED && o->r->result.n)
		rc = operation_set_run_text(o, o->run.run, RUN_TEXT_RESULT, o->r->result);
	if (rc != SQLITE_OK)
		return rc;
	return OP_RUN(o, SQL_RUN_FINISH, o->run.run, end->attempt, end->state, end->outcome, end->reason,
		      end->ended.us, end->retry_at.us, end->cost, end->tokens_in, end->tokens_out,
		      end->uncounted, number, end->exit_code, end->node);
}

/* Most ends leave the count as it is: then the schedule's row need not be written. */
static int change_failures(struct operation *o)
{
	uint32_t *failures = &o->sched.row.failures, before = *failures;
	if (o->r->failures == FAILURES_CLEAR)
		*failures = 0;
	else if (o->r->failures == FAILURES_GROW && before < UINT32_MAX)
		++*failures;
	return *failures == before ? SQLITE_OK : operation_save_counts(o);
}

static int log_end(struct operation *o)
{
	struct run_row logged = o->run;
	const struct run_row *end = &o->r->run;
	logged.attempt = end->attempt;
	logged.outcome = end->outcome;
	logged.reason = end->reason;
	return operation_log_run(o,
				 end->state == RUN_RETRYING ? EVENT_RUN_FAILED
				 : o->r->publishes          ? CAUSE_FINISHED_PUBLISHED
							    : CAUSE_FINISHED,
				 &logged);
}

int write_end(struct operation *o)
{
	const struct run_row *end = &o->r->run, *run = &o->run;
	if ((end->state != RUN_FINISHED && end->state != RUN_RETRYING) ||
	    o->r->failures >= FAILURES_CHANGES || o->r->result.n > STORE_RUN_TEXT_BYTES_MAX)
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
	if (rc == SQLITE_OK)
		rc = log_end(o);
	return rc == SQLITE_OK && end->state == RUN_FINISHED ? change_failures(o) : rc;
}

int operation_set_run_text(struct operation *o, uint64_t run, enum run_text_kind kind, struct str text)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_RUN_TEXT_PUT];
	if (!text.n)
		return OP_RUN(o, SQL_RUN_TEXT_REMOVE, run, kind);
	DB_BIND(s, run, kind);
	return db_step_bound(s, db_bind_text(s, 3, text));
}

int write_run_text(struct operation *o)
{
	const struct run_text_row *w = &o->r->run_text;
	bool found;
	OP_BIND(o, SQL_RUN_GET, w->run);
	int rc = operation_has_row(o, SQL_RUN_GET, &found, NULL);
	if (rc != SQLITE_OK || !found || w->kind >= RUN_TEXT_KINDS || w->text.n > STORE_RUN_TEXT_BYTES_MAX)
		return rc != SQLITE_OK ? rc : operation_answer(o, ST_REFUSED);
	return operation_set_run_text(o, w->run, (enum run_text_kind)w->kind, w->text);
}
