#include "store/sqlite/read/reader.h"
#include "store/sqlite/db.h"
#include "store/sqlite/migration.h"
#include "store/sqlite/read/statements.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"

#include <stdlib.h>

/* --- opening --- */

static enum err check_version(sqlite3 *db, struct why *why)
{
	int64_t version;
	enum err e = migrate_check(db, why);
	if (e != OK)
		return e;
	int rc = db_number(db, "PRAGMA user_version", 0, &version);
	if (rc != SQLITE_OK) {
		db_explain(db, rc, why);
		return E_IO;
	}
	if (version == schema_version)
		return OK;
	return why_set(why, E_INPUT, WHY_NOWHERE, "%s has version %lld and is not yet brought to %u",
		       sqlite3_db_filename(db, NULL), (long long)version, schema_version);
}

enum err reader_open(const char *path, struct reader **ret, struct why *why)
{
	struct reader *r = calloc(1, sizeof *r);
	if (!r)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	enum err e = db_open(path, SQLITE_OPEN_READONLY, &r->db, why);
	if (e == OK) {
		sqlite3_busy_timeout(r->db, READ_MS_MAX);
		e = check_version(r->db, why);
	}
	int rc = e == OK ? reader_prepare(r) : SQLITE_OK;
	if (rc != SQLITE_OK) {
		db_explain(r->db, rc, why);
		e = E_IO;
	}
	if (e == OK)
		*ret = r;
	else
		reader_close(r);
	return e;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	reader_finalize(r);
	sqlite3_close(r->db);
	free(r);
}

void reader_be_patient(struct reader *r)
{
	r->patient = true;
}

/* --- what the answers share --- */

static enum err not_found(struct why *why, const char *what)
{
	return why_set(why, E_NOTFOUND, WHY_NOWHERE, "%s", what);
}

/* Ends the look at a statement. SQLITE_ROW stays what it is. */
static int leave(sqlite3_stmt *s, int rc)
{
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return rc;
}

static unsigned bounded(unsigned limit)
{
	return limit && limit < READ_LIST_MAX ? limit : READ_LIST_MAX;
}

/* Copies a text out of a row. False: no memory. */
static bool keep(struct arena *a, struct str *s)
{
	if (s->p)
		s->p = arena_dup(a, *s);
	return s->p || !s->n;
}

/* --- schedules --- */

static bool take_sched(sqlite3_stmt *s, struct arena *a, struct read_sched *ret)
{
	struct sched_record record = { 0 };
	int at = SCHED_PARAMS;
	sched_read(s, 0, &record);
	*ret = (struct read_sched){ .row = record.row, .put_at = record.put_at, .dropped = WALL_NEVER };
	if (record.dropped)
		ret->dropped.us = sqlite3_column_int64(s, SCHED_PARAMS - 2);
	ret->id = text_read(s, at++);
	ret->document = text_read(s, at++);
	ret->source = (struct source_row){ text_read(s, at), (uint32_t)sqlite3_column_int64(s, at + 1) };
	at += 2;
	ret->note = text_read(s, at++);
	ret->open = sqlite3_column_type(s, at) != SQLITE_NULL;
	if (ret->open)
		ret->range = (struct range_row){ .sid = record.row.sid,
						 .first = { sqlite3_column_int64(s, at) },
						 .last = { sqlite3_column_int64(s, at + 1) },
						 .state = (uint8_t)sqlite3_column_int(s, at + 2),
						 .reason = (uint16_t)sqlite3_column_int(s, at + 3) };
	return keep(a, &ret->id) && keep(a, &ret->document) && keep(a, &ret->source.from) &&
	       keep(a, &ret->note);
}

/* Of a statement that has been bound, and gives one at most. */
static int one_sched(sqlite3_stmt *s, int bound, struct arena *a, struct read_sched *ret)
{
	int rc = bound == SQLITE_OK ? sqlite3_step(s) : bound;
	if (rc == SQLITE_ROW && !take_sched(s, a, ret))
		rc = SQLITE_NOMEM;
	return leave(s, rc);
}

enum err read_sched(struct reader *r, uint64_t sid, struct arena *a, struct read_sched *ret, struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_SCHED];
	struct read_sched found;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)sid);
		rc = one_sched(s, SQLITE_OK, a, &found);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK && rc != SQLITE_ROW)
		return not_found(why, "there is no such schedule");
	if (e == OK)
		*ret = found;
	return e;
}

