/* Binds and reads rows, column by column in the order of the column lists in the header. */
#include "store/sqlite/rows.h"
#include "store/event_cause.h"
#include "store/sqlite/db.h"

#include <stdio.h>

void sched_bind(sqlite3_stmt *st, const struct sched_record *s)
{
	const struct sched_row *r = &s->row;
	DB_BIND(st, r->sid, r->after, r->seen, r->rev, r->flags, r->left, r->failures, r->owed,
		r->owed_since.us, r->next.us, r->high.us, r->pruned_to.us, r->changed.us, r->paused_until.us,
		r->next_set_at.us, s->put_at.us, r->part);
	sqlite3_bind_null(st, SCHED_PARAMS - 1);
	int rc = sqlite3_bind_blob(st, SCHED_PARAMS, r->rules, STORE_RULES, SQLITE_STATIC);
	assert(rc == SQLITE_OK);
	(void)rc;
}

void run_bind(sqlite3_stmt *st, const struct run_row *r)
{
	DB_BIND(st, r->run, r->sid, r->rev, r->attempt, r->reason, r->kind, r->state, r->outcome,
		r->uncounted, r->replaced, r->missed, r->nominal.us, r->due.us, r->claimed.us, r->started.us,
		r->ended.us, r->retry_at.us, r->retry, r->end, r->fence, r->node, r->cost, r->tokens_in,
		r->tokens_out, r->exit_code);
}

/* --- what a row may contain --- */

/* The numbers that a column may have; `never`: WALL_NEVER, too. */
struct column {
	const char *name;
	int64_t low, high;
	bool never;
};

#define ANY_ID  0, INT64_MAX, false
#define ANY_U32 0, UINT32_MAX, false
#define ANY_U16 0, UINT16_MAX, false
/* From the year 1 to the year 9999. */
#define ANY_TIME     INT64_C(-62135596800000000), INT64_C(253402300799999999), true
#define BELOW(count) 0, (count)-1, false
#define NUMBER(low)  low, INT64_MAX, false
/* The numbers of rows count on: those after the largest must be valid, too. */
#define ANY_KEY 1, INT64_C(3) << 61, false

static const struct column schedule_columns[] = {
	{ "sid", ANY_KEY },
	{ "after", ANY_ID },
	{ "seen", ANY_ID },
	{ "rev", ANY_U32 },
	{ "flags", ANY_U32 },
	{ "left", ANY_U32 },
	{ "failures", ANY_U32 },
	{ "owed", ANY_U32 },
	{ "owed_since", ANY_TIME },
	{ "next", ANY_TIME },
	{ "high", ANY_TIME },
	{ "pruned_to", ANY_TIME },
	{ "changed", ANY_TIME },
	{ "paused_until", ANY_TIME },
	{ "next_set_at", ANY_TIME },
	{ "put_at", ANY_TIME },
	{ "part", BELOW(STORE_PARTS_MAX) },
};

static const struct column run_columns[] = {
	{ "run", 1, (int64_t)RUN_NUMBERS_MAX - 1, false },
	{ "sid", NUMBER(1) },
	{ "rev", ANY_U32 },
	{ "attempt", ANY_U16 },
	{ "reason", BELOW(STORE_REASONS) },
	{ "kind", BELOW(RUN_KINDS) },
	{ "state", BELOW(RUN_STATES) },
	{ "outcome", BELOW(STORE_OUTCOMES) },
	{ "uncounted", ANY_U16 },
	{ "replaced", BELOW(RUN_STATES + 1) },
	{ "missed", ANY_U32 },
	{ "nominal", ANY_TIME },
	{ "due", ANY_TIME },
	{ "claimed", ANY_TIME },
	{ "started", ANY_TIME },
	{ "ended", ANY_TIME },
	{ "retry_at", ANY_TIME },
	{ "retry", ANY_ID },
	{ "end", ANY_ID },
	{ "fence", INT64_MIN, INT64_MAX, false },
	{ "node", ANY_U32 },
	{ "cost", NUMBER(-1) },
	{ "tokens_in", NUMBER(-1) },
	{ "tokens_out", NUMBER(-1) },
	{ "exit_code", INT32_MIN, INT32_MAX, false },
};

static const struct column problem_columns[] = {
	{ "number", ANY_KEY },         { "count", ANY_U32 },  { "opened", ANY_TIME },
	{ "last_reported", ANY_TIME }, { "acked", ANY_TIME }, { "closed", ANY_TIME },
};

static const struct column memory_columns[] = { { "number", ANY_KEY },
						{ "run", ANY_ID },
						{ "at", ANY_TIME } };

