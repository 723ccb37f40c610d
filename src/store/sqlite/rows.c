/* Binds and reads rows, column by column in the order of the column lists in the header. */
#include "store/sqlite/rows.h"
#include "store/sqlite/db.h"

void sched_bind(sqlite3_stmt *st, const struct sched_record *s)
{
	const struct sched_row *r = &s->row;
	DB_BIND(st, r->sid, r->after, r->seen, r->rev, r->flags, r->left, r->failures, r->owed,
		r->owed_since.us, r->next.us, r->high.us, r->pruned_to.us, r->changed.us, r->paused_until.us,
		r->next_set_at.us, s->put_at.us);
	sqlite3_bind_null(st, SCHED_PARAMS - 1);
	int rc = sqlite3_bind_blob(st, SCHED_PARAMS, r->rules, STORE_RULES, SQLITE_STATIC);
	assert(rc == SQLITE_OK);
	(void)rc;
}

void run_bind(sqlite3_stmt *st, const struct run_row *r)
{
	DB_BIND(st, r->run, r->sid, r->rev, r->attempt, r->reason, r->kind, r->state, r->outcome,
		r->uncounted, r->replaced, r->missed, r->nominal.us, r->due.us, r->claimed.us, r->started.us,
		r->ended.us, r->retry_at.us, r->end, r->fence, r->cost, r->tokens_in, r->tokens_out,
		r->exit_code);
}

/* Reads one column after the other. */
struct column_reader {
	sqlite3_stmt *st;
	int at;
};

static int64_t next_number(struct column_reader *c)
{
	return sqlite3_column_int64(c->st, c->at++);
}

static struct wall next_time(struct column_reader *c)
{
	return (struct wall){ next_number(c) };
}

void sched_read(sqlite3_stmt *st, int at, struct sched_record *ret)
{
	struct column_reader c = { st, at };
	struct sched_row *r = &ret->row;
	ret->found = true;
	r->sid = (uint64_t)next_number(&c);
	r->after = (uint64_t)next_number(&c);
	r->seen = (uint64_t)next_number(&c);
	r->rev = (uint32_t)next_number(&c);
	r->flags = (uint32_t)next_number(&c);
	r->left = (uint32_t)next_number(&c);
	r->failures = (uint32_t)next_number(&c);
	r->owed = (uint32_t)next_number(&c);
	r->owed_since = next_time(&c);
	r->next = next_time(&c);
	r->high = next_time(&c);
	r->pruned_to = next_time(&c);
	r->changed = next_time(&c);
	r->paused_until = next_time(&c);
	r->next_set_at = next_time(&c);
	ret->put_at = next_time(&c);
	ret->dropped = sqlite3_column_type(st, c.at++) != SQLITE_NULL;
	const void *rules = sqlite3_column_blob(st, c.at);
	size_t n = (size_t)sqlite3_column_bytes(st, c.at);
	n = n < STORE_RULES ? n : STORE_RULES; /* an older version may have written fewer bytes */
	memset(r->rules, 0, STORE_RULES);
	if (n)
		memcpy(r->rules, rules, n);
}

void run_read(sqlite3_stmt *st, int at, struct run_row *ret)
{
	struct column_reader c = { st, at };
	ret->run = (uint64_t)next_number(&c);
	ret->sid = (uint64_t)next_number(&c);
	ret->rev = (uint32_t)next_number(&c);
	ret->attempt = (uint16_t)next_number(&c);
	ret->reason = (uint16_t)next_number(&c);
	ret->kind = (uint8_t)next_number(&c);
	ret->state = (uint8_t)next_number(&c);
	ret->outcome = (uint8_t)next_number(&c);
	ret->uncounted = (uint16_t)next_number(&c);
	ret->replaced = (uint8_t)next_number(&c);
	ret->missed = (uint32_t)next_number(&c);
	ret->nominal = next_time(&c);
	ret->due = next_time(&c);
	ret->claimed = next_time(&c);
	ret->started = next_time(&c);
	ret->ended = next_time(&c);
	ret->retry_at = next_time(&c);
	ret->end = (uint64_t)next_number(&c);
	ret->fence = (uint64_t)next_number(&c);
	ret->cost = next_number(&c);
	ret->tokens_in = next_number(&c);
	ret->tokens_out = next_number(&c);
	ret->exit_code = (int32_t)next_number(&c);
}

struct str text_read(sqlite3_stmt *st, int at)
{
	if (sqlite3_column_type(st, at) == SQLITE_NULL)
		return (struct str){ 0 };
	const char *p = (const char *)sqlite3_column_text(st, at);
	return (struct str){ p ? p : "", p ? (size_t)sqlite3_column_bytes(st, at) : 0 };
}

void problem_row_read(sqlite3_stmt *st, int at, struct problem_row *ret)
{
	struct column_reader c = { st, at };
	ret->number = (uint64_t)next_number(&c);
	ret->count = (uint32_t)next_number(&c);
	ret->opened = next_time(&c);
	ret->last_reported = next_time(&c);
	ret->acked = next_time(&c);
	ret->closed = next_time(&c);
	ret->key = text_read(st, c.at++);
	ret->subject = text_read(st, c.at++);
	ret->text = text_read(st, c.at++);
	ret->by = text_read(st, c.at++);
	ret->note = text_read(st, c.at);
}

void memory_row_read(sqlite3_stmt *st, int at, struct memory_row *ret)
{
	struct column_reader c = { st, at };
	ret->number = (uint64_t)next_number(&c);
	ret->run = (uint64_t)next_number(&c);
	ret->at = next_time(&c);
	ret->agent = text_read(st, c.at++);
	ret->text = text_read(st, c.at++);
	ret->tags = text_read(st, c.at);
}

void message_row_read(sqlite3_stmt *st, int at, struct message_row *ret)
{
	struct column_reader c = { st, at };
	ret->number = (uint64_t)next_number(&c);
	ret->kind = (uint8_t)next_number(&c);
	ret->state = (uint8_t)next_number(&c);
	ret->attempts = (uint32_t)next_number(&c);
	ret->sid = (uint64_t)next_number(&c);
	ret->run = (uint64_t)next_number(&c);
	ret->problem = (uint64_t)next_number(&c);
	ret->joined = (uint64_t)next_number(&c);
	ret->receiver = (uint64_t)next_number(&c);
	ret->at = next_time(&c);
	ret->tried_at = next_time(&c);
	ret->next = next_time(&c);
	ret->origin = text_read(st, c.at++);
	ret->target = text_read(st, c.at++);
	ret->body = text_read(st, c.at++);
	ret->result = text_read(st, c.at);
}
