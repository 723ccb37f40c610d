/* ST_PUT, ST_DROP and ST_SOURCE: schedules and their documents. */
#include "store/sqlite/write/operations.h"

/* Whether another schedule that is not removed has the id that the request gives to this one. */
static int id_is_taken(struct operation *o, bool *ret)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_ID_TAKEN];
	*ret = false;
	if (!o->r->id.p)
		return SQLITE_OK;
	DB_BIND(s, o->r->sid);
	return db_first_number(s, db_bind_text(s, 2, o->r->id), ret, NULL);
}

/* Whether the schedule's leader has an end that was not known when the request was decided. */
static int leader_has_ended(struct operation *o, bool *ret)
{
	uint64_t last = 0;
	int rc = o->r->ends_known ? operation_last_end(o, o->sched.row.after, &last) : SQLITE_OK;
	*ret = last > o->r->row.seen;
	return rc;
}

/* Ends the open range of the schedule, if the request says so. */
static int close_range(struct operation *o)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_RANGE_OPEN];
	if (!o->r->close_range)
		return SQLITE_OK;
	DB_BIND(s, o->r->sid);
	int rc = sqlite3_step(s);
	int64_t row = sqlite3_column_int64(s, 0), first = sqlite3_column_int64(s, 1);
	sqlite3_reset(s);
	if (rc != SQLITE_ROW)
		return db_looked(rc);
	return first > o->r->at.us ? OP_RUN(o, SQL_RANGE_REMOVE, row)
				   : OP_RUN(o, SQL_RANGE_SET_LAST, row, o->r->at.us);
}

/* Binds the parameters `at` and `at` + 1; without a source both stay NULL. */
static int bind_source(sqlite3_stmt *s, int at, const struct source_row *source)
{
	int rc = db_bind_text(s, at, source->from);
	return rc == SQLITE_OK && source->from.p ? sqlite3_bind_int64(s, at + 1, source->line) : rc;
}

/* A text that the request does not give stays as it is in the store. */
static int put_document(struct operation *o)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_DOCUMENT_PUT];
	DB_BIND(s, o->r->sid);
	int rc = DB_BIND_TEXTS(s, 2, o->r->id, o->r->document);
	if (rc == SQLITE_OK)
		rc = bind_source(s, 4, &o->r->source);
	if (rc == SQLITE_OK)
		rc = db_bind_text(s, 6, o->r->note);
	return db_step_bound(s, rc);
}

/* The row after the put: the request's row, with the fields that stay from the stored one. */
static struct sched_row put_row(const struct st_req *r, const struct sched_record *old)
{
	struct sched_row row = r->row;
	row.sid = r->sid;
	row.rev = r->rev + 1;
	row.part = r->part;
	row.failures = old->found && !r->clear_failures ? old->row.failures : 0;
	if (!old->found)
		return row;
	row.pruned_to = old->row.pruned_to;
	if (r->keep_next) {
		row.next = old->row.next;
		row.high = old->row.high;
		row.left = old->row.left;
		row.owed = old->row.owed;
		row.owed_since = old->row.owed_since;
		row.seen = old->row.seen;
		row.next_set_at = old->row.next_set_at;
	}
	row.high = later(row.high, row.pruned_to);
	return row;
}

/* `may`: whether the request may be carried out; if not, sets its answer. */
static int judge_put(struct operation *o, bool new, bool *may)
{
	const struct st_req *r = o->r;
	bool bad = false;
	int64_t last_sid = 0;
	*may = false;
	if (!new &&operation_judge(o) != ST_OK)
		return operation_answer(o, operation_judge(o));
	int rc = leader_has_ended(o, &bad);
	if (rc != SQLITE_OK || bad)
		return rc != SQLITE_OK ? rc : operation_answer(o, ST_STALE);
	rc = new ? operation_has_row(o, SQL_SID_LAST, &bad, &last_sid) : SQLITE_OK;
	if (rc != SQLITE_OK || (new && r->sid <= (uint64_t)last_sid))
		return rc != SQLITE_OK ? rc : operation_answer(o, ST_REFUSED);
	rc = id_is_taken(o, &bad);
	if (rc != SQLITE_OK || bad)
		return rc != SQLITE_OK ? rc : operation_answer(o, ST_REFUSED);
	*may = true;
	return SQLITE_OK;
}

