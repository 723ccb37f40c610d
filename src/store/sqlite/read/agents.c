/* Reads agents, by name and as a list, and their state. */
#include "store/sqlite/read/query.h"

static int read_agent_row(sqlite3_stmt *s, struct arena *a, void *item)
{
	struct read_agent *ret = item;
	*ret = (struct read_agent){ .name = text_read(s, 0),
				    .rev = (uint32_t)sqlite3_column_int64(s, 1),
				    .at = { sqlite3_column_int64(s, 2) },
				    .text = text_read(s, 3),
				    .source = { text_read(s, 4), (uint32_t)sqlite3_column_int64(s, 5) } };
	return query_copied(query_copy_text(a, &ret->name) && query_copy_text(a, &ret->text) &&
			    query_copy_text(a, &ret->source.from));
}

static const struct row_kind agent_kind = { sizeof(struct read_agent), read_agent_row, 3 };

int query_agent(struct sqlite_reader *r, struct str name, struct arena *a, struct read_agent *ret)
{
	sqlite3_stmt *s = r->stmt[READ_AGENT];
	*ret = (struct read_agent){ .name = name };
	return query_one(s, db_bind_text(s, 1, name), &agent_kind, a, ret);
}

enum err sqlite_read_agent(struct reader *reader, struct str name, struct arena *a, struct read_agent *ret,
			   struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	struct read_agent found = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = query_agent(r, name, a, &found);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = found;
	return e;
}

enum err sqlite_read_agents(struct reader *reader, struct str after, unsigned limit, struct arena *a,
			    struct read_agents *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_AGENTS];
	struct row_list list = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, 0, list_limit(limit) + 1);
		rc = query_list(s, db_bind_text(s, 1, after.p ? after : STR("")), list_limit(limit),
				&agent_kind, a, &list);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = (struct read_agents){ list.n, list.more, list.item };
	return e;
}

static int read_state_row(sqlite3_stmt *s, struct arena *a, void *item)
{
	struct state_row *ret = item;
	ret->rev = (uint32_t)sqlite3_column_int64(s, 0);
	ret->text = text_read(s, 1);
	return query_copied(query_copy_text(a, &ret->text));
}

int query_state(struct sqlite_reader *r, struct str key, struct arena *a, struct state_row *ret)
{
	static const struct row_kind state_kind = { sizeof(struct state_row), read_state_row, 0 };
	sqlite3_stmt *s = r->stmt[READ_STATE];
	*ret = (struct state_row){ .key = key };
	return query_one(s, db_bind_text(s, 1, key), &state_kind, a, ret);
}

enum err sqlite_read_state(struct reader *reader, struct str key, struct arena *a, struct state_row *ret,
			   struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	struct state_row found = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = query_state(r, key, a, &found);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = found;
	return e;
}