/* The text that a statement which asks by two numbers gives; none, if it gives none. */
static enum err one_text(struct reader *r, enum read_sql which, uint64_t first, uint64_t second,
			 struct arena *a, struct str *ret, struct why *why)
{
	sqlite3_stmt *s = r->stmt[which];
	struct str found = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)first, (int64_t)second);
		rc = sqlite3_step(s);
		if (rc == SQLITE_ROW)
			found = text_read(s, 0);
		if (!keep(a, &found))
			rc = SQLITE_NOMEM;
		rc = leave(s, rc);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = found;
	return e;
}

enum err read_id(struct reader *r, uint64_t sid, struct arena *a, struct str *ret, struct why *why)
{
	return one_text(r, READ_ID, sid, 0, a, ret, why);
}

enum err read_document_of(struct reader *r, uint64_t sid, uint32_t rev, struct arena *a, struct str *ret,
			  struct why *why)
{
	enum err e = one_text(r, READ_DOCUMENT, sid, rev, a, ret, why);
	return e == OK && !ret->p ? not_found(why, "there is no such document") : e;
}

enum err read_words(struct reader *r, uint64_t run, enum run_text_kind kind, struct arena *a, struct str *ret,
		    struct why *why)
{
	return one_text(r, READ_WORDS, run, kind, a, ret, why);
}

enum err read_sched_removed(struct reader *r, struct str id, struct arena *a, struct read_sched *ret,
			    struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_SCHED_REMOVED];
	struct read_sched found;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = one_sched(s, db_bind_text(s, 1, id), a, &found);
	enum err e = reader_end(r, rc, why);
	if (e == OK && rc != SQLITE_ROW)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there never was a schedule '%.*s'",
			       STR_SHORT(id));
	if (e == OK)
		*ret = found;
	return e;
}

/* Ids that begin with `text`, one more than are told. */
static int candidates(struct reader *r, struct str text, struct arena *a, struct read_match *m)
{
	sqlite3_stmt *s = r->stmt[READ_SCHED_IDS];
	char *end = arena_printf(a, "%.*s\xFF", STR_ARG(text));
	if (!end)
		return SQLITE_NOMEM;
	DB_BIND(s, 0, 0, READ_CANDIDATES_MAX + 1);
	int rc = db_bind_text(s, 1, text);
	if (rc == SQLITE_OK)
		rc = db_bind_text(s, 2, str_of(end));
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(s);
		if (rc != SQLITE_ROW)
			break;
		m->more = m->n == READ_CANDIDATES_MAX;
		if (m->more)
			break;
		m->id[m->n] = text_read(s, 0);
		if (!keep(a, &m->id[m->n++]))
			rc = SQLITE_NOMEM;
	}
	return leave(s, rc);
}

static int match(struct reader *r, struct str text, struct arena *a, struct read_match *m)
{
	sqlite3_stmt *s = r->stmt[READ_SCHED_ID];
	int rc = one_sched(s, db_bind_text(s, 1, text), a, &m->sched);
	if (rc == SQLITE_ROW) {
		m->id[0] = m->sched.id;
		m->n = 1;
	}
	if (rc != SQLITE_DONE)
		return rc;
	rc = candidates(r, text, a, m);
	if (rc == SQLITE_DONE && m->n == 1)
		rc = one_sched(s, db_bind_text(s, 1, m->id[0]), a, &m->sched);
	return rc;
}

enum err read_sched_named(struct reader *r, struct str text, struct arena *a, struct read_match *ret,
			  struct why *why)
{
	struct read_match m = { 0 };
	int rc = SQLITE_OK;
	if (text.n) {
		rc = reader_begin(r);
		if (rc == SQLITE_OK)
			rc = match(r, text, a, &m);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK && !m.n)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no schedule '%.*s'", STR_SHORT(text));
	if (e == OK)
		*ret = m;
	return e;
}

/* Of a statement that has been bound, for one more than `limit`. */
static int list_scheds(sqlite3_stmt *s, int rc, unsigned limit, struct arena *a, struct read_scheds *list)
{
	size_t bytes = 0;
	list->item = arena_alloc(a, limit * sizeof *list->item);
	if (!list->item)
		rc = SQLITE_NOMEM;
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(s);
		if (rc != SQLITE_ROW)
			break;
		bytes += (size_t)sqlite3_column_bytes(s, SCHED_PARAMS + 1);
		list->more = list->n == limit || (list->n && bytes > READ_BYTES_MAX);
		if (list->more)
			break;
		if (!take_sched(s, a, &list->item[list->n++]))
			rc = SQLITE_NOMEM;
	}
	return leave(s, rc);
}

