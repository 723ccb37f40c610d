#include "store/sqlite/write/operations.h"
#include "store/sqlite/db.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/write/agent.h"
#include "store/sqlite/write/memory.h"
#include "store/sqlite/write/message.h"
#include "store/sqlite/write/problem.h"

/* One request under way. An operation works on `sched` and `run` as they were read, writes what it changed,
 * and leaves them as they are now. */
struct task {
	struct sql_set *sql;
	const struct st_req *r;
	struct st_ack *ack;
	struct sched_record sched;
	struct run_row run; /* operations on runs only */
};

static int answer(struct task *t, enum st_res res)
{
	t->ack->res = (uint8_t)res;
	return SQLITE_OK;
}

/* Numbers of schedules and runs: 0 means none, and SQLite's integers have a sign. */
static bool is_number(uint64_t n)
{
	return n > 0 && n <= INT64_MAX;
}

static struct wall earlier(struct wall a, struct wall b)
{
	return a.us < b.us ? a : b;
}

static struct wall later(struct wall a, struct wall b)
{
	return a.us > b.us ? a : b;
}

/* --- statements --- */

#define BIND(t, which, ...) DB_BIND((t)->sql->stmt[which], __VA_ARGS__)

static int step(struct task *t, enum sql which)
{
	return db_step(t->sql->stmt[which]);
}

#define RUN(t, which, ...) (BIND(t, which, __VA_ARGS__), step(t, which))