static const struct column message_columns[] = {
	{ "number", 1, (int64_t)RUN_NUMBERS_MAX - 1, false },
	{ "kind", 0, UINT8_MAX, false },
	{ "state", BELOW(MESSAGE_STATES) },
	{ "attempts", ANY_U32 },
	{ "sid", ANY_ID },
	{ "run", ANY_ID },
	{ "problem", ANY_ID },
	{ "joined", ANY_ID },
	{ "receiver", INT64_MIN, INT64_MAX, false },
	{ "at", ANY_TIME },
	{ "tried_at", ANY_TIME },
	{ "next", ANY_TIME },
};

static const struct column range_columns[] = {
	{ "sid", NUMBER(1) },
	{ "first", ANY_TIME },
	{ "last", ANY_TIME },
	{ "state", RUN_SKIPPED, RUN_MISSED, false },
	{ "reason", BELOW(STORE_REASONS) },
};

static const struct column hold_columns[] = { { "key", ANY_U32 },
					      { "reason", BELOW(STORE_REASONS) },
					      { "until", ANY_TIME },
					      { "set_back_from", ANY_TIME } };

static const struct column news_columns[] = {
	{ "number", ANY_KEY }, { "what", 0, UINT8_MAX, false }, { "attempt", ANY_U16 }, { "sid", ANY_ID },
	{ "run", ANY_ID },     { "problem", ANY_ID },           { "first", ANY_TIME },  { "last", ANY_TIME },
};

static const struct column part_columns[] = { { "part", BELOW(STORE_PARTS_MAX) },
					      { "epoch", ANY_ID },
					      { "node", ANY_U32 } };

static const struct column name_columns[] = { { "kind", 0, UINT8_MAX, false }, { "number", ANY_U32 } };

static const struct column event_columns[] = {
	{ "number", NUMBER(1) },
	{ "cause", BELOW(EVENT_CAUSES) },
	{ "at", ANY_TIME },
	{ "sid", ANY_ID },
	{ "rev", ANY_U32 },
	{ "run", ANY_ID },
	{ "attempt", ANY_U16 },
	{ "reason", BELOW(STORE_REASONS) },
	{ "outcome", BELOW(STORE_OUTCOMES) },
	{ "first", ANY_TIME },
	{ "last", ANY_TIME },
	{ "subject", ANY_ID },
};

#define TABLE(name)                                                                                          \
	{                                                                                                    \
#name, name##_columns, ARRAY_LEN(name##_columns)                                             \
	}
static const struct table {
	const char *name;
	const struct column *column;
	unsigned columns;
} tables[ROW_TABLES] = {
	[ROW_SCHEDULE] = TABLE(schedule), [ROW_RUN] = TABLE(run),         [ROW_PROBLEM] = TABLE(problem),
	[ROW_MEMORY] = TABLE(memory),     [ROW_MESSAGE] = TABLE(message), [ROW_RANGE] = TABLE(range),
	[ROW_HOLD] = TABLE(hold),         [ROW_NEWS] = TABLE(news),       [ROW_NAME] = TABLE(name),
	[ROW_PART] = TABLE(part),         [ROW_EVENT] = TABLE(event),
};

static _Thread_local char bad_row[160];

const char *row_error(void)
{
	return bad_row;
}

static bool is_valid(const struct column *c, int64_t value)
{
	return (value >= c->low && value <= c->high) || (c->never && value == INT64_MAX);
}

/* The numbers at the beginning of a row, each read once. */
struct numbers {
	int64_t value[ARRAY_LEN(run_columns)]; /* the table with the most */
	unsigned next;
	int column; /* the first column after them */
};

/* Tables are STRICT, so numbers are numbers. In a damaged file another value reads as a number, which must be
 * within bounds, too. */
static bool read_numbers(sqlite3_stmt *st, int at, enum row_table which, unsigned from, struct numbers *ret)
{
	const struct table *t = &tables[which];
	assert(t->columns <= ARRAY_LEN(ret->value));
	ret->next = 0;
	ret->column = at + (int)(t->columns - from);
	for (unsigned i = from; i < t->columns; i++, at++) {
		const struct column *c = &t->column[i];
		int64_t value = ret->value[i - from] = sqlite3_column_int64(st, at);
		if (is_valid(c, value))
			continue;
		snprintf(bad_row, sizeof bad_row,
			 "the row of %s with %s %lld is not valid: %s is %lld, and may be from %lld to %lld",
			 t->name, t->column[from].name, (long long)ret->value[0], c->name, (long long)value,
			 (long long)c->low, (long long)c->high);
		return false;
	}
	return true;
}

bool row_is_valid(sqlite3_stmt *st, int at, enum row_table which)
{
	return row_is_valid_from(st, at, which, 0);
}