static enum err some_scheds(struct reader *r, enum read_sql which, struct str after, unsigned limit,
			    struct arena *a, struct read_scheds *ret, struct why *why)
{
	sqlite3_stmt *s = r->stmt[which];
	struct read_scheds list = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, 0, bounded(limit) + 1);
		rc = list_scheds(s, db_bind_text(s, 1, after.p ? after : STR("")), bounded(limit), a, &list);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = list;
	return e;
}

enum err read_scheds(struct reader *r, struct str after, unsigned limit, struct arena *a,
		     struct read_scheds *ret, struct why *why)
{
	return some_scheds(r, READ_SCHED_LIST, after, limit, a, ret, why);
}

enum err read_scheds_noted(struct reader *r, struct str after, unsigned limit, struct arena *a,
			   struct read_scheds *ret, struct why *why)
{
	return some_scheds(r, READ_SCHED_NOTED, after, limit, a, ret, why);
}

static int bind_from(sqlite3_stmt *s, struct str from, struct str last, const struct read_sched *after)
{
	struct str text[] = { from, last, after ? after->source.from : STR(""), after ? after->id : STR("") };
	int rc = SQLITE_OK;
	for (unsigned i = 0; i < ARRAY_LEN(text) && rc == SQLITE_OK; i++)
		rc = db_bind_text(s, (int)i + 1, text[i]);
	return rc;
}

enum err read_scheds_from(struct reader *r, struct str from, const struct read_sched *after, unsigned limit,
			  struct arena *a, struct read_scheds *ret, struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_SCHED_FROM];
	struct read_scheds list = { 0 };
	bool below = from.n && from.p[from.n - 1] == '/';
	/* A byte that is larger than any of a text. */
	const char *last = arena_printf(a, "%.*s%s", (int)from.n, from.p, below ? "\xff" : "");
	int rc = last ? reader_begin(r) : SQLITE_NOMEM;
	if (rc == SQLITE_OK) {
		DB_BIND(s, 0, 0, 0, 0, bounded(limit) + 1);
		rc = list_scheds(s, bind_from(s, from, str_of(last), after), bounded(limit), a, &list);
	}
	enum err e = last ? reader_end(r, rc, why) : E_NOMEM;
	if (e == OK)
		*ret = list;
	return e;
}

/* --- what agents know --- */

enum err read_avoided(struct reader *r, uint64_t sid, struct wall since, struct read_avoided *ret,
		      struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_AVOIDED];
	struct read_avoided found = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)sid, wall_seconds(since));
		rc = sqlite3_step(s);
		if (rc == SQLITE_ROW)
			found = (struct read_avoided){ (uint64_t)sqlite3_column_int64(s, 0),
						       (uint64_t)sqlite3_column_int64(s, 1) };
		rc = leave(s, rc);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = found;
	return e;
}

enum err read_state(struct reader *r, struct str key, struct arena *a, struct state_row *ret, struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_STATE];
	struct state_row found = { .key = key };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = db_bind_text(s, 1, key);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		found.rev = (uint32_t)sqlite3_column_int64(s, 0);
		found.text = text_read(s, 1);
		if (!keep(a, &found.text))
			rc = SQLITE_NOMEM;
	}
	enum err e = reader_end(r, leave(s, rc), why);
	if (e == OK)
		*ret = found;
	return e;
}

/* --- why --- */

