/* Scans for records that may be pruned. */
#include "store/sqlite/read/query.h"

static const enum read_statement scan_statement[] = {
	[PRUNE_RUNS] = READ_PRUNE_RUNS,        [PRUNE_RANGES] = READ_PRUNE_RANGES,
	[PRUNE_VERSION] = READ_PRUNE_VERSIONS, [PRUNE_SCHED] = READ_PRUNE_SCHEDS,
	[PRUNE_PROBLEM] = READ_PRUNE_PROBLEMS, [PRUNE_EVENTS] = READ_PRUNE_EVENTS,
};
static_assert(ARRAY_LEN(scan_statement) == PRUNES, "every kind has a statement");

enum err sqlite_read_old(struct reader *reader, enum prune_what what, uint64_t after, struct wall by,
			 struct old_item *ret, unsigned max, unsigned *n, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[scan_statement[what]];
	unsigned found = 0;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)after, by.us, max);
		while ((rc = sqlite3_step(s)) == SQLITE_ROW)
			ret[found++] = (struct old_item){ .at = (uint64_t)sqlite3_column_int64(s, 0),
							  .sid = (uint64_t)sqlite3_column_int64(s, 1),
							  .rev = (uint32_t)sqlite3_column_int64(s, 2),
							  .old = sqlite3_column_int(s, 3),
							  .young = sqlite3_column_int(s, 4) };
		rc = db_leave(s, rc);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*n = found;
	return e;
}

enum err sqlite_read_old_run(struct reader *reader, uint64_t run, struct old_run *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_PRUNE_RUN];
	struct old_run found = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)run);
		rc = sqlite3_step(s);
		if (rc == SQLITE_ROW)
			found = (struct old_run){ true,
						  sqlite3_column_int(s, 0),
						  sqlite3_column_int(s, 1),
						  { sqlite3_column_int64(s, 2) } };
		rc = db_leave(s, rc);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = found;
	return e;
}