/* Whether there is a row; its first column, if wanted. */
static int peek(struct task *t, enum sql which, bool *there, int64_t *ret)
{
	sqlite3_stmt *s = t->sql->stmt[which];
	int rc = sqlite3_step(s);
	*there = rc == SQLITE_ROW;
	if (*there && ret)
		*ret = sqlite3_column_int64(s, 0);
	sqlite3_reset(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int read_sched(struct task *t, uint64_t sid)
{
	sqlite3_stmt *s = t->sql->stmt[SQL_SCHED_GET];
	DB_BIND(s, sid);
	int rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		sched_read(s, 0, &t->sched);
	sqlite3_reset(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* By SQL_RUN_GET or SQL_RUN_AT, which has been bound. */
static int read_run(struct task *t, enum sql which, bool *there, struct run_row *ret)
{
	sqlite3_stmt *s = t->sql->stmt[which];
	int rc = sqlite3_step(s);
	*there = rc == SQLITE_ROW;
	if (*there)
		run_read(s, 0, ret);
	sqlite3_reset(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Those of the schedule's columns that runs change. */
static int save_counts(struct task *t)
{
	const struct sched_row *s = &t->sched.row;
	return RUN(t, SQL_SCHED_SET, s->sid, s->next.us, s->high.us, s->left, s->failures, s->owed,
		   s->owed_since.us, s->changed.us, s->seen, s->next_set_at.us);
}

/* --- what several operations share --- */

/* ST_OK: the schedule is alive and at the rev this was decided by. */
static enum st_res judge(const struct task *t)
{
	if (!t->sched.there || t->sched.dropped)
		return ST_REFUSED;
	return t->sched.row.rev == t->r->rev ? ST_OK : ST_STALE;
}

/* The same for what moves the schedule past `nominal`, or a follower past an end. */
static enum st_res judge_move(const struct task *t, struct wall nominal)
{
	const struct sched_row *s = &t->sched.row;
	enum st_res res = judge(t);
	bool behind = s->after ? t->r->move.seen <= s->seen : nominal.us <= later(s->high, s->pruned_to).us;
	return res == ST_OK && t->r->moves && behind ? ST_STALE : res;
}

static int move(struct task *t)
{
	const struct row_move *m = &t->r->move;
	struct sched_row *s = &t->sched.row;
	if (!t->r->moves)
		return SQLITE_OK;
	s->next = m->next;
	s->high = later(m->high, s->pruned_to);
	s->left = m->left;
	s->owed = m->owed;
	s->owed_since = m->owed_since;
	s->seen = m->seen;
	s->next_set_at = (struct wall){ 0 };
	return save_counts(t);
}

static int close_range(struct task *t)
{
	sqlite3_stmt *s = t->sql->stmt[SQL_RANGE_OPEN];
	if (!t->r->close_range)
		return SQLITE_OK;
	DB_BIND(s, t->r->sid);
	int rc = sqlite3_step(s);
	int64_t row = sqlite3_column_int64(s, 0), first = sqlite3_column_int64(s, 1);
	sqlite3_reset(s);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	return first > t->r->at.us ? RUN(t, SQL_RANGE_REMOVE, row) : RUN(t, SQL_RANGE_END, row, t->r->at.us);
}

/* The number of the last end of all. */
static int last_end(struct task *t, uint64_t *ret)
{
	bool there;
	int64_t n = 0;
	int rc = peek(t, SQL_END_LAST, &there, &n);
	if (rc == SQLITE_OK && !there)
		return SQLITE_CORRUPT; /* the schema puts it there, and nothing removes it */
	*ret = (uint64_t)n;
	return rc;
}

static int give_end(struct task *t, uint64_t end)
{
	t->ack->end = end;
	return RUN(t, SQL_END_GIVE, end);
}

/* What was recorded just now is news, if somebody wants to know. */
static int add_news(struct task *t, uint64_t run)
{
	return news_add(t->sql, t->r, t->sched.row.sid, run, 0);
}

/* --- schedules --- */

/* Another living schedule has the id that this one is to have. */
static int id_taken(struct task *t, bool *ret)
{
	sqlite3_stmt *s = t->sql->stmt[SQL_ID_TAKEN];
	*ret = false;
	if (!t->r->id.p)
		return SQLITE_OK;
	DB_BIND(s, t->r->sid);
	int rc = db_bind_text(s, 2, t->r->id);
	if (rc == SQLITE_OK)
		rc = peek(t, SQL_ID_TAKEN, ret, NULL);
	sqlite3_clear_bindings(s);
	return rc;
}

/* The schedule that this one follows has ended since it was decided. */
static int is_overtaken(struct task *t, bool *ret)
{
	*ret = false;
	if (!t->r->ends_known)
		return SQLITE_OK;
	BIND(t, SQL_END_BEYOND, t->sched.row.after, t->r->row.seen);
	return peek(t, SQL_END_BEYOND, ret, NULL);
}

static int bind_source(sqlite3_stmt *s, int at, const struct source_row *source)
{
	int rc = db_bind_text(s, at, source->from);
	return rc == SQLITE_OK && source->from.p ? sqlite3_bind_int64(s, at + 1, source->line) : rc;
}

/* Without a text, what is stored stays. */
static int put_document(struct task *t)
{
	sqlite3_stmt *s = t->sql->stmt[SQL_DOCUMENT_PUT];
	DB_BIND(s, t->r->sid);
	int rc = db_bind_text(s, 2, t->r->id);
	if (rc == SQLITE_OK)
		rc = db_bind_text(s, 3, t->r->document);
	if (rc == SQLITE_OK)
		rc = bind_source(s, 4, &t->r->source);
	if (rc == SQLITE_OK)
		rc = db_bind_text(s, 6, t->r->note);
	if (rc == SQLITE_OK)
		rc = db_step(s);
	sqlite3_clear_bindings(s); /* the texts are about to go */
	return rc;
}

static struct sched_row put_row(const struct st_req *r, const struct sched_record *old)
{
	struct sched_row row = r->row;
	row.sid = r->sid;
	row.rev = r->rev + 1;
	if (!old->there)
		return row;
	row.pruned_to = old->row.pruned_to;
	if (r->keep_next) {
		row.next = old->row.next;
		row.high = old->row.high;
		row.left = old->row.left;
		row.failures = old->row.failures;
		row.owed = old->row.owed;
		row.owed_since = old->row.owed_since;
		row.seen = old->row.seen;
		row.next_set_at = old->row.next_set_at;
	}
	row.high = later(row.high, row.pruned_to);
	return row;
}

static int op_put(struct task *t)
{
	const struct st_req *r = t->r;
	struct sched_record *s = &t->sched;
	if (!is_number(r->sid) || r->rev == UINT32_MAX)
		return answer(t, ST_REFUSED);
	if (s->there && s->row.rev == r->rev + 1 && s->put_at.us == r->at.us)
		return answer(t, ST_OK); /* mine */
	bool fresh = !s->there && r->rev == 0, taken;
	if (!fresh && judge(t) != ST_OK)
		return answer(t, judge(t));
	int rc = is_overtaken(t, &taken);
	if (rc != SQLITE_OK || taken)
		return rc != SQLITE_OK ? rc : answer(t, ST_STALE);
	int64_t used = 0;
	rc = fresh ? peek(t, SQL_SID_LAST, &taken, &used) : SQLITE_OK;
	if (rc != SQLITE_OK || (fresh && r->sid <= (uint64_t)used))
		return rc != SQLITE_OK ? rc : answer(t, ST_REFUSED);
	rc = id_taken(t, &taken);
	if (rc != SQLITE_OK || taken)
		return rc != SQLITE_OK ? rc : answer(t, ST_REFUSED);

	s->row = put_row(r, s);
	s->put_at = r->at;
	s->there = true;
	sched_bind(t->sql->stmt[SQL_SCHED_PUT], s);
	rc = step(t, SQL_SCHED_PUT);
	if (rc == SQLITE_OK && !fresh && r->document.p)
		rc = RUN(t, SQL_DOCUMENT_KEEP, r->sid, r->rev, r->at.us);
	if (rc == SQLITE_OK)
		rc = put_document(t);
	if (rc == SQLITE_OK)
		rc = close_range(t);
	return rc;
}

static int op_drop(struct task *t)
{
	if (t->sched.there && t->sched.dropped)
		return answer(t, ST_OK); /* mine */
	if (judge(t) != ST_OK)
		return answer(t, judge(t));
	t->sched.dropped = true;
	int rc = RUN(t, SQL_SCHED_DROP, t->r->sid, t->r->at.us);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_DOCUMENT_DROP, t->r->sid);
	return rc == SQLITE_OK ? close_range(t) : rc;
}

static int op_source(struct task *t)
{
	sqlite3_stmt *s = t->sql->stmt[SQL_SOURCE];
	if (!t->sched.there || t->sched.dropped || !t->r->source.from.p)
		return answer(t, ST_REFUSED);
	DB_BIND(s, t->r->sid);
	int rc = bind_source(s, 2, &t->r->source);
	if (rc == SQLITE_OK)
		rc = db_step(s);
	sqlite3_clear_bindings(s);
	return rc;
}

/* --- occurrences --- */

static int add_run(struct task *t, struct run_row run, bool *added)
{
	int rc = SQLITE_OK;
	run.end = 0;
	if (run.state == RUN_FINISHED) {
		rc = last_end(t, &run.end);
		run.end++;
	}
	if (rc != SQLITE_OK)
		return rc;
	run_bind(t->sql->stmt[SQL_RUN_ADD], &run);
	rc = step(t, SQL_RUN_ADD);
	*added = rc == SQLITE_OK && sqlite3_changes(t->sql->db) == 1;
	return *added && run.end ? give_end(t, run.end) : rc;
}

/* The record `old` becomes the new run. */
static int take_over(struct task *t, const struct run_row *old)
{
	struct run_row run = t->r->run;
	bool added = false;
	run.replaced = (uint8_t)(old->state + 1);
	int rc = step(t, SQL_RUNS_REMEMBER);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_RUN_REMOVE, old->run);
	if (rc == SQLITE_OK)
		rc = add_run(t, run, &added);
	if (rc == SQLITE_OK && !added)
		rc = SQLITE_CONSTRAINT;
	if (rc == SQLITE_OK)
		rc = add_news(t, run.run);
	return rc == SQLITE_OK ? move(t) : rc;
}

/* At or below the pruning mark nothing is claimed any more, whether or not there is a record left. Ends come
 * once: what keeps a follower from them is another mark. */
static bool is_pruned(const struct task *t)
{
	const struct sched_row *s = &t->sched.row;
	return t->r->run.kind != KIND_MANUAL && !s->after && t->r->run.nominal.us <= s->pruned_to.us;
}

/* Nothing was inserted: because it is there already, or because of `res`, or because the occurrence is, or
 * was. */
static int not_added(struct task *t, enum st_res res)
{
	const struct run_row *run = &t->r->run;
	struct run_row old;
	bool there;
	BIND(t, SQL_RUN_GET, run->run);
	int rc = read_run(t, SQL_RUN_GET, &there, &old);
	if (rc == SQLITE_OK && there && run->state == RUN_FINISHED)
		t->ack->end = old.end;
	if (rc != SQLITE_OK || there || res != ST_OK)
		return rc != SQLITE_OK ? rc : answer(t, there ? ST_OK : res);

	BIND(t, SQL_RUN_AT, run->sid, run->nominal.us);
	rc = read_run(t, SQL_RUN_AT, &there, &old);
	if (rc != SQLITE_OK || (!there && !is_pruned(t)))
		return rc != SQLITE_OK ? rc : SQLITE_CONSTRAINT;
	bool idle = there && (old.state == RUN_SKIPPED || old.state == RUN_MISSED);
	if (run->kind == KIND_BACKFILL && idle && !is_pruned(t))
		return take_over(t, &old);
	if (there)
		t->ack->existing = old;
	return answer(t, ST_LOST);
}

/* The common case first: one look at the schedule, an insert, an update. That the run is there already is
 * asked only when it could not be inserted, which comes to the same as asking first. */
static int op_occ(struct task *t)
{
	const struct run_row *run = &t->r->run;
	if (!is_number(run->run) || run->sid != t->r->sid)
		return answer(t, ST_REFUSED);
	enum st_res res = judge_move(t, run->nominal);
	bool added = false;
	int rc = res == ST_OK && !is_pruned(t) ? add_run(t, *run, &added) : SQLITE_OK;
	if (rc == SQLITE_OK && added)
		rc = add_news(t, run->run);
	if (rc != SQLITE_OK)
		return rc;
	return added ? move(t) : not_added(t, res);
}

/* Prolongs the record that ends where the schedule stands, or adds one. */
static int put_range(struct task *t)
{
	const struct range_row *g = &t->r->range;
	struct wall high = t->sched.row.high;
	bool there = false;
	int64_t row = 0;
	int rc = SQLITE_OK;
	if (g->last.us != INT64_MAX && high.us != INT64_MAX && g->first.us > high.us) {
		BIND(t, SQL_RANGE_ENDING, g->sid, high.us, g->state, g->reason);
		rc = peek(t, SQL_RANGE_ENDING, &there, &row);
	}
	if (rc != SQLITE_OK)
		return rc;
	return there ? RUN(t, SQL_RANGE_END, row, g->last.us)
		     : RUN(t, SQL_RANGE_ADD, g->sid, g->first.us, g->last.us, g->state, g->reason);
}

static int op_range(struct task *t)
{
	const struct range_row *g = &t->r->range;
	bool there, is_gap = g->state == RUN_SKIPPED || g->state == RUN_MISSED;
	if (g->sid != t->r->sid || !is_gap || g->first.us > g->last.us)
		return answer(t, ST_REFUSED);
	if (t->sched.dropped)
		return answer(t, ST_REFUSED); /* even what is covered */
	BIND(t, SQL_RANGE_COVERS, g->sid, g->first.us, g->last.us, g->state, g->reason);
	int rc = peek(t, SQL_RANGE_COVERS, &there, NULL);
	if (rc != SQLITE_OK || there)
		return rc != SQLITE_OK ? rc : answer(t, ST_OK); /* mine */
	enum st_res res = judge_move(t, g->first);
	if (res != ST_OK)
		return answer(t, res);
	if (g->last.us == INT64_MAX) {
		BIND(t, SQL_RANGE_OPEN, g->sid);
		rc = peek(t, SQL_RANGE_OPEN, &there, NULL);
		if (rc != SQLITE_OK || there)
			return rc != SQLITE_OK ? rc : answer(t, ST_REFUSED);
	}
	rc = put_range(t);
	if (rc == SQLITE_OK)
		rc = add_news(t, 0);
	return rc == SQLITE_OK ? move(t) : rc;
}

static int withdraw_records(struct task *t)
{
	int64_t sid = (int64_t)t->r->sid, at = t->r->at.us;
	int rc = step(t, SQL_RUNS_REMEMBER);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_RUNS_WITHDRAW, sid, at, t->sched.row.after != 0);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_RANGES_WITHDRAW, sid, at);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_RANGES_CUT, sid, at);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_RANGE_OPEN_FROM, sid, t->r->move.next.us);
	return rc;
}

