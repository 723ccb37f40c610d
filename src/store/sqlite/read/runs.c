/* Lists of runs, and counts of them: the way to go is chosen so that what is looked at is what is told. */
#include "store/sqlite/db.h"
#include "store/sqlite/read/reader.h"
#include "store/sqlite/read/statements.h"
#include "store/sqlite/rows.h"

enum {
	OPEN = 1 << RUN_PENDING | 1 << RUN_CLAIMED | 1 << RUN_RETRYING,
	IDLE = 1 << RUN_SKIPPED | 1 << RUN_MISSED,
	ALL = (1 << RUN_STATES) - 1,
};

enum err read_run(struct reader *r, uint64_t run, struct run_row *ret, struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_RUN];
	struct run_row found;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)run);
		rc = sqlite3_step(s);
		if (rc == SQLITE_ROW)
			run_read(s, 0, &found);
		sqlite3_reset(s);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK && rc != SQLITE_ROW)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no run r%llu",
			       (unsigned long long)run);
	if (e == OK)
		*ret = found;
	return e;
}

static enum read_sql way(const struct read_filter *f, unsigned states)
{
	if (f->failed)
		return f->sid ? READ_FAILED_OF : READ_FAILED;
	if (!(states & ~(unsigned)OPEN))
		return f->sid ? READ_OPEN_OF : READ_OPEN;
	if (!(states & ~(unsigned)IDLE))
		return f->sid ? READ_IDLE_OF : READ_IDLE;
	return f->sid ? READ_RUNS_OF : READ_RUNS;
}

/* Steps through a statement that has been bound for one more than there is room for. */
static int take(sqlite3_stmt *s, struct read_runs *list, unsigned limit)
{
	int rc;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		list->more = list->n == limit;
		if (list->more)
			break;
		run_read(s, 0, &list->item[list->n++]);
	}
	sqlite3_reset(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* --- of all schedules --- */

/* The number from which on runs were recorded at `t` or later. Numbers are given in the order of the clock,
 * which makes this a matter of two dozen looks without any index; where the clock was set back, what it
 * passed twice may be found from its second time on only. */
static int first_since(struct reader *r, int64_t t, int64_t last, int64_t *ret)
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

/* Which numbers may have been recorded within [from, to]. */
static int bounds(struct reader *r, int64_t from, int64_t to, int64_t *low, int64_t *high)
{
	sqlite3_stmt *s = r->stmt[READ_RUN_LAST];
	*low = 0;
	*high = INT64_MAX;
	if (from == INT64_MIN && to == INT64_MAX)
		return SQLITE_OK;
	int rc = sqlite3_step(s);
	int64_t last = rc == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	sqlite3_reset(s);
	if (rc != SQLITE_ROW)
		return rc;
	rc = from == INT64_MIN ? SQLITE_OK : first_since(r, from, last, low);
	return rc != SQLITE_OK || to == INT64_MAX ? rc : first_since(r, to + 1, last, high);
}

static int list_all(struct reader *r, const struct read_filter *f, unsigned states, unsigned limit,
		    struct read_runs *list)
{
	sqlite3_stmt *s = r->stmt[way(f, states)];
	int64_t from = f->since.us ? f->since.us : INT64_MIN, to = f->until.us ? f->until.us : INT64_MAX;
	int64_t low, high, cursor = (int64_t)f->before.run;
	int rc = bounds(r, from, to, &low, &high);
	if (rc != SQLITE_OK)
		return rc;
	if (cursor && cursor - 1 < high)
		high = cursor - 1;
	DB_BIND(s, low, high, from, to, states, limit + 1);
	return take(s, list, limit);
}

/* --- of one --- */

/* Several may have one nominal time: one by the clock, the others by hand. */
static int list_of(struct reader *r, const struct read_filter *f, unsigned states, unsigned limit,
		   struct read_runs *list)
{
	enum read_sql which = way(f, states);
	int64_t from = f->since.us ? f->since.us : INT64_MIN, to = f->until.us ? f->until.us : INT64_MAX;
	int64_t at = f->before.nominal.us, sid = (int64_t)f->sid;
	bool goes_on = f->before.run != 0;
	int rc = SQLITE_OK;
	if (goes_on && at >= from && at <= to) {
		DB_BIND(r->stmt[which], sid, at, (int64_t)f->before.run, states, limit + 1);
		rc = take(r->stmt[which], list, limit);
	}
	if (rc != SQLITE_OK || list->more || (goes_on && at == INT64_MIN))
		return rc;
	if (goes_on && at - 1 < to)
		to = at - 1;
	DB_BIND(r->stmt[which + 1], sid, to, from, states, limit - list->n + 1);
	return take(r->stmt[which + 1], list, limit);
}

enum err read_runs(struct reader *r, const struct read_filter *f, struct arena *a, struct read_runs *ret,
		   struct why *why)
{
	struct read_runs list = { 0 };
	unsigned limit = f->limit && f->limit < READ_LIST_MAX ? f->limit : READ_LIST_MAX;
	unsigned states = f->states ? f->states : ALL;
	list.item = arena_alloc(a, limit * sizeof *list.item);
	if (!list.item)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = (f->sid ? list_of : list_all)(r, f, states, limit, &list);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = list;
	return e;
}

enum err read_counts(struct reader *r, uint64_t sid, struct wall since, struct read_counts *ret,
		     struct why *why)
{
	sqlite3_stmt *s = r->stmt[sid ? READ_COUNT_OF : READ_COUNT];
	struct read_counts c = { 0 };
	unsigned n = 0;
	int64_t low = 0, high;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK && !sid)
		rc = bounds(r, since.us, INT64_MAX, &low, &high);
	DB_BIND(s, sid ? (int64_t)sid : low, since.us, READ_COUNT_MAX + 1);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(s);
		if (rc != SQLITE_ROW)
			break;
		c.more = n++ == READ_COUNT_MAX;
		if (c.more)
			break;
		int state = sqlite3_column_int(s, 0), outcome = sqlite3_column_int(s, 1);
		c.state[state >= 0 && state < RUN_STATES ? state : RUN_STATES - 1]++;
		if (state == RUN_FINISHED)
			c.outcome[outcome >= 0 && outcome < READ_OUTCOMES ? outcome : READ_OUTCOMES - 1]++;
	}
	sqlite3_reset(s);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = c;
	return e;
}
