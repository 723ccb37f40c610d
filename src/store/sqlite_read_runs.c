/* Lists of runs, and counts of them: the way to go is chosen so that what is looked at is what is told. */
#include "store/sqlite_db.h"
#include "store/sqlite_read.h"
#include "store/sqlite_read_sql.h"
#include "store/sqlite_rows.h"

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

/* The first of its pair of statements. */
static enum read_sql way(const struct read_filter *f, unsigned states)
{
	if (f->failed)
		return f->sid ? READ_FAILED_OF : READ_FAILED;
	if (!(states & ~(unsigned)OPEN))
		return READ_OPEN;
	if (!(states & ~(unsigned)IDLE))
		return f->sid ? READ_IDLE_OF : READ_IDLE;
	return f->sid ? READ_RUNS_OF : READ_RUNS;
}

struct look {
	struct reader *r;
	enum read_sql way;
	unsigned states, limit;
	uint64_t sid;
	struct read_runs *list;
};

/* ?1 and ?2 are the statement's own. */
static int look(struct look *l, bool older, int64_t p1, int64_t p2)
{
	sqlite3_stmt *s = l->r->stmt[l->way + older];
	struct read_runs *list = l->list;
	int rc;
	DB_BIND(s, p1, p2, l->states, l->limit - list->n + 1, (int64_t)l->sid);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		list->more = list->n == l->limit;
		if (list->more)
			break;
		run_read(s, 0, &list->item[list->n++]);
	}
	sqlite3_reset(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Thousands may be due at the same time. Of those of the cursor's own the rest comes first: looked for by
 * themselves, or each page would pass over all that came before it. */
static int list_runs(struct look *l, const struct read_filter *f)
{
	int64_t from = f->since.us ? f->since.us : INT64_MIN, to = f->until.us ? f->until.us : INT64_MAX;
	int64_t at = f->before.nominal.us;
	bool goes_on = f->before.run != 0;
	int rc = SQLITE_OK;
	if (goes_on && at >= from && at <= to)
		rc = look(l, false, at, (int64_t)f->before.run);
	if (goes_on && at == INT64_MIN)
		return rc;
	if (goes_on && at - 1 < to)
		to = at - 1;
	return rc == SQLITE_OK && !l->list->more ? look(l, true, to, from) : rc;
}

enum err read_runs(struct reader *r, const struct read_filter *f, struct arena *a, struct read_runs *ret,
		   struct why *why)
{
	struct read_runs list = { 0 };
	unsigned limit = f->limit && f->limit < READ_LIST_MAX ? f->limit : READ_LIST_MAX;
	unsigned states = f->states ? f->states : ALL;
	struct look l = { r, way(f, states), states, limit, f->sid, &list };
	list.item = arena_alloc(a, limit * sizeof *list.item);
	if (!list.item)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = list_runs(&l, f);
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
	int rc = reader_begin(r);
	if (rc == SQLITE_OK && sid)
		DB_BIND(s, since.us, READ_COUNT_MAX + 1, (int64_t)sid);
	else if (rc == SQLITE_OK)
		DB_BIND(s, since.us, READ_COUNT_MAX + 1);
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