static int op_withdraw(struct task *t)
{
	struct sched_row *s = &t->sched.row;
	if (judge(t) != ST_OK)
		return answer(t, judge(t));
	int rc = withdraw_records(t);
	s->high = s->pruned_to;
	s->next = t->r->move.next;
	s->changed = earlier(s->changed, t->r->at);
	s->next_set_at = (struct wall){ 0 };
	return rc == SQLITE_OK ? save_counts(t) : rc;
}

/* --- runs --- */

static int op_verdict(struct task *t)
{
	const struct run_row *want = &t->r->run, *run = &t->run;
	if (want->state != RUN_CLAIMED && want->state != RUN_SKIPPED && want->state != RUN_MISSED)
		return answer(t, ST_REFUSED);
	if (run->state == want->state && run->reason == want->reason)
		return answer(t, ST_OK); /* mine */
	if (run->state != RUN_PENDING && (run->state != RUN_CLAIMED || run->attempt != 0))
		return answer(t, ST_LOST);
	int rc = RUN(t, SQL_RUN_VERDICT, run->run, want->state, want->reason);
	return rc == SQLITE_OK ? add_news(t, run->run) : rc;
}

/* Comes late, at times: it never takes back a later attempt, nor begins one of a run that is over. */
static int op_started(struct task *t)
{
	const struct run_row *want = &t->r->run, *run = &t->run;
	bool waits = run->state == RUN_CLAIMED || run->state == RUN_RETRYING;
	if (!waits || want->attempt < run->attempt)
		return answer(t, ST_OK);
	int rc = RUN(t, SQL_RUN_STARTED, run->run, want->attempt, want->started.us);
	return rc == SQLITE_OK && want->attempt > run->attempt ? add_news(t, run->run) : rc;
}