/* Whether the schedule with the sid of the request was made by an earlier copy of this request. The id shows
 * it: nothing else identifies the request that made a schedule. */
static int made_by_this(struct operation *o, bool *ret)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_ID_IS];
	DB_BIND(s, o->r->sid);
	return db_first_number(s, db_bind_text(s, 2, o->r->id), ret, NULL);
}

/* `may`: whether the request is still to be carried out; if not, sets its answer: it was carried out before,
 * or another request has used its sid. */
static int judge_repeated(struct operation *o, bool *may)
{
	const struct st_req *r = o->r;
	const struct sched_record *s = &o->sched;
	bool same = s->found && s->row.rev == r->rev + 1 && s->put_at.us == r->at.us;
	int rc = same && !r->rev ? made_by_this(o, &same) : SQLITE_OK;
	*may = rc == SQLITE_OK && !same && (r->rev || !s->found);
	return rc != SQLITE_OK || *may ? rc : operation_answer(o, same ? ST_OK : ST_COLLISION);
}

static int log_schedule(struct operation *o, enum event_type type)
{
	const struct sched_row *row = &o->sched.row;
	return operation_log(o, type,
			     &(struct event_row){ .sid = row->sid, .rev = row->rev, .first = row->next });
}

int write_schedule(struct operation *o)
{
	const struct st_req *r = o->r;
	struct sched_record *s = &o->sched;
	bool new = !s->found && r->rev == 0, may;
	uint64_t leader = s->found ? s->row.after : 0;
	if (!is_number(r->sid) || r->rev == UINT32_MAX)
		return operation_answer(o, ST_REFUSED);
	int rc = judge_repeated(o, &may);
	if (rc == SQLITE_OK && may)
		rc = judge_put(o, new, &may);
	if (rc != SQLITE_OK || !may)
		return rc;

	s->row = put_row(r, s);
	s->put_at = r->at;
	s->found = true;
	if (new || s->row.after != leader)
		rc = operation_last_end(o, s->row.after, &s->row.seen);
	if (rc != SQLITE_OK)
		return rc;
	operation_number_used(o, NUMBER_SCHED, r->sid);
	sched_bind(o->sql->stmt[SQL_SCHED_PUT], s);
	rc = db_step(o->sql->stmt[SQL_SCHED_PUT]);
	if (rc == SQLITE_OK && !new && r->document.p)
		rc = OP_RUN(o, SQL_VERSION_ADD, r->sid, r->rev, r->at.us);
	if (rc == SQLITE_OK)
		rc = put_document(o);
	if (rc == SQLITE_OK)
		rc = close_range(o);
	return rc == SQLITE_OK ? log_schedule(o, new ? EVENT_SCHEDULE_CREATED : EVENT_SCHEDULE_UPDATED) : rc;
}

int write_drop(struct operation *o)
{
	if (o->sched.found && o->sched.dropped)
		return operation_answer(o, ST_OK); /* repeated */
	if (operation_judge(o) != ST_OK)
		return operation_answer(o, operation_judge(o));
	o->sched.dropped = true;
	int rc = OP_RUN(o, SQL_SCHED_DROP, o->r->sid, o->r->at.us);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_DOCUMENT_DROP, o->r->sid);
	if (rc == SQLITE_OK)
		rc = close_range(o);
	return rc == SQLITE_OK ? log_schedule(o, EVENT_SCHEDULE_DELETED) : rc;
}

int write_source(struct operation *o)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_SOURCE];
	if (!o->sched.found || o->sched.dropped || !o->r->source.from.p)
		return operation_answer(o, ST_REFUSED);
	DB_BIND(s, o->r->sid);
	return db_step_bound(s, bind_source(s, 2, &o->r->source));
}
