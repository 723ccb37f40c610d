/* Agents, one by its name and all of them. */
#include "store/sqlite/db.h"
#include "store/sqlite/read/reader.h"
#include "store/sqlite/read/statements.h"
#include "store/sqlite/rows.h"

static bool keep(struct arena *a, struct str *s)
{
	if (s->p)
		s->p = arena_dup(a, *s);
	return s->p || !s->n;
}

static bool take(sqlite3_stmt *s, struct arena *a, struct read_agent *ret)
{
	*ret = (struct read_agent){ .name = text_read(s, 0),
				    .rev = (uint32_t)sqlite3_column_int64(s, 1),
				    .at = { sqlite3_column_int64(s, 2) },
				    .text = text_read(s, 3),
				    .source = { text_read(s, 4), (uint32_t)sqlite3_column_int64(s, 5) } };
	return keep(a, &ret->name) && keep(a, &ret->text) && keep(a, &ret->source.from);
}

static int leave(sqlite3_stmt *s, int rc)
{
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return rc;
}

enum err read_agent(struct reader *r, struct str name, struct arena *a, struct read_agent *ret,
		    struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_AGENT];
	struct read_agent found = { .name = name };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = db_bind_text(s, 1, name);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW && !take(s, a, &found))
		rc = SQLITE_NOMEM;
	enum err e = reader_end(r, leave(s, rc), why);
	if (e == OK)
		*ret = found;
	return e;
}

static int list(sqlite3_stmt *s, int rc, unsigned limit, struct arena *a, struct read_agents *ret)
{
	size_t bytes = 0;
	ret->item = arena_alloc(a, limit * sizeof *ret->item);
	if (!ret->item)
		rc = SQLITE_NOMEM;
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(s);
		if (rc != SQLITE_ROW)
			break;
		bytes += (size_t)sqlite3_column_bytes(s, 3);
		ret->more = ret->n == limit || (ret->n && bytes > READ_BYTES_MAX);
		if (ret->more)
			break;
		if (!take(s, a, &ret->item[ret->n++]))
			rc = SQLITE_NOMEM;
	}
	return leave(s, rc);
}

enum err read_agents(struct reader *r, struct str after, unsigned limit, struct arena *a,
		     struct read_agents *ret, struct why *why)
{
	sqlite3_stmt *s = r->stmt[READ_AGENTS];
	struct read_agents found = { 0 };
	unsigned most = limit && limit < READ_LIST_MAX ? limit : READ_LIST_MAX;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, 0, most + 1);
		rc = list(s, db_bind_text(s, 1, after.p ? after : STR("")), most, a, &found);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = found;
	return e;
}
