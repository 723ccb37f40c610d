/* Compares the schema of a database with that of a new one in memory. */
#include "store/sqlite/schema_check.h"
#include "base/buf.h"
#include "store/sqlite/db.h"
#include "store/sqlite/schema.h"

/* sqlite_… are SQLite's own: the sequence of AUTOINCREMENT, and indices that follow from constraints. Of the
 * tables in which FTS5 keeps its index only the names are compared, because their text depends on the version
 * of SQLite. */
static const char list_objects[] =
	"SELECT type, name, CASE WHEN name LIKE 'memory\\_words\\_%' ESCAPE '\\' AND type = 'table' THEN ''"
	" ELSE sql END FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name, type";

/* Appends SQL without comments, and with one space in place of any white space. */
static void add_plain(struct buf *out, const char *sql)
{
	bool space = false;
	char quote = 0;
	for (const char *p = sql ? sql : ""; *p; p++) {
		if (!quote && p[0] == '-' && p[1] == '-') {
			while (p[1] && p[1] != '\n')
				p++;
			space = true;
			continue;
		}
		if (!quote && strchr(" \t\r\n", *p)) {
			space = true;
			continue;
		}
		if (space && out->n && !strchr("(),", *p) && !strchr("(,", out->p[out->n - 1]))
			buf_addc(out, ' ');
		space = false;
		quote = quote == *p ? 0 : !quote && strchr("'\"", *p) ? *p : quote;
		buf_addc(out, *p);
	}
}

static bool is_same(sqlite3_stmt *a, sqlite3_stmt *b)
{
	_cleanup_(buf_free) struct buf x = { 0 }, y = { 0 };
	for (int i = 0; i < 3; i++) {
		add_plain(&x, (const char *)sqlite3_column_text(a, i));
		add_plain(&y, (const char *)sqlite3_column_text(b, i));
		buf_addc(&x, '\n');
		buf_addc(&y, '\n');
	}
	return !x.failed && !y.failed && str_eq(buf_str(&x), buf_str(&y));
}

/* Refuses the first object, in the order of names, that differs. At least one of the two statements has a
 * row. */
static enum err refuse(sqlite3 *db, sqlite3_stmt *found, int found_rc, sqlite3_stmt *ours, int ours_rc,
		       struct why *why)
{
	const char *path = sqlite3_db_filename(db, NULL);
	const char *theirs = found_rc == SQLITE_ROW ? (const char *)sqlite3_column_text(found, 1) : NULL;
	const char *own = ours_rc == SQLITE_ROW ? (const char *)sqlite3_column_text(ours, 1) : NULL;
	int order = !theirs ? 1 : !own ? -1 : strcmp(theirs, own);
	if (order > 0)
		return why_set(why, E_INPUT, WHY_NOWHERE, "%s is not a database of rota: it has no %s %.60s",
			       path, (const char *)sqlite3_column_text(ours, 0), own);
	return why_set(why, E_INPUT, WHY_NOWHERE,
		       order < 0 ? "%s is not a database of rota alone: the %s %.60s was added to it"
				 : "%s is not a database of rota: its %s %.60s differs from rota's",
		       path, (const char *)sqlite3_column_text(found, 0), theirs);
}

static int make_reference(unsigned version, sqlite3 **ret)
{
	int rc = sqlite3_open(":memory:", ret);
	for (unsigned i = 0; i < version && rc == SQLITE_OK; i++)
		rc = sqlite3_exec(*ret, schema_sql[i], NULL, NULL, NULL);
	return rc;
}

static int step_both(sqlite3_stmt *a, sqlite3_stmt *b, int *rc_a, int *rc_b)
{
	*rc_a = sqlite3_step(a);
	*rc_b = sqlite3_step(b);
	return *rc_a != SQLITE_ROW && *rc_a != SQLITE_DONE ? *rc_a : SQLITE_OK;
}

enum err schema_check(sqlite3 *db, unsigned version, struct why *why)
{
	sqlite3 *reference = NULL;
	sqlite3_stmt *ours = NULL, *found = NULL;
	int found_rc = SQLITE_DONE, ours_rc = SQLITE_DONE;
	enum err e = OK;
	int rc = make_reference(version, &reference);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(reference, list_objects, -1, &ours, NULL);
	if (rc != SQLITE_OK)
		e = why_set(why, E_NOMEM, WHY_NOWHERE, "the schema cannot be compared: %s",
			    sqlite3_errstr(rc));
	if (!e && (rc = sqlite3_prepare_v2(db, list_objects, -1, &found, NULL)) != SQLITE_OK)
		e = db_fail(db, rc, why);
	while (!e) {
		rc = step_both(found, ours, &found_rc, &ours_rc);
		if (rc != SQLITE_OK)
			e = db_fail(db, rc, why);
		else if (found_rc == SQLITE_DONE && ours_rc == SQLITE_DONE)
			break;
		else if (found_rc != ours_rc || !is_same(found, ours))
			e = refuse(db, found, found_rc, ours, ours_rc, why);
	}
	sqlite3_finalize(found);
	sqlite3_finalize(ours);
	sqlite3_close(reference);
	return e;
}