static bool same_end(const struct run_row *a, const struct run_row *b)
{
	return a->attempt == b->attempt && a->state == b->state && a->outcome == b->outcome &&
	       a->reason == b->reason && a->uncounted == b->uncounted && a->ended.us == b->ended.us &&
	       a->retry_at.us == b->retry_at.us && a->cost == b->cost && a->tokens_in == b->tokens_in &&
	       a->tokens_out == b->tokens_out && a->exit_code == b->exit_code;
}

static int count_avoided(struct task *t)
{
	int rc = RUN(t, SQL_AVOIDED, 0, AVOIDED_EVER);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_AVOIDED, 0, avoided_since(t->r->run.ended));
	return rc == SQLITE_OK ? RUN(t, SQL_AVOIDED, t->run.sid, AVOIDED_EVER) : rc;
}

static int op_finish(struct task *t)
{
	const struct run_row *end = &t->r->run, *run = &t->run;
	if (end->state != RUN_FINISHED && end->state != RUN_RETRYING)
		return answer(t, ST_REFUSED);
	if (same_end(run, end)) {
		t->ack->end = run->end;
		return answer(t, ST_OK); /* mine */
	}
	if (run->state >= RUN_FINISHED || run->attempt > end->attempt)
		return answer(t, ST_LOST);
	bool last = end->state == RUN_FINISHED;
	uint64_t number = 0;
	int rc = last ? last_end(t, &number) : SQLITE_OK;
	if (rc == SQLITE_OK && last)
		rc = give_end(t, ++number);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_RUN_FINISH, run->run, end->attempt, end->state, end->outcome, end->reason,
			 end->ended.us, end->retry_at.us, end->cost, end->tokens_in, end->tokens_out,
			 end->uncounted, number, end->exit_code);
	if (rc == SQLITE_OK && t->r->avoided)
		rc = count_avoided(t);
	if (rc == SQLITE_OK)
		rc = add_news(t, run->run);
	/* Most ends change no count: that saves rewriting the row. */
	if (rc != SQLITE_OK || !last || t->sched.row.failures == t->r->failures)
		return rc;
	t->sched.row.failures = t->r->failures;
	return save_counts(t);
}