bool row_is_valid_from(sqlite3_stmt *st, int at, enum row_table which, unsigned from)
{
	struct numbers n;
	return read_numbers(st, at, which, from, &n);
}

int rows_check_meta(sqlite3 *db, uint64_t last_run)
{
	/* `restored` is a time; the others are the last numbers of rows, or count on like those. The runner
	 * has numbers of runs and of messages. */
	static const char sql[] =
		"SELECT key, value, most FROM (SELECT key, CASE key WHEN 'last_run' THEN"
		" max(value, (SELECT ifnull(max(run), 0) FROM run)) ELSE value END AS value, CASE key WHEN "
		"'last_run'"
		" THEN ?1 WHEN 'restored' THEN 253402300799999999 ELSE 1 << 62 END AS most FROM meta"
		" UNION ALL SELECT 'the last number of ' || name, seq, CASE name WHEN 'message' THEN ?1 ELSE "
		"1 << 62 END"
		" FROM sqlite_sequence) WHERE value NOT BETWEEN 0 AND most";
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 1, (int64_t)last_run);
	if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		snprintf(bad_row, sizeof bad_row, "%.32s is not valid: it is %lld, and may be from 0 to %lld",
			 (const char *)sqlite3_column_text(s, 0), (long long)sqlite3_column_int64(s, 1),
			 (long long)sqlite3_column_int64(s, 2));
		rc = ROW_INVALID;
	}
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int rows_check_all(sqlite3 *db)
{
	int meta = rows_check_meta(db, RUN_BACKUP_MAX);
	if (meta != SQLITE_OK)
		return meta;
	for (unsigned i = 0; i < ROW_TABLES; i++) {
		char sql[512] = "SELECT ";
		sqlite3_stmt *s = NULL;
		for (unsigned k = 0; k < tables[i].columns; k++)
			snprintf(sql + strlen(sql), sizeof sql - strlen(sql), "%s\"%s\"", k ? ", " : "",
				 tables[i].column[k].name);
		snprintf(sql + strlen(sql), sizeof sql - strlen(sql), " FROM %s", tables[i].name);
		int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
		while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW)
			rc = row_is_valid(s, 0, (enum row_table)i) ? SQLITE_OK : ROW_INVALID;
		sqlite3_finalize(s);
		if (rc != SQLITE_DONE)
			return rc;
	}
	return SQLITE_OK;
}

/* --- reading --- */

static int64_t next_number(struct numbers *n)
{
	return n->value[n->next++];
}

static struct wall next_time(struct numbers *n)
{
	return (struct wall){ next_number(n) };
}

bool sched_read(sqlite3_stmt *st, int at, struct sched_record *ret)
{
	struct numbers n;
	if (!read_numbers(st, at, ROW_SCHEDULE, 0, &n))
		return false;
	struct sched_row *r = &ret->row;
	ret->found = true;
	r->sid = (uint64_t)next_number(&n);
	r->after = (uint64_t)next_number(&n);
	r->seen = (uint64_t)next_number(&n);
	r->rev = (uint32_t)next_number(&n);
	r->flags = (uint32_t)next_number(&n);
	r->left = (uint32_t)next_number(&n);
	r->failures = (uint32_t)next_number(&n);
	r->owed = (uint32_t)next_number(&n);
	r->owed_since = next_time(&n);
	r->next = next_time(&n);
	r->high = next_time(&n);
	r->pruned_to = next_time(&n);
	r->changed = next_time(&n);
	r->paused_until = next_time(&n);
	r->next_set_at = next_time(&n);
	ret->put_at = next_time(&n);
	r->part = (uint32_t)next_number(&n);
	ret->dropped = sqlite3_column_type(st, n.column++) != SQLITE_NULL;
	const void *rules = sqlite3_column_blob(st, n.column);
	size_t bytes = (size_t)sqlite3_column_bytes(st, n.column);
	bytes = bytes < STORE_RULES ? bytes : STORE_RULES; /* an older version may have written fewer */
	memset(r->rules, 0, STORE_RULES);
	if (bytes)
		memcpy(r->rules, rules, bytes);
	return true;
}

