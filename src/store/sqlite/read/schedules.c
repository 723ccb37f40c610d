/* Reads schedules with their documents: by number, by id, as lists. */
#include "store/sqlite/read/query.h"

static int read_sched_row(sqlite3_stmt *s, struct arena *a, void *item)
{
	struct read_sched *ret = item;
	struct sched_record record = { 0 };
	int at = SCHED_PARAMS;
	if (!sched_read(s, 0, &record))
		return ROW_INVALID;
	*ret = (struct read_sched){ .row = record.row, .put_at = record.put_at, .dropped = WALL_NEVER };
	if (record.dropped)
		ret->dropped.us = sqlite3_column_int64(s, SCHED_PARAMS - 2);
	ret->id = text_read(s, at++);
	ret->document = text_read(s, at++);
	ret->source = (struct source_row){ text_read(s, at), (uint32_t)sqlite3_column_int64(s, at + 1) };
	at += 2;
	ret->note = text_read(s, at++);
	ret->open = sqlite3_column_type(s, at) != SQLITE_NULL;
	if (ret->open && !row_is_valid_from(s, at, ROW_RANGE, 1))
		return ROW_INVALID;
	if (ret->open)
		ret->range = (struct range_row){ .sid = record.row.sid,
						 .first = { sqlite3_column_int64(s, at) },
						 .last = { sqlite3_column_int64(s, at + 1) },
						 .state = (uint8_t)sqlite3_column_int(s, at + 2),
						 .reason = (uint16_t)sqlite3_column_int(s, at + 3) };
	return query_copied(query_copy_text(a, &ret->id) && query_copy_text(a, &ret->document) &&
			    query_copy_text(a, &ret->source.from) && query_copy_text(a, &ret->note));
}

static const struct row_kind sched_kind = { sizeof(struct read_sched), read_sched_row, SCHED_PARAMS + 1 };

/* --- one schedule --- */

enum err sqlite_read_sched(struct reader *reader, uint64_t sid, struct arena *a, struct read_sched *ret,
			   struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_SCHED];
	struct read_sched found;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)sid);
		rc = query_one(s, SQLITE_OK, &sched_kind, a, &found);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK && rc != SQLITE_ROW)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no such schedule");
	if (e == OK)
		*ret = found;
	return e;
}

enum err sqlite_read_id(struct reader *reader, uint64_t sid, struct arena *a, struct str *ret,
			struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_ID];
	DB_BIND(s, (int64_t)sid);
	return query_text(r, s, a, ret, why);
}

int query_document(struct sqlite_reader *r, uint64_t sid, uint32_t rev, struct arena *a, struct str *ret)
{
	sqlite3_stmt *s = r->stmt[READ_DOCUMENT];
	DB_BIND(s, (int64_t)sid, rev);
	return query_first_text(s, a, ret);
}

/* Ends the reading of a document, which `rc` is the result of. */
static enum err end_document(struct sqlite_reader *r, int rc, struct str found, struct str *ret,
			     struct why *why)
{
	enum err e = reader_end(r, rc, why);
	if (e == OK && !found.p)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no such document");
	if (e == OK)
		*ret = found;
	return e;
}

enum err sqlite_read_document_of(struct reader *reader, uint64_t sid, uint32_t rev, struct arena *a,
				 struct str *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	struct str found = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = query_document(r, sid, rev, a, &found);
	return end_document(r, rc, found, ret, why);
}

enum err sqlite_read_document_at(struct reader *reader, uint64_t sid, struct wall at, struct arena *a,
				 struct str *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_DOCUMENT_AT];
	struct str found = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)sid, at.us);
		rc = query_first_text(s, a, &found);
	}
	return end_document(r, rc, found, ret, why);
}

enum err sqlite_read_sched_removed(struct reader *reader, struct str id, struct arena *a,
				   struct read_sched *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_SCHED_REMOVED];
	struct read_sched found;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = query_one(s, db_bind_text(s, 1, id), &sched_kind, a, &found);
	enum err e = reader_end(r, rc, why);
	if (e == OK && rc != SQLITE_ROW)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there never was a schedule '%.*s'",
			       STR_SHORT(id));
	if (e == OK)
		*ret = found;
	return e;
}

/* --- by the beginning of an id --- */