/* --- holds --- */

static int op_hold(struct task *t)
{
	const struct hold_row *h = &t->r->hold;
	sqlite3_stmt *s = t->sql->stmt[SQL_HOLD_PUT];
	if (!h->reason)
		return RUN(t, SQL_HOLD_REMOVE, h->key);
	DB_BIND(s, h->key, h->reason, h->until.us);
	int rc = db_bind_text(s, 4, t->r->note);
	if (rc == SQLITE_OK)
		rc = db_step(s);
	sqlite3_clear_bindings(s);
	return rc;
}

/* --- problems --- */

static int op_problem(struct task *t)
{
	return problem_carry_out(t->sql, t->r, t->ack);
}

/* --- notes --- */

static int op_memory(struct task *t)
{
	return memory_carry_out(t->sql, t->r, t->ack);
}

/* --- notices --- */

static int op_tell(struct task *t)
{
	return tell_carry_out(t->sql, t->r, t->ack);
}

static int op_tried(struct task *t)
{
	return tried_carry_out(t->sql, t->r, t->ack);
}

/* --- names --- */

static int op_name(struct task *t)
{
	const struct name_row *n = &t->r->name;
	sqlite3_stmt *get = t->sql->stmt[SQL_NAME_GET], *put = t->sql->stmt[SQL_NAME_PUT];
	if (!n->text.p || n->text.n > STORE_PROBLEM_BYTES_MAX)
		return answer(t, ST_REFUSED);
	DB_BIND(get, n->kind, n->number);
	int rc = db_bind_text(get, 3, n->text);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(get);
	bool there = rc == SQLITE_ROW, same = there && sqlite3_column_int(get, 0);
	sqlite3_reset(get);
	sqlite3_clear_bindings(get);
	if (there)
		return answer(t, same ? ST_OK : ST_LOST);
	if (rc != SQLITE_DONE)
		return rc;
	DB_BIND(put, n->kind, n->number);
	rc = db_bind_text(put, 3, n->text);
	if (rc == SQLITE_OK)
		rc = db_step(put);
	sqlite3_clear_bindings(put);
	return rc;
}

