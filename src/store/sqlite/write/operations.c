/* The table of operations, and the functions that several of them share. */
#include "store/sqlite/write/operations.h"

int operation_answer(struct operation *o, enum st_res res)
{
	o->ack->res = (uint8_t)res;
	return SQLITE_OK;
}

/* --- statements --- */

int operation_has_row(struct operation *o, enum write_statement which, bool *found, int64_t *ret)
{
	return db_first_number(o->sql->stmt[which], SQLITE_OK, found, ret);
}

int operation_read_schedule(struct operation *o, uint64_t sid)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_SCHED_GET];
	DB_BIND(s, sid);
	int rc = sqlite3_step(s);
	if (rc == SQLITE_ROW && !sched_read(s, 0, &o->sched))
		rc = ROW_INVALID;
	return db_looked(db_leave(s, rc));
}

int operation_read_run(struct operation *o, enum write_statement which, bool *found, struct run_row *ret)
{
	sqlite3_stmt *s = o->sql->stmt[which];
	int rc = sqlite3_step(s);
	*found = rc == SQLITE_ROW;
	if (*found && !run_read(s, 0, ret))
		rc = ROW_INVALID;
	return db_looked(db_leave(s, rc));
}

int operation_save_counts(struct operation *o)
{
	const struct sched_row *s = &o->sched.row;
	return OP_RUN(o, SQL_SCHED_SET, s->sid, s->next.us, s->high.us, s->left, s->failures, s->owed,
		      s->owed_since.us, s->changed.us, s->seen, s->next_set_at.us);
}

/* --- the schedule of a request --- */

enum st_res operation_judge(const struct operation *o)
{
	if (!o->sched.found || o->sched.dropped)
		return ST_REFUSED;
	return o->sched.row.rev == o->r->rev ? ST_OK : ST_STALE;
}

enum st_res operation_judge_move(const struct operation *o, struct wall nominal)
{
	const struct sched_row *s = &o->sched.row;
	enum st_res res = operation_judge(o);
	bool behind = s->after ? o->r->move.seen <= s->seen : nominal.us <= later(s->high, s->pruned_to).us;
	return res == ST_OK && o->r->moves && behind ? ST_STALE : res;
}

int operation_move(struct operation *o)
{
	const struct row_move *m = &o->r->move;
	struct sched_row *s = &o->sched.row;
	if (!o->r->moves)
		return SQLITE_OK;
	s->next = m->next;
	s->high = later(m->high, s->pruned_to);
	s->left = m->left;
	s->owed = m->owed;
	s->owed_since = m->owed_since;
	s->seen = m->seen;
	s->next_set_at = (struct wall){ 0 };
	return operation_save_counts(o);
}

/* --- ends and news --- */

int operation_last_end(struct operation *o, uint64_t sid, uint64_t *ret)
{
	bool found;
	int64_t n = 0;
	OP_BIND(o, SQL_END_LAST, sid);
	int rc = operation_has_row(o, SQL_END_LAST, &found, &n);
	*ret = found ? (uint64_t)n : 0;
	return rc;
}

int operation_add_news(struct operation *o, uint64_t sid, uint64_t run, uint64_t problem)
{
	const struct st_req *r = o->r;
	bool range = r->op == ST_RANGE, attempt = r->op == ST_STARTED || r->op == ST_FINISH;
	if (!r->news)
		return SQLITE_OK;
	return OP_RUN(o, SQL_NEWS_ADD, r->news, attempt ? r->run.attempt : 0, sid, run, problem,
		      range ? r->range.first.us : 0, range ? r->range.last.us : 0);
}

/* --- the table --- */

enum reads { READS_NOTHING, READS_SCHEDULE, READS_RUN };
static const struct {
	int (*carry_out)(struct operation *o);
	enum reads reads; /* what is read before the operation; READS_RUN: the run and its schedule */
} operations[] = {
	[ST_PUT] = { write_schedule, READS_SCHEDULE },
	[ST_DROP] = { write_drop, READS_SCHEDULE },
	[ST_OCC] = { write_occurrence, READS_SCHEDULE },
	[ST_RANGE] = { write_range, READS_SCHEDULE },
	[ST_WITHDRAW] = { write_withdrawal, READS_SCHEDULE },
	[ST_VERDICT] = { write_verdict, READS_RUN },
	[ST_STARTED] = { write_start, READS_RUN },
	[ST_FINISH] = { write_end, READS_RUN },
	[ST_HOLD] = { write_hold, READS_NOTHING },
	[ST_PROBLEM] = { write_problem, READS_NOTHING },
	[ST_NAME] = { write_name, READS_NOTHING },
	[ST_SOURCE] = { write_source, READS_SCHEDULE },
	[ST_STATE] = { write_state, READS_NOTHING },
	[ST_RUN_TEXT] = { write_run_text, READS_NOTHING },
	[ST_AGENT] = { write_agent, READS_NOTHING },
	[ST_MEMORY] = { write_memory, READS_NOTHING },
	[ST_MESSAGES] = { write_messages, READS_NOTHING },
	[ST_DELIVERY] = { write_delivery, READS_NOTHING },
	[ST_REPORT] = { write_report, READS_RUN },
	[ST_PRUNE] = { write_prune, READS_SCHEDULE },
	[ST_NUMBERS] = { write_numbers, READS_NOTHING },
	[ST_TAKE] = { write_take, READS_NOTHING },
	[ST_KEY] = { write_key, READS_NOTHING },
};
static_assert(ARRAY_LEN(operations) == ST_OPS, "every operation is in the table");

int operation_carry_out(struct write_statements *sql, const struct st_req *r, struct st_ack *ret)
{
	struct operation o = { .sql = sql, .r = r, .ack = ret };
	enum reads reads = operations[r->op].reads;
	bool found = true, fenced = false;
	int rc = SQLITE_OK;
	*ret = (struct st_ack){ .tag = r->tag, .op = r->op, .res = ST_OK, .run = r->run.run };
	if (reads == READS_RUN) {
		OP_BIND(&o, SQL_RUN_GET, r->run.run);
		rc = operation_read_run(&o, SQL_RUN_GET, &found, &o.run);
	}
	if (rc == SQLITE_OK && reads != READS_NOTHING)
		rc = operation_read_schedule(&o, reads == READS_RUN && found ? o.run.sid : r->sid);
	if (rc == SQLITE_OK && OWNER_OPS >> r->op & 1)
		rc = operation_is_fenced(&o, &fenced);
	if (rc != SQLITE_OK || fenced)
		return rc != SQLITE_OK ? rc : operation_answer(&o, ST_FENCED);
	rc = found ? operations[r->op].carry_out(&o) : operation_answer(&o, ST_REFUSED);
	ret->has_row = o.sched.found && !o.sched.dropped;
	if (ret->has_row)
		ret->row = o.sched.row;
	return rc;
}
