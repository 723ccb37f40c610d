/* The log of events: rows in the transaction of their cause, numbered in the order of the commits. There is
 * one writer, so the order of insertion is the order of the commits. */
#include "store/event_cause.h"
#include "store/sqlite/write/operations.h"

/* The number of the newest event that was ever logged. */
static int read_last_number(struct operation *o, uint64_t *ret)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_EVENT_LAST];
	int rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*ret = last_event_read(s);
	return db_looked(db_leave(s, rc));
}

int operation_log(struct operation *o, unsigned cause, const struct event_row *e)
{
	struct event_numbers *numbers = &o->sql->events;
	sqlite3_stmt *s = o->sql->stmt[SQL_EVENT_ADD];
	uint8_t type[EVENTS_OF_CAUSE_MAX];
	int rc = SQLITE_OK;
	if (o->sql->no_events)
		return SQLITE_OK;
	if (!numbers->known)
		rc = read_last_number(o, &numbers->last);
	if (rc != SQLITE_OK)
		return rc;
	numbers->known = true;
	DB_BIND(s, numbers->last + 1, cause, o->sql->now.us, e->sid, e->rev, e->run, e->attempt, e->reason,
		e->outcome, e->first.us, e->last.us, e->subject);
	/* Most events have no text: then the parameter stays NULL, and no binding must be cleared. */
	rc = e->text.p ? db_step_bound(s, db_bind_text(s, 13, e->text)) : db_step(s);
	numbers->last += event_cause_types(cause, type);
	o->ack->event = numbers->last;
	return rc;
}

int operation_log_run(struct operation *o, unsigned cause, const struct run_row *run)
{
	return operation_log(o, cause,
			     &(struct event_row){ .sid = run->sid,
						  .rev = run->rev,
						  .run = run->run,
						  .attempt = run->attempt,
						  .reason = run->reason,
						  .outcome = run->outcome,
						  .first = run->nominal });
}

int write_report(struct operation *o)
{
	const struct report_request *report = &o->r->report;
	bool is_report = report->type == EVENT_RUN_STEP || report->type == EVENT_RUN_NOTE ||
			 report->type == EVENT_RUN_GAVE_UP;
	if (!is_report || !report->text.p || report->text.n > STORE_EVENT_TEXT_MAX)
		return operation_answer(o, ST_REFUSED);
	int rc = OP_RUN(o, SQL_RUN_REPORTED, o->run.run, o->r->at.us);
	if (rc != SQLITE_OK || sqlite3_changes(o->sql->db) == 0)
		return rc; /* repeated */
	return operation_log(o, report->type,
			     &(struct event_row){ .sid = o->run.sid,
						  .rev = o->run.rev,
						  .run = o->run.run,
						  .attempt = o->r->run.attempt,
						  .first = o->run.nominal,
						  .text = report->text });
}

int operation_prune_events(struct operation *o)
{
	int64_t last = (int64_t)o->r->prune.last, young = INT64_MAX;
	bool found;
	uint64_t newest = 0;
	OP_BIND(o, SQL_EVENT_YOUNG, last, o->r->at.us);
	int rc = operation_has_row(o, SQL_EVENT_YOUNG, &found, &young);
	if (rc == SQLITE_OK)
		rc = read_last_number(o, &newest);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_EVENT_SAVE_LAST, (int64_t)newest);
	return rc == SQLITE_OK ? OP_RUN(o, SQL_PRUNE_EVENTS, last, found ? young : INT64_MAX) : rc;
}