/* --- words --- */

static int op_words(struct task *t)
{
	const struct run_text_row *w = &t->r->run_text;
	sqlite3_stmt *put = t->sql->stmt[SQL_WORDS_PUT];
	bool there;
	BIND(t, SQL_RUN_GET, w->run);
	int rc = read_run(t, SQL_RUN_GET, &there, &t->run);
	if (rc != SQLITE_OK || !there || w->kind >= RUN_TEXT_KINDS || w->text.n > STORE_RUN_TEXT_BYTES_MAX)
		return rc != SQLITE_OK ? rc : answer(t, ST_REFUSED);
	if (!w->text.n)
		return RUN(t, SQL_WORDS_REMOVE, w->run, w->kind);
	DB_BIND(put, w->run, w->kind);
	rc = db_bind_text(put, 3, w->text);
	if (rc == SQLITE_OK)
		rc = db_step(put);
	sqlite3_clear_bindings(put);
	return rc;
}

/* --- what agents know --- */

static int op_state(struct task *t)
{
	const struct state_row *q = &t->r->state;
	sqlite3_stmt *get = t->sql->stmt[SQL_STATE_GET], *put = t->sql->stmt[SQL_STATE_PUT];
	if (!q->key.p || !q->text.p || q->rev == UINT32_MAX || q->key.n > STORE_PROBLEM_BYTES_MAX)
		return answer(t, ST_REFUSED);
	int rc = db_bind_text(get, 1, q->key);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(get);
	bool there = rc == SQLITE_ROW;
	uint32_t rev = there ? (uint32_t)sqlite3_column_int64(get, 0) : 0;
	bool mine = there && rev == q->rev + 1 && sqlite3_column_int64(get, 1) == t->r->at.us;
	sqlite3_reset(get);
	sqlite3_clear_bindings(get);
	if (!there && rc != SQLITE_DONE)
		return rc;
	t->ack->count = rev;
	if (mine || rev != q->rev)
		return answer(t, mine ? ST_OK : ST_STALE);
	t->ack->count = rev + 1;
	rc = db_bind_text(put, 1, q->key);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(put, 2, rev + 1);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(put, 3, t->r->at.us);
	if (rc == SQLITE_OK)
		rc = db_bind_text(put, 4, q->text);
	if (rc == SQLITE_OK)
		rc = db_step(put);
	sqlite3_clear_bindings(put);
	return rc;
}

