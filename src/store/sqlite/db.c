#include "store/sqlite/db.h"
#include "store/sqlite/store.h"

#include <errno.h>
#include <stdio.h>

static void explain(sqlite3 *db, const char *path, int rc, struct why *why)
{
	/* SQLite keeps the machine's word for some failures only, and for long after they are over. */
	bool of_machine = (rc & 0xFF) == SQLITE_IOERR || (rc & 0xFF) == SQLITE_CANTOPEN;
	int number = !of_machine ? 0 : errno ? errno : sqlite3_system_errno(db);
	char text[128];
	const char *machine = number ? strerror_r(number, text, sizeof text) : NULL;
	why_write(why, WHY_NOWHERE, "%s: %s%s%s%s", path, sqlite3_errstr(rc), machine ? " (" : "",
		  machine ? machine : "", machine ? ")" : "");
}

enum err db_open(const char *path, int flags, sqlite3 **ret, struct why *why)
{
	sqlite3 *db = NULL;
	errno = 0;
	int rc = sqlite3_open_v2(path, &db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(db, STORE_BUSY_MS);
		*ret = db;
		return OK;
	}
	if (!db)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "%s: out of memory", path);
	explain(db, path, rc, why);
	sqlite3_close(db);
	return E_IO;
}

void db_explain(sqlite3 *db, int rc, struct why *why)
{
	explain(db, sqlite3_db_filename(db, NULL), rc, why);
}

enum db_fate db_fate(int rc)
{
	switch (rc & 0xFF) {
	case SQLITE_OK:
		return DB_DONE;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return DB_DAMAGE;
	case SQLITE_PERM:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_NOMEM:
	case SQLITE_READONLY:
	case SQLITE_INTERRUPT:
	case SQLITE_IOERR:
	case SQLITE_FULL:
	case SQLITE_CANTOPEN:
	case SQLITE_PROTOCOL:
	case SQLITE_SCHEMA:
		return DB_OUTAGE;
	default:
		return DB_FAULT;
	}
}

int db_result(int rc)
{
	return (rc & 0xFF) == SQLITE_CORRUPT && (errno == EIO || errno == ENXIO) ? SQLITE_IOERR_READ : rc;
}

void db_note(sqlite3 *db, int rc, struct trouble *t, enum trouble_with with)
{
	struct why why;
	if (rc == SQLITE_OK) {
		trouble_note(t, with, NULL);
		return;
	}
	db_explain(db, rc, &why);
	if (db_fate(rc) == DB_DAMAGE)
		trouble_note_final(t, with, &why);
	else
		trouble_note(t, with, &why);
}

int db_number(sqlite3 *db, const char *sql, int64_t other, int64_t *ret)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
		*ret = rc == SQLITE_ROW ? sqlite3_column_int64(s, 0) : other;
		rc = SQLITE_OK;
	}
	sqlite3_finalize(s);
	return rc;
}

void db_bind(sqlite3_stmt *s, const int64_t *v, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		int rc = sqlite3_bind_int64(s, (int)i + 1, v[i]);
		assert(rc == SQLITE_OK); /* a number needs no memory: only our own miscounting can fail */
		(void)rc;
	}
}

int db_bind_text(sqlite3_stmt *s, int at, struct str text)
{
	return text.p ? sqlite3_bind_text64(s, at, text.p, text.n, SQLITE_STATIC, SQLITE_UTF8)
		      : sqlite3_bind_null(s, at);
}

int db_step(sqlite3_stmt *s)
{
	errno = 0; /* what explains a failure is its own */
	int rc = sqlite3_step(s);
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}