bool run_read(sqlite3_stmt *st, int at, struct run_row *ret)
{
	struct numbers n;
	if (!read_numbers(st, at, ROW_RUN, 0, &n))
		return false;
	ret->run = (uint64_t)next_number(&n);
	ret->sid = (uint64_t)next_number(&n);
	ret->rev = (uint32_t)next_number(&n);
	ret->attempt = (uint16_t)next_number(&n);
	ret->reason = (uint16_t)next_number(&n);
	ret->kind = (uint8_t)next_number(&n);
	ret->state = (uint8_t)next_number(&n);
	ret->outcome = (uint8_t)next_number(&n);
	ret->uncounted = (uint16_t)next_number(&n);
	ret->replaced = (uint8_t)next_number(&n);
	ret->missed = (uint32_t)next_number(&n);
	ret->nominal = next_time(&n);
	ret->due = next_time(&n);
	ret->claimed = next_time(&n);
	ret->started = next_time(&n);
	ret->ended = next_time(&n);
	ret->retry_at = next_time(&n);
	ret->retry = (uint64_t)next_number(&n);
	ret->end = (uint64_t)next_number(&n);
	ret->fence = (uint64_t)next_number(&n);
	ret->node = (uint32_t)next_number(&n);
	ret->cost = next_number(&n);
	ret->tokens_in = next_number(&n);
	ret->tokens_out = next_number(&n);
	ret->exit_code = (int32_t)next_number(&n);
	return true;
}

struct str text_read(sqlite3_stmt *st, int at)
{
	if (sqlite3_column_type(st, at) == SQLITE_NULL)
		return (struct str){ 0 };
	const char *p = (const char *)sqlite3_column_text(st, at);
	return (struct str){ p ? p : "", p ? (size_t)sqlite3_column_bytes(st, at) : 0 };
}

bool problem_row_read(sqlite3_stmt *st, int at, struct problem_row *ret)
{
	struct numbers n;
	if (!read_numbers(st, at, ROW_PROBLEM, 0, &n))
		return false;
	ret->number = (uint64_t)next_number(&n);
	ret->count = (uint32_t)next_number(&n);
	ret->opened = next_time(&n);
	ret->last_reported = next_time(&n);
	ret->acked = next_time(&n);
	ret->closed = next_time(&n);
	ret->key = text_read(st, n.column++);
	ret->subject = text_read(st, n.column++);
	ret->text = text_read(st, n.column++);
	ret->by = text_read(st, n.column++);
	ret->note = text_read(st, n.column);
	return true;
}

bool memory_row_read(sqlite3_stmt *st, int at, struct memory_row *ret)
{
	struct numbers n;
	if (!read_numbers(st, at, ROW_MEMORY, 0, &n))
		return false;
	ret->number = (uint64_t)next_number(&n);
	ret->run = (uint64_t)next_number(&n);
	ret->at = next_time(&n);
	ret->agent = text_read(st, n.column++);
	ret->text = text_read(st, n.column++);
	ret->tags = text_read(st, n.column);
	return true;
}

bool message_row_read(sqlite3_stmt *st, int at, struct message_row *ret)
{
	struct numbers n;
	if (!read_numbers(st, at, ROW_MESSAGE, 0, &n))
		return false;
	ret->number = (uint64_t)next_number(&n);
	ret->kind = (uint8_t)next_number(&n);
	ret->state = (uint8_t)next_number(&n);
	ret->attempts = (uint32_t)next_number(&n);
	ret->sid = (uint64_t)next_number(&n);
	ret->run = (uint64_t)next_number(&n);
	ret->problem = (uint64_t)next_number(&n);
	ret->joined = (uint64_t)next_number(&n);
	ret->receiver = (uint64_t)next_number(&n);
	ret->at = next_time(&n);
	ret->tried_at = next_time(&n);
	ret->next = next_time(&n);
	ret->origin = text_read(st, n.column++);
	ret->target = text_read(st, n.column++);
	ret->body = text_read(st, n.column++);
	ret->result = text_read(st, n.column);
	return true;
}

bool event_row_read(sqlite3_stmt *st, int at, struct event_row *ret, unsigned *cause)
{
	struct numbers n;
	if (!read_numbers(st, at, ROW_EVENT, 0, &n))
		return false;
	ret->number = (uint64_t)next_number(&n);
	*cause = (unsigned)next_number(&n);
	ret->at = next_time(&n);
	ret->sid = (uint64_t)next_number(&n);
	ret->rev = (uint32_t)next_number(&n);
	ret->run = (uint64_t)next_number(&n);
	ret->attempt = (uint16_t)next_number(&n);
	ret->reason = (uint16_t)next_number(&n);
	ret->outcome = (uint8_t)next_number(&n);
	ret->first = next_time(&n);
	ret->last = next_time(&n);
	ret->subject = (uint64_t)next_number(&n);
	ret->text = text_read(st, n.column);
	return true;
}

uint64_t last_event_read(sqlite3_stmt *st)
{
	uint8_t type[EVENTS_OF_CAUSE_MAX];
	int64_t number = sqlite3_column_int64(st, 0), pruned = sqlite3_column_int64(st, 2);
	if (number)
		number += (int64_t)event_cause_types((unsigned)sqlite3_column_int64(st, 1), type) - 1;
	return (uint64_t)(number > pruned ? number : pruned);
}