static int op_agent(struct task *t)
{
	return agent_carry_out(t->sql, t->r, t->ack);
}

/* --- what is old --- */

static int prune_runs(struct task *t)
{
	const struct prune_request *p = &t->r->prune;
	int64_t most = p->end < INT64_MAX ? (int64_t)p->end : INT64_MAX;
	int rc = step(t, SQL_RUNS_REMEMBER);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_PRUNE_KEPT, p->first, p->last, t->r->at.us, most);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_PRUNE_RUNS, p->first, p->last, t->r->at.us, most);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_PRUNE_AVOIDED, wall_seconds(t->r->at));
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_PRUNE_WORDS, p->first, p->last);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_PRUNE_NOTICES, p->first, p->last);
	return rc == SQLITE_OK ? RUN(t, SQL_PRUNE_LOOSE, t->r->at.us) : rc;
}

static int prune_ranges(struct task *t)
{
	int64_t at = t->r->at.us < INT64_MAX ? t->r->at.us : INT64_MAX - 1; /* never an open one */
	int rc = RUN(t, SQL_PRUNE_RANGES_KEPT, t->r->sid, at);
	if (rc == SQLITE_OK)
		rc = RUN(t, SQL_PRUNE_RANGES, t->r->sid, at);
	return rc == SQLITE_OK ? read_sched(t, t->r->sid) : rc;
}

static int prune_version(struct task *t)
{
	return RUN(t, SQL_PRUNE_VERSION, t->r->sid, t->r->rev, t->r->at.us);
}