/* A record by schedule and time. */
static int one_run(struct reader *r, enum read_sql which, uint64_t sid, struct wall nominal, bool *there,
		   struct run_row *ret)
{
	sqlite3_stmt *s = r->stmt[which];
	DB_BIND(s, (int64_t)sid, nominal.us);
	int rc = sqlite3_step(s);
	*there = rc == SQLITE_ROW;
	if (*there)
		run_read(s, 0, ret);
	rc = leave(s, rc);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int one_range(struct reader *r, uint64_t sid, struct wall nominal, bool *there, struct range_row *ret)
{
	sqlite3_stmt *s = r->stmt[READ_RANGE_COVERS];
	DB_BIND(s, (int64_t)sid, nominal.us);
	int rc = sqlite3_step(s);
	*there = rc == SQLITE_ROW;
	if (*there)
		*ret = (struct range_row){ .sid = (uint64_t)sqlite3_column_int64(s, 0),
					   .first = { sqlite3_column_int64(s, 1) },
					   .last = { sqlite3_column_int64(s, 2) },
					   .state = (uint8_t)sqlite3_column_int(s, 3),
					   .reason = (uint16_t)sqlite3_column_int(s, 4) };
	rc = leave(s, rc);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

enum err read_why(struct reader *r, uint64_t sid, struct wall nominal, struct read_why *ret, struct why *why)
{
	struct read_why w = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = one_run(r, READ_RUN_AT, sid, nominal, &w.has_run, &w.run);
	if (rc == SQLITE_OK)
		rc = one_range(r, sid, nominal, &w.has_range, &w.range);
	if (rc == SQLITE_OK)
		rc = one_run(r, READ_RUN_BEFORE, sid, nominal, &w.has_before, &w.before);
	if (rc == SQLITE_OK)
		rc = one_run(r, READ_RUN_AFTER, sid, nominal, &w.has_after, &w.after);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = w;
	return e;
}

/* --- holds and problems --- */

static int list_holds(struct reader *r, struct arena *a, struct read_holds *list)
{
	sqlite3_stmt *s = r->stmt[READ_HOLDS];
	int rc;
	list->item = arena_alloc(a, READ_LIST_MAX * sizeof *list->item);
	if (!list->item)
		return SQLITE_NOMEM;
	DB_BIND(s, READ_LIST_MAX + 1);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		list->more = list->n == READ_LIST_MAX;
		if (list->more)
			break;
		struct read_hold *h = &list->item[list->n++];
		*h = (struct read_hold){ .row = { .key = (uint32_t)sqlite3_column_int64(s, 0),
						  .reason = (uint16_t)sqlite3_column_int(s, 1),
						  .until = { sqlite3_column_int64(s, 2) } },
					 .note = text_read(s, 3) };
		if (!keep(a, &h->note)) {
			rc = SQLITE_NOMEM;
			break;
		}
	}
	return leave(s, rc);
}

enum err read_holds(struct reader *r, struct arena *a, struct read_holds *ret, struct why *why)
{
	struct read_holds list = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = list_holds(r, a, &list);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = list;
	return e;
}

static bool take_problem(sqlite3_stmt *s, struct arena *a, struct problem_row *p)
{
	problem_row_read(s, 0, p);
	return keep(a, &p->key) && keep(a, &p->subject) && keep(a, &p->text) && keep(a, &p->by) &&
	       keep(a, &p->note);
}

enum err read_problem(struct reader *r, uint64_t number, struct arena *a, struct problem_row *ret,
		      struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_PROBLEM];
	struct problem_row found;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)number);
		rc = sqlite3_step(s);
		if (rc == SQLITE_ROW && !take_problem(s, a, &found))
			rc = SQLITE_NOMEM;
		rc = leave(s, rc);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK && rc != SQLITE_ROW)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no problem %llu",
			       (unsigned long long)number);
	if (e == OK)
		*ret = found;
	return e;
}

static int list_problems(struct reader *r, sqlite3_stmt *s, uint64_t before, unsigned limit, struct arena *a,
			 struct read_problems *list)
{
	int rc;
	(void)r;
	list->item = arena_alloc(a, limit * sizeof *list->item);
	if (!list->item)
		return SQLITE_NOMEM;
	DB_BIND(s, before && before <= INT64_MAX ? (int64_t)before : INT64_MAX, limit + 1);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		list->more = list->n == limit;
		if (list->more)
			break;
		if (!take_problem(s, a, &list->item[list->n++])) {
			rc = SQLITE_NOMEM;
			break;
		}
	}
	return leave(s, rc);
}

enum err read_problems(struct reader *r, bool all, uint64_t before, unsigned limit, struct arena *a,
		       struct read_problems *ret, struct why *why)
{
	struct read_problems list = { 0 };
	sqlite3_stmt *s = r->stmt[all ? READ_PROBLEMS : READ_PROBLEMS_OPEN];
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = list_problems(r, s, before, bounded(limit), a, &list);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = list;
	return e;
}

/* --- news and notices --- */

static int list_news(sqlite3_stmt *s, unsigned limit, struct arena *a, struct read_news *list)
{
	int rc;
	list->item = arena_alloc(a, limit * sizeof *list->item);
	if (!list->item)
		return SQLITE_NOMEM;
	DB_BIND(s, limit + 1);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		list->more = list->n == limit;
		if (list->more)
			break;
		list->item[list->n++] = (struct news_row){ .number = (uint64_t)sqlite3_column_int64(s, 0),
							   .what = (uint8_t)sqlite3_column_int(s, 1),
							   .attempt = (uint16_t)sqlite3_column_int(s, 2),
							   .sid = (uint64_t)sqlite3_column_int64(s, 3),
							   .run = (uint64_t)sqlite3_column_int64(s, 4),
							   .problem = (uint64_t)sqlite3_column_int64(s, 5),
							   .first = { sqlite3_column_int64(s, 6) },
							   .last = { sqlite3_column_int64(s, 7) } };
	}
	return leave(s, rc);
}

