/* Reads runs: lists, counts, and the records about one nominal time. Each query uses the index with the
 * fewest entries that are not part of the answer. */
#include "store/sqlite/read/query.h"

enum {
	OPEN_STATES = 1 << RUN_PENDING | 1 << RUN_CLAIMED | 1 << RUN_RETRYING,
	IDLE_STATES = 1 << RUN_SKIPPED | 1 << RUN_MISSED,
	ALL_STATES = (1 << RUN_STATES) - 1,
};

static int read_run_row(sqlite3_stmt *s, struct arena *a, void *item)
{
	(void)a;
	return run_read(s, 0, item) ? SQLITE_OK : ROW_INVALID;
}

static const struct row_kind run_kind = { sizeof(struct run_row), read_run_row, 0 };

int query_run(struct sqlite_reader *r, uint64_t run, struct run_row *ret)
{
	sqlite3_stmt *s = r->stmt[READ_RUN];
	DB_BIND(s, (int64_t)run);
	return query_one(s, SQLITE_OK, &run_kind, NULL, ret);
}

enum err sqlite_read_run(struct reader *reader, uint64_t run, struct run_row *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	struct run_row found;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = query_run(r, run, &found);
	enum err e = reader_end(r, rc, why);
	if (e == OK && rc != SQLITE_ROW)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no run r%llu",
			       (unsigned long long)run);
	if (e == OK)
		*ret = found;
	return e;
}

int query_run_text(struct sqlite_reader *r, uint64_t run, enum run_text_kind kind, struct arena *a,
		   struct str *ret)
{
	sqlite3_stmt *s = r->stmt[READ_RUN_TEXT];
	DB_BIND(s, (int64_t)run, kind);
	return query_first_text(s, a, ret);
}

enum err sqlite_read_run_text(struct reader *reader, uint64_t run, enum run_text_kind kind, struct arena *a,
			      struct str *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_RUN_TEXT];
	DB_BIND(s, (int64_t)run, kind);
	return query_text(r, s, a, ret, why);
}

/* --- lists --- */

/* Chooses the statement with the smallest index that has all runs of the filter. For one schedule, the next
 * statement of the enum reads the runs that are older than the cursor. */
static enum read_statement choose_statement(const struct read_filter *f, unsigned states)
{
	if (f->failed)
		return f->sid ? READ_RUNS_FAILED_OF : READ_RUNS_FAILED;
	if (!(states & ~(unsigned)OPEN_STATES))
		return f->sid ? READ_RUNS_OPEN_OF : READ_RUNS_OPEN;
	if (!(states & ~(unsigned)IDLE_STATES))
		return f->sid ? READ_RUNS_IDLE_OF : READ_RUNS_IDLE;
	return f->sid ? READ_RUNS_OF : READ_RUNS;
}

/* Adds the rows of a statement that was bound for one row more than the list has room for. */
static int add_runs(sqlite3_stmt *s, struct read_runs *list, unsigned limit)
{
	int rc;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		list->more = list->n == limit;
		if (list->more)
			break;
		if (!run_read(s, 0, &list->item[list->n++])) {
			rc = ROW_INVALID;
			break;
		}
	}
	return db_looked(db_leave(s, rc));
}

/* Finds the first number such that its run and all later runs were recorded at `t` or later. Numbers grow
 * with the clock, so a binary search of two dozen steps finds it without an index. If the clock was set back,
 * runs recorded before the step may not be found for times that the clock has passed twice. */
static int first_number_since(struct sqlite_reader *r, int64_t t, int64_t last, int64_t *ret)
{
	sqlite3_stmt *s = r->stmt[READ_RUN_FROM];
	int64_t low = 0, high = last + 1;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		DB_BIND(s, middle);
		int rc = sqlite3_step(s);
		bool earlier = rc == SQLITE_ROW && sqlite3_column_int64(s, 1) < t;
		int64_t run = earlier ? sqlite3_column_int64(s, 0) : 0;
		sqlite3_reset(s);
		if (rc != SQLITE_ROW && rc != SQLITE_DONE)
			return rc;
		if (earlier)
			low = run + 1;
		else
			high = middle;
	}
	*ret = low;
	return SQLITE_OK;
}

/* The numbers of runs that may have been recorded within [from, to]. */
static int number_bounds(struct sqlite_reader *r, int64_t from, int64_t to, int64_t *low, int64_t *high)
{
	bool found;
	int64_t last = 0;
	*low = 0;
	*high = INT64_MAX;
	if (from == INT64_MIN && to == INT64_MAX)
		return SQLITE_OK;
	int rc = db_first_number(r->stmt[READ_RUN_LAST], SQLITE_OK, &found, &last);
	if (rc == SQLITE_OK && from != INT64_MIN)
		rc = first_number_since(r, from, last, low);
	return rc != SQLITE_OK || to == INT64_MAX ? rc : first_number_since(r, to + 1, last, high);
}

static int list_all_schedules(struct sqlite_reader *r, const struct read_filter *f, unsigned states,
			      unsigned limit, struct read_runs *list)
{
	sqlite3_stmt *s = r->stmt[choose_statement(f, states)];
	int64_t from = f->since.us ? f->since.us : INT64_MIN, to = f->until.us ? f->until.us : INT64_MAX;
	int64_t low, high, cursor = (int64_t)f->before.run;
	int rc = number_bounds(r, from, to, &low, &high);
	if (rc != SQLITE_OK)
		return rc;
	if (cursor && cursor - 1 < high)
		high = cursor - 1;
	DB_BIND(s, low, high, from, to, states, limit + 1);
	return add_runs(s, list, limit);
}