static int prune_sched(struct task *t)
{
	static const enum sql also[] = { SQL_PRUNE_SCHED_DOCUMENT, SQL_PRUNE_SCHED_VERSIONS,
					 SQL_PRUNE_SCHED_RANGES, SQL_PRUNE_SCHED_AVOIDED, SQL_SID_REMEMBER };
	int rc = RUN(t, SQL_PRUNE_SCHED, t->r->sid, t->r->at.us);
	bool gone = rc == SQLITE_OK && sqlite3_changes(t->sql->db) == 1;
	for (unsigned i = 0; i < ARRAY_LEN(also) && gone && rc == SQLITE_OK; i++)
		rc = RUN(t, also[i], t->r->sid);
	return rc;
}

static int prune_problem(struct task *t)
{
	return RUN(t, SQL_PRUNE_PROBLEM, t->r->prune.first, t->r->at.us);
}

static int op_prune(struct task *t)
{
	static int (*const what[])(struct task *) = {
		[PRUNE_RUNS] = prune_runs,   [PRUNE_RANGES] = prune_ranges,   [PRUNE_VERSION] = prune_version,
		[PRUNE_SCHED] = prune_sched, [PRUNE_PROBLEM] = prune_problem,
	};
	static_assert(ARRAY_LEN(what) == PRUNES, "all of them are here");
	return t->r->prune.what < PRUNES ? what[t->r->prune.what](t) : answer(t, ST_REFUSED);
}

/* --- all of them --- */

enum about { ABOUT_NONE, ABOUT_SCHED, ABOUT_RUN };
static const struct {
	int (*carry_out)(struct task *t); /* the answer is ST_OK unless it says otherwise */
	enum about about;                 /* what is read before */
} ops[] = {
	[ST_PUT] = { op_put, ABOUT_SCHED },           [ST_DROP] = { op_drop, ABOUT_SCHED },
	[ST_OCC] = { op_occ, ABOUT_SCHED },           [ST_RANGE] = { op_range, ABOUT_SCHED },
	[ST_WITHDRAW] = { op_withdraw, ABOUT_SCHED }, [ST_VERDICT] = { op_verdict, ABOUT_RUN },
	[ST_STARTED] = { op_started, ABOUT_RUN },     [ST_FINISH] = { op_finish, ABOUT_RUN },
	[ST_HOLD] = { op_hold, ABOUT_NONE },          [ST_PROBLEM] = { op_problem, ABOUT_NONE },
	[ST_NAME] = { op_name, ABOUT_NONE },          [ST_SOURCE] = { op_source, ABOUT_SCHED },
	[ST_STATE] = { op_state, ABOUT_NONE },        [ST_RUN_TEXT] = { op_words, ABOUT_NONE },
	[ST_AGENT] = { op_agent, ABOUT_NONE },        [ST_MEMORY] = { op_memory, ABOUT_NONE },
	[ST_MESSAGES] = { op_tell, ABOUT_NONE },      [ST_DELIVERY] = { op_tried, ABOUT_NONE },
	[ST_PRUNE] = { op_prune, ABOUT_SCHED },
};
static_assert(ARRAY_LEN(ops) == ST_OPS, "every operation is here");

int ops_carry_out(struct sql_set *sql, const struct st_req *r, struct st_ack *ret)
{
	struct task t = { .sql = sql, .r = r, .ack = ret };
	enum about about = ops[r->op].about;
	bool there = true;
	int rc = SQLITE_OK;
	*ret = (struct st_ack){ .tag = r->tag, .op = r->op, .res = ST_OK, .run = r->run.run };
	if (about == ABOUT_RUN) {
		BIND(&t, SQL_RUN_GET, r->run.run);
		rc = read_run(&t, SQL_RUN_GET, &there, &t.run);
	}
	if (rc == SQLITE_OK && about != ABOUT_NONE)
		rc = read_sched(&t, about == ABOUT_RUN && there ? t.run.sid : r->sid);
	if (rc == SQLITE_OK)
		rc = there ? ops[r->op].carry_out(&t) : answer(&t, ST_REFUSED);
	ret->has_row = t.sched.there && !t.sched.dropped;
	if (ret->has_row)
		ret->row = t.sched.row;
	return rc;
}
