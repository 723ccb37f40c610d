/* Loads the state of a new engine: one query for each kind of item. */
#include "store/sqlite/load.h"
#include "store/sqlite/rows.h"

static_assert(RUN_FINISHED == 3, "the queries below and 0001.sql use the number");

static bool fill_key(sqlite3_stmt *s, struct load_item *ret)
{
	const void *key = sqlite3_column_blob(s, 0);
	memcpy(ret->key, key, STORE_KEY_BYTES);
	return true;
}

static bool fill_part(sqlite3_stmt *s, struct load_item *ret)
{
	if (!row_is_valid(s, 0, ROW_PART))
		return false;
	ret->part.part = (uint32_t)sqlite3_column_int64(s, 0);
	ret->part.epoch = (uint64_t)sqlite3_column_int64(s, 1);
	ret->part.node = (uint32_t)sqlite3_column_int64(s, 2);
	return true;
}

static bool fill_name(sqlite3_stmt *s, struct load_item *ret)
{
	if (!row_is_valid(s, 0, ROW_NAME))
		return false;
	ret->name.kind = (uint8_t)sqlite3_column_int(s, 0);
	ret->name.number = (uint32_t)sqlite3_column_int64(s, 1);
	ret->name.text = text_read(s, 2);
	return true;
}

static bool fill_hold(sqlite3_stmt *s, struct load_item *ret)
{
	if (!row_is_valid(s, 0, ROW_HOLD))
		return false;
	ret->hold.key = (uint32_t)sqlite3_column_int64(s, 0);
	ret->hold.reason = (uint16_t)sqlite3_column_int64(s, 1);
	ret->hold.until.us = sqlite3_column_int64(s, 2);
	ret->hold.set_back_from.us = sqlite3_column_int64(s, 3);
	return true;
}

static bool fill_sched(sqlite3_stmt *s, struct load_item *ret)
{
	struct sched_record record;
	if (!sched_read(s, 0, &record))
		return false;
	ret->sched = record.row;
	ret->dropped = record.dropped;
	ret->open =
		(uint16_t)sqlite3_column_int(s, SCHED_PARAMS); /* the reason, the last column of a range */
	return sqlite3_column_type(s, SCHED_PARAMS) == SQLITE_NULL ||
	       row_is_valid_from(s, SCHED_PARAMS, ROW_RANGE, 4);
}

static bool fill_run(sqlite3_stmt *s, struct load_item *ret)
{
	return run_read(s, 0, &ret->run);
}

static bool fill_end(sqlite3_stmt *s, struct load_item *ret)
{
	ret->follower = (uint64_t)sqlite3_column_int64(s, RUN_PARAMS);
	return run_read(s, 0, &ret->run);
}

static bool fill_problem(sqlite3_stmt *s, struct load_item *ret)
{
	return problem_row_read(s, 0, &ret->problem);
}

static bool fill_done(sqlite3_stmt *s, struct load_item *ret)
{
	ret->done.last_run = (uint64_t)sqlite3_column_int64(s, 0);
	ret->done.last_sid = (uint64_t)sqlite3_column_int64(s, 1);
	ret->done.restored.us = sqlite3_column_int64(s, 2);
	ret->done.restored_run = (uint64_t)sqlite3_column_int64(s, 3);
	return true;
}

/* The node that a database belongs to has number 1. */
#define OWN_PART " IN (SELECT part FROM part WHERE node = 1)"

/* In the order of enum load_kind. */
static const struct {
	const char *sql;
	bool (*read)(sqlite3_stmt *s, struct load_item *ret); /* false: the row is not valid */
} queries[] = {
	[LOAD_KEY] = { "SELECT value FROM secret WHERE name = 'run_tokens' AND length(value) = 32",
		       fill_key },
	[LOAD_PART] = { "SELECT part, epoch, node FROM part WHERE node = 1 ORDER BY part", fill_part },
	[LOAD_NAME] = { "SELECT kind, number, text FROM name ORDER BY kind, number", fill_name },
	[LOAD_HOLD] = { "SELECT key, reason, until, set_back_from FROM hold ORDER BY key", fill_hold },
	[LOAD_SCHED] = { "SELECT " SCHED_COLUMNS ", (SELECT reason FROM range g INDEXED BY range_open"
			 " WHERE g.sid = schedule.sid AND last = 9223372036854775807) FROM schedule"
			 " WHERE (dropped IS NULL OR sid IN (SELECT sid FROM run INDEXED BY run_open WHERE "
			 "state < 3)) AND part" OWN_PART " ORDER BY sid",
			 fill_sched },
	/* Numbers rise in the order of recording. */
	[LOAD_RUN] = { "SELECT " RUN_COLUMNS " FROM run INDEXED BY run_open WHERE state < 3"
		       " AND (SELECT part FROM schedule s WHERE s.sid = run.sid)" OWN_PART " ORDER BY run",
		       fill_run },
	[LOAD_END] = { "SELECT " RUN_COLUMNS ", follower FROM (SELECT r.*, s.sid AS follower"
		       " FROM schedule s INDEXED BY schedule_follower CROSS JOIN run r INDEXED BY run_end"
		       " ON r.sid = s.after AND r.\"end\" > s.seen AND r.state = 3"
		       " WHERE s.after <> 0 AND s.dropped IS NULL AND s.part" OWN_PART
		       ") ORDER BY follower, \"end\"",
		       fill_end },
	[LOAD_PROBLEM] = { "SELECT " PROBLEM_COLUMNS " FROM problem"
			   " WHERE closed = 9223372036854775807 ORDER BY number",
			   fill_problem },
	[LOAD_DONE] = { "SELECT max(value, (SELECT ifnull(max(run), 0) FROM run)),"
			" max((SELECT ifnull(max(sid), 0) FROM schedule),"
			" (SELECT value FROM meta WHERE key = 'last_sid')),"
			" (SELECT value FROM meta WHERE key = 'restored'),"
			" (SELECT value FROM meta WHERE key = 'restored_run') FROM meta WHERE key = "
			"'last_run'",
			fill_done },
};
static_assert(ARRAY_LEN(queries) == LOAD_DONE + 1, "every kind of item has a query");

static int run_query(sqlite3 *db, enum load_kind kind, load_fn *fn, void *ctx)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, queries[kind].sql, -1, &s, NULL);
	if (rc != SQLITE_OK)
		return rc;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct load_item item = { .kind = (uint8_t)kind };
		if (!queries[kind].read(s, &item)) {
			rc = ROW_INVALID;
			break;
		}
		fn(ctx, &item);
	}
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int load_all(sqlite3 *db, load_fn *fn, void *ctx)
{
	int rc = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	for (unsigned kind = 0; kind < ARRAY_LEN(queries) && rc == SQLITE_OK; kind++)
		rc = run_query(db, kind, fn, ctx);
	if (!sqlite3_get_autocommit(db))
		sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	return rc;
}
