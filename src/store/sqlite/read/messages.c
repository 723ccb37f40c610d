/* Reads news, and the messages that were made from them. */
#include "base/buf.h"
#include "store/sqlite/read/query.h"

/* --- news --- */

static int read_news_row(sqlite3_stmt *s, struct arena *a, void *item)
{
	(void)a;
	if (!row_is_valid(s, 0, ROW_NEWS))
		return ROW_INVALID;
	*(struct news_row *)item = (struct news_row){ .number = (uint64_t)sqlite3_column_int64(s, 0),
						      .what = (uint8_t)sqlite3_column_int(s, 1),
						      .attempt = (uint16_t)sqlite3_column_int(s, 2),
						      .sid = (uint64_t)sqlite3_column_int64(s, 3),
						      .run = (uint64_t)sqlite3_column_int64(s, 4),
						      .problem = (uint64_t)sqlite3_column_int64(s, 5),
						      .first = { sqlite3_column_int64(s, 6) },
						      .last = { sqlite3_column_int64(s, 7) } };
	return SQLITE_OK;
}

enum err sqlite_read_news(struct reader *reader, unsigned limit, struct arena *a, struct read_news *ret,
			  struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	static const struct row_kind news_kind = { sizeof(struct news_row), read_news_row, 0 };
	sqlite3_stmt *s = r->stmt[READ_NEWS];
	struct row_list list = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, list_limit(limit) + 1);
		rc = query_list(s, SQLITE_OK, list_limit(limit), &news_kind, a, &list);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = (struct read_news){ list.n, list.more, list.item };
	return e;
}

/* --- messages --- */

static int read_message_row(sqlite3_stmt *s, struct arena *a, void *item)
{
	struct message_row *m = item;
	if (!message_row_read(s, 0, m))
		return ROW_INVALID;
	return query_copied(query_copy_text(a, &m->origin) && query_copy_text(a, &m->target) &&
			    query_copy_text(a, &m->body) && query_copy_text(a, &m->result));
}

static const struct row_kind message_kind = { sizeof(struct message_row), read_message_row, 0 };

enum err sqlite_read_message(struct reader *reader, uint64_t number, struct arena *a, struct message_row *ret,
			     struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_MESSAGE];
	struct message_row found;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)number);
		rc = query_one(s, SQLITE_OK, &message_kind, a, &found);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK && rc != SQLITE_ROW)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no message %llu",
			       (unsigned long long)number);
	if (e == OK)
		*ret = found;
	return e;
}

/* Reads a list by a statement whose parameters are the number `first`, the limit and, for some statements,
 * the text `but`. */
static enum err read_message_list(struct sqlite_reader *r, enum read_statement which, int64_t first,
				  struct str but, unsigned limit, struct arena *a, struct read_messages *ret,
				  struct why *why)
{
	sqlite3_stmt *s = r->stmt[which];
	struct row_list list = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, first, list_limit(limit) + 1);
		rc = query_list(s, but.p ? db_bind_text(s, 3, but) : SQLITE_OK, list_limit(limit),
				&message_kind, a, &list);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = (struct read_messages){ list.n, list.more, list.item };
	return e;
}

enum err sqlite_read_messages_of(struct reader *reader, uint64_t run, unsigned limit, struct arena *a,
				 struct read_messages *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	return read_message_list(r, READ_MESSAGES_OF, (int64_t)run, (struct str){ 0 }, limit, a, ret, why);
}

enum err sqlite_read_messages(struct reader *reader, uint64_t before, unsigned limit, struct arena *a,
			      struct read_messages *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	return read_message_list(r, READ_MESSAGES, cursor_before(before), (struct str){ 0 }, limit, a, ret,
				 why);
}

/* Receivers as the parameter of a statement: a JSON list. */
static void write_receivers(struct buf *out, struct receiver_list list)
{
	buf_addc(out, '[');
	for (unsigned i = 0; i < list.n; i++)
		buf_addf(out, "%s%llu", i ? "," : "", (unsigned long long)list.item[i]);
	buf_addc(out, ']');
}

enum err sqlite_read_messages_due(struct reader *reader, struct wall by, struct receiver_list but,
				  unsigned limit, struct arena *a, struct read_messages *ret, struct why *why)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	write_receivers(&text, but);
	if (text.failed)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	return read_message_list(sqlite_reader_of(reader), READ_MESSAGES_DUE, by.us, buf_str(&text), limit, a,
				 ret, why);
}

/* --- single values --- */

/* Reads the first column of the row that a bound statement gives; `found`: whether there is a row. */
static enum err read_number(struct sqlite_reader *r, sqlite3_stmt *s, int bound, bool *found, int64_t *ret,
			    struct why *why)
{
	bool has_row = false;
	int64_t number = 0;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = db_first_number(s, bound, &has_row, &number);
	enum err e = reader_end(r, rc, why);
	if (e == OK) {
		*found = has_row;
		*ret = number;
	}
	return e;
}

enum err sqlite_read_message_next(struct reader *reader, struct receiver_list but, struct wall *ret,
				  struct why *why)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_MESSAGE_NEXT];
	bool found;
	int64_t next;
	write_receivers(&text, but);
	if (text.failed)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	enum err e = read_number(r, s, db_bind_text(s, 1, buf_str(&text)), &found, &next, why);
	if (e == OK)
		ret->us = found ? next : WALL_NEVER.us;
	return e;
}

enum err sqlite_read_message_after(struct reader *reader, uint64_t sid, unsigned kind, uint64_t number,
				   bool *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_MESSAGE_AFTER];
	int64_t one;
	DB_BIND(s, (int64_t)sid, kind, (int64_t)number);
	return read_number(r, s, SQLITE_OK, ret, &one, why);
}

enum err sqlite_read_receiver_gone(struct reader *reader, struct str origin, bool *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_RECEIVER_GONE];
	int64_t one;
	return read_number(r, s, db_bind_text(s, 1, origin), ret, &one, why);
}