/* Reads the ids that begin with `text`, one more than READ_CANDIDATES_MAX. */
static int find_candidates(struct sqlite_reader *r, struct str text, struct arena *a, struct read_match *m)
{
	sqlite3_stmt *s = r->stmt[READ_SCHED_IDS];
	char *end = arena_printf(a, "%.*s\xFF", STR_ARG(text));
	if (!end)
		return SQLITE_NOMEM;
	DB_BIND(s, 0, 0, READ_CANDIDATES_MAX + 1);
	int rc = DB_BIND_TEXTS(s, 1, text, str_of(end));
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		m->more = m->n == READ_CANDIDATES_MAX;
		if (m->more)
			break;
		m->id[m->n] = text_read(s, 0);
		rc = query_copy_text(a, &m->id[m->n++]) ? SQLITE_OK : SQLITE_NOMEM;
	}
	return db_leave(s, rc);
}

static int find_match(struct sqlite_reader *r, struct str text, struct arena *a, struct read_match *m)
{
	sqlite3_stmt *s = r->stmt[READ_SCHED_ID];
	int rc = query_one(s, db_bind_text(s, 1, text), &sched_kind, a, &m->sched);
	if (rc == SQLITE_ROW) {
		m->id[0] = m->sched.id;
		m->n = 1;
	}
	if (rc != SQLITE_DONE)
		return rc;
	rc = find_candidates(r, text, a, m);
	if (rc == SQLITE_DONE && m->n == 1)
		rc = query_one(s, db_bind_text(s, 1, m->id[0]), &sched_kind, a, &m->sched);
	return rc;
}

enum err sqlite_read_sched_named(struct reader *reader, struct str text, struct arena *a,
				 struct read_match *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	struct read_match m = { 0 };
	int rc = SQLITE_OK;
	if (text.n) {
		rc = reader_begin(r);
		if (rc == SQLITE_OK)
			rc = find_match(r, text, a, &m);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK && !m.n)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no schedule '%.*s'", STR_SHORT(text));
	if (e == OK)
		*ret = m;
	return e;
}

/* --- lists --- */

/* Reads a list by a statement that the caller has bound, before the transaction, for list_limit(limit) + 1
 * rows. */
static enum err read_sched_list(struct sqlite_reader *r, sqlite3_stmt *s, int bound, unsigned limit,
				struct arena *a, struct read_scheds *ret, struct why *why)
{
	struct row_list list = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = query_list(s, bound, list_limit(limit), &sched_kind, a, &list);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = (struct read_scheds){ list.n, list.more, list.item };
	return e;
}

static enum err read_scheds_by_id(struct sqlite_reader *r, enum read_statement which, struct str after,
				  unsigned limit, struct arena *a, struct read_scheds *ret, struct why *why)
{
	sqlite3_stmt *s = r->stmt[which];
	DB_BIND(s, 0, list_limit(limit) + 1);
	int rc = db_bind_text(s, 1, after.p ? after : STR(""));
	return read_sched_list(r, s, rc, limit, a, ret, why);
}

enum err sqlite_read_scheds(struct reader *reader, struct str after, unsigned limit, struct arena *a,
			    struct read_scheds *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	return read_scheds_by_id(r, READ_SCHEDS, after, limit, a, ret, why);
}

enum err sqlite_read_scheds_noted(struct reader *reader, struct str after, unsigned limit, struct arena *a,
				  struct read_scheds *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	return read_scheds_by_id(r, READ_SCHEDS_NOTED, after, limit, a, ret, why);
}

enum err sqlite_read_scheds_from(struct reader *reader, struct str from, const struct read_sched *after,
				 unsigned limit, struct arena *a, struct read_scheds *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_SCHEDS_FROM];
	bool below = from.n && (from.p[from.n - 1] == '/' || from.p[from.n - 1] == ' ');
	/* A byte larger than any byte of UTF-8. */
	const char *last = arena_printf(a, "%.*s%s", (int)from.n, from.p, below ? "\xff" : "");
	if (!last)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	DB_BIND(s, 0, 0, 0, 0, list_limit(limit) + 1);
	int rc = DB_BIND_TEXTS(s, 1, from, str_of(last), after ? after->source.from : STR(""),
			       after ? after->id : STR(""));
	return read_sched_list(r, s, rc, limit, a, ret, why);
}