/* Several runs may have the nominal time of the cursor: one occurrence and any number of manual runs. Runs of
 * that time with a number below the cursor's come first, then runs with older nominal times. */
static int list_one_schedule(struct sqlite_reader *r, const struct read_filter *f, unsigned states,
			     unsigned limit, struct read_runs *list)
{
	enum read_statement which = choose_statement(f, states);
	int64_t from = f->since.us ? f->since.us : INT64_MIN, to = f->until.us ? f->until.us : INT64_MAX;
	int64_t at = f->before.nominal.us, sid = (int64_t)f->sid;
	bool has_cursor = f->before.run != 0;
	int rc = SQLITE_OK;
	if (has_cursor && at >= from && at <= to) {
		DB_BIND(r->stmt[which], sid, at, (int64_t)f->before.run, states, limit + 1);
		rc = add_runs(r->stmt[which], list, limit);
	}
	if (rc != SQLITE_OK || list->more || (has_cursor && at == INT64_MIN))
		return rc;
	if (has_cursor && at - 1 < to)
		to = at - 1;
	DB_BIND(r->stmt[which + 1], sid, to, from, states, limit - list->n + 1);
	return add_runs(r->stmt[which + 1], list, limit);
}

int query_previous_run(struct sqlite_reader *r, const struct run_row *run, bool *found, struct run_row *ret)
{
	struct read_runs list = { .item = ret };
	struct read_filter f = { .sid = run->sid };
	f.before.nominal = run->nominal;
	f.before.run = run->run;
	int rc = list_one_schedule(r, &f, 1u << RUN_FINISHED, 1, &list);
	*found = list.n > 0;
	return rc;
}

enum err sqlite_read_runs(struct reader *reader, const struct read_filter *f, struct arena *a,
			  struct read_runs *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	struct read_runs list = { 0 };
	unsigned limit = list_limit(f->limit), states = f->states ? f->states : ALL_STATES;
	list.item = arena_alloc(a, limit * sizeof *list.item);
	if (!list.item)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = (f->sid ? list_one_schedule : list_all_schedules)(r, f, states, limit, &list);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = list;
	return e;
}

/* --- ranges --- */

static int read_range_row(sqlite3_stmt *s, struct arena *a, void *item)
{
	(void)a;
	if (!row_is_valid(s, 0, ROW_RANGE))
		return ROW_INVALID;
	*(struct range_row *)item = (struct range_row){ .sid = (uint64_t)sqlite3_column_int64(s, 0),
							.first = { sqlite3_column_int64(s, 1) },
							.last = { sqlite3_column_int64(s, 2) },
							.state = (uint8_t)sqlite3_column_int(s, 3),
							.reason = (uint16_t)sqlite3_column_int(s, 4) };
	return SQLITE_OK;
}

static const struct row_kind range_kind = { sizeof(struct range_row), read_range_row, 0 };

enum err sqlite_read_ranges(struct reader *reader, uint64_t sid, struct wall since, struct wall until,
			    unsigned limit, struct arena *a, struct read_ranges *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[sid ? READ_RANGES_OF : READ_RANGES];
	struct row_list list = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		if (sid)
			DB_BIND(s, since.us, until.us, list_limit(limit) + 1, (int64_t)sid);
		else
			DB_BIND(s, since.us, until.us, list_limit(limit) + 1);
		rc = query_list(s, SQLITE_OK, list_limit(limit), &range_kind, a, &list);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = (struct read_ranges){ list.n, list.more, list.item };
	return e;
}

/* --- avoided model calls --- */

enum err sqlite_read_avoided(struct reader *reader, uint64_t sid, struct wall since, struct read_avoided *ret,
			     struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_AVOIDED];
	struct read_avoided found = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)sid, wall_seconds(since));
		rc = sqlite3_step(s);
		if (rc == SQLITE_ROW)
			found = (struct read_avoided){ (uint64_t)sqlite3_column_int64(s, 0),
						       (uint64_t)sqlite3_column_int64(s, 1) };
		rc = db_leave(s, rc);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = found;
	return e;
}

/* --- one nominal time --- */

static int find_run(struct sqlite_reader *r, enum read_statement which, uint64_t sid, struct wall nominal,
		    bool *found, struct run_row *ret)
{
	sqlite3_stmt *s = r->stmt[which];
	DB_BIND(s, (int64_t)sid, nominal.us);
	int rc = query_one(s, SQLITE_OK, &run_kind, NULL, ret);
	*found = rc == SQLITE_ROW;
	return db_looked(rc);
}

static int find_range(struct sqlite_reader *r, uint64_t sid, struct wall nominal, bool *found,
		      struct range_row *ret)
{
	sqlite3_stmt *s = r->stmt[READ_RANGE_COVERS];
	DB_BIND(s, (int64_t)sid, nominal.us);
	int rc = query_one(s, SQLITE_OK, &range_kind, NULL, ret);
	*found = rc == SQLITE_ROW;
	return db_looked(rc);
}

enum err sqlite_read_why(struct reader *reader, uint64_t sid, struct wall nominal, struct read_why *ret,
			 struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	struct read_why w = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = find_run(r, READ_RUN_AT, sid, nominal, &w.has_run, &w.run);
	if (rc == SQLITE_OK)
		rc = find_range(r, sid, nominal, &w.has_range, &w.range);
	if (rc == SQLITE_OK)
		rc = find_run(r, READ_RUN_BEFORE, sid, nominal, &w.has_before, &w.before);
	if (rc == SQLITE_OK)
		rc = find_run(r, READ_RUN_AFTER, sid, nominal, &w.has_after, &w.after);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = w;
	return e;
}