enum err read_news(struct reader *r, unsigned limit, struct arena *a, struct read_news *ret, struct why *why)
{
	struct read_news list = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = list_news(r->stmt[READ_NEWS], bounded(limit), a, &list);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = list;
	return e;
}

static bool take_notice(sqlite3_stmt *s, struct arena *a, struct message_row *n)
{
	message_row_read(s, 0, n);
	return keep(a, &n->origin) && keep(a, &n->target) && keep(a, &n->body) && keep(a, &n->result);
}

/* Of a statement whose first parameter is bound, and third. */
static int list_notices(sqlite3_stmt *s, unsigned limit, struct arena *a, struct read_notices *list)
{
	int rc = sqlite3_bind_int64(s, 2, limit + 1);
	list->item = arena_alloc(a, limit * sizeof *list->item);
	if (!list->item)
		rc = SQLITE_NOMEM;
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		list->more = list->n == limit;
		if (list->more)
			break;
		rc = take_notice(s, a, &list->item[list->n++]) ? SQLITE_OK : SQLITE_NOMEM;
	}
	return leave(s, rc);
}

static enum err some_notices(struct reader *r, enum read_sql which, int64_t by, struct str but,
			     unsigned limit, struct arena *a, struct read_notices *ret, struct why *why)
{
	struct read_notices list = { 0 };
	sqlite3_stmt *s = r->stmt[which];
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 1, by);
	if (rc == SQLITE_OK && but.p)
		rc = db_bind_text(s, 3, but);
	if (rc == SQLITE_OK)
		rc = list_notices(s, bounded(limit), a, &list);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = list;
	return e;
}

enum err read_notices_of(struct reader *r, uint64_t run, unsigned limit, struct arena *a,
			 struct read_notices *ret, struct why *why)
{
	return some_notices(r, READ_NOTICES_OF, (int64_t)run, (struct str){ 0 }, limit, a, ret, why);
}

enum err read_notices(struct reader *r, uint64_t before, unsigned limit, struct arena *a,
		      struct read_notices *ret, struct why *why)
{
	int64_t by = before && before <= INT64_MAX ? (int64_t)before : INT64_MAX;
	return some_notices(r, READ_NOTICES, by, (struct str){ 0 }, limit, a, ret, why);
}

enum err read_notices_due(struct reader *r, struct wall by, struct str but, unsigned limit, struct arena *a,
			  struct read_notices *ret, struct why *why)
{
	return some_notices(r, READ_NOTICES_DUE, by.us, but, limit, a, ret, why);
}

enum err read_notice(struct reader *r, uint64_t number, struct arena *a, struct message_row *ret,
		     struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_NOTICE];
	struct message_row found;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)number);
		rc = sqlite3_step(s);
		if (rc == SQLITE_ROW && !take_notice(s, a, &found))
			rc = SQLITE_NOMEM;
		rc = leave(s, rc);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK && rc != SQLITE_ROW)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no notice %llu",
			       (unsigned long long)number);
	if (e == OK)
		*ret = found;
	return e;
}

/* Of a statement that has been bound: its first number, if there is a row. */
static enum err one_number(struct reader *r, sqlite3_stmt *s, int bound, bool *there, int64_t *ret,
			   struct why *why)
{
	int rc = bound == SQLITE_OK ? sqlite3_step(s) : bound;
	bool found = rc == SQLITE_ROW;
	int64_t n = found ? sqlite3_column_int64(s, 0) : 0;
	enum err e = reader_end(r, leave(s, rc), why);
	if (e == OK) {
		*there = found;
		*ret = n;
	}
	return e;
}

enum err read_notice_next(struct reader *r, struct str but, struct wall *ret, struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_NOTICE_NEXT];
	bool there;
	int64_t n;
	int rc = reader_begin(r);
	enum err e = one_number(r, s, rc == SQLITE_OK ? db_bind_text(s, 1, but) : rc, &there, &n, why);
	if (e == OK)
		ret->us = there ? n : WALL_NEVER.us;
	return e;
}

enum err read_notice_after(struct reader *r, uint64_t sid, unsigned kind, uint64_t number, bool *ret,
			   struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_PINGED_SINCE];
	int64_t n;
	int rc = reader_begin(r);
	DB_BIND(s, (int64_t)sid, kind, (int64_t)number);
	return one_number(r, s, rc, ret, &n, why);
}

enum err read_receiver_gone(struct reader *r, struct str origin, bool *ret, struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_RECEIVER_GONE];
	int64_t n;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = db_bind_text(s, 1, origin);
	return one_number(r, s, rc, ret, &n, why);
}
