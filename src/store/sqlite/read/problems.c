/* Reads problems and holds. */
#include "store/sqlite/read/query.h"

/* --- problems --- */

static int read_problem_row(sqlite3_stmt *s, struct arena *a, void *item)
{
	struct problem_row *p = item;
	if (!problem_row_read(s, 0, p))
		return ROW_INVALID;
	return query_copied(query_copy_text(a, &p->key) && query_copy_text(a, &p->subject) &&
			    query_copy_text(a, &p->text) && query_copy_text(a, &p->by) &&
			    query_copy_text(a, &p->note));
}

static const struct row_kind problem_kind = { sizeof(struct problem_row), read_problem_row, 0 };

enum err sqlite_read_problem(struct reader *reader, uint64_t number, struct arena *a, struct problem_row *ret,
			     struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_PROBLEM];
	struct problem_row found;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)number);
		rc = query_one(s, SQLITE_OK, &problem_kind, a, &found);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK && rc != SQLITE_ROW)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no problem %llu",
			       (unsigned long long)number);
	if (e == OK)
		*ret = found;
	return e;
}

enum err sqlite_read_problems(struct reader *reader, bool all, uint64_t before, unsigned limit,
			      struct arena *a, struct read_problems *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[all ? READ_PROBLEMS : READ_PROBLEMS_OPEN];
	struct row_list list = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, cursor_before(before), list_limit(limit) + 1);
		rc = query_list(s, SQLITE_OK, list_limit(limit), &problem_kind, a, &list);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = (struct read_problems){ list.n, list.more, list.item };
	return e;
}

/* --- holds --- */

static int read_hold_row(sqlite3_stmt *s, struct arena *a, void *item)
{
	struct read_hold *h = item;
	if (!row_is_valid(s, 0, ROW_HOLD))
		return ROW_INVALID;
	*h = (struct read_hold){ .row = { .key = (uint32_t)sqlite3_column_int64(s, 0),
					  .reason = (uint16_t)sqlite3_column_int(s, 1),
					  .until = { sqlite3_column_int64(s, 2) },
					  .set_back_from = { sqlite3_column_int64(s, 3) } },
				 .note = text_read(s, 4) };
	return query_copied(query_copy_text(a, &h->note));
}

enum err sqlite_read_holds(struct reader *reader, struct arena *a, struct read_holds *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	static const struct row_kind hold_kind = { sizeof(struct read_hold), read_hold_row, 0 };
	sqlite3_stmt *s = r->stmt[READ_HOLDS];
	struct row_list list = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, READ_LIST_MAX + 1);
		rc = query_list(s, SQLITE_OK, READ_LIST_MAX, &hold_kind, a, &list);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = (struct read_holds){ list.n, list.more, list.item };
	return e;
}
