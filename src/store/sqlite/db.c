/* Opens connections, explains errors, and binds and steps statements. */
#include "store/sqlite/db.h"
#include "store/sqlite/file.h"
#include "store/sqlite/rows.h"
#include "sys/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The errno of a failure; 0: it has none. */
static int errno_of(sqlite3 *db, int rc)
{
	/* SQLite keeps errno for these failures only, and does not clear it when later calls succeed. */
	bool has_errno = (rc & 0xFF) == SQLITE_IOERR || (rc & 0xFF) == SQLITE_CANTOPEN;
	return !has_errno ? 0 : errno ? errno : sqlite3_system_errno(db);
}

static void explain(sqlite3 *db, const char *path, int rc, struct why *why)
{
	int number = errno_of(db, rc);
	char text[128];
	const char *reason = number ? strerror_r(number, text, sizeof text) : NULL;
	why_write(why, WHY_NOWHERE, "%s: %s%s%s%s", path,
		  rc == ROW_INVALID ? row_error() : sqlite3_errstr(rc), reason ? " (" : "",
		  reason ? reason : "", reason ? ")" : "");
}

/* SQLite opens these files by name. They are not opened here: closing a descriptor of a database drops the
 * locks that SQLite holds on it in this process. */
static enum err check_files(const char *path, struct why *why)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
	char name[PATH_MAX];
	for (unsigned i = 0; i < ARRAY_LEN(suffixes); i++) {
		file_path(name, path, suffixes[i]);
		int e = data_file_check(name);
		if (e == ELOOP || e == DATA_FILE_FOREIGN)
			return why_set(why, E_INPUT, WHY_NOWHERE, "%s cannot be opened: %s", name,
				       data_file_error(e));
	}
	return OK;
}

/* SQLite would create the file with a mode that depends on the umask; it gives its journal and its log the
 * mode of the database. An error is reported when SQLite opens the file. */
static void make_private(const char *path)
{
	struct stat st;
	if (lstat(path, &st) == 0) {
		if (st.st_mode & 077)
			chmod(path, 0600);
		return;
	}
	int fd = data_file_open(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL);
	if (fd >= 0)
		close(fd);
}

static enum err open_database(const char *path, int flags, sqlite3 **ret, struct why *why)
{
	sqlite3 *db = NULL;
	errno = 0;
	int rc = sqlite3_open_v2(path, &db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(db, STORE_BUSY_MS);
		/* The file may come from elsewhere: its schema must not call functions with side effects, and
		 * no statement may write to the tables that hold the schema. */
		sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		*ret = db;
		return OK;
	}
	if (!db)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "%s: out of memory", path);
	explain(db, path, rc, why);
	sqlite3_close(db);
	return E_IO;
}

enum err db_open(const char *path, int flags, sqlite3 **ret, struct why *why)
{
	enum err e = check_files(path, why);
	if (!e && (flags & SQLITE_OPEN_CREATE))
		make_private(path);
	return e ? e : open_database(path, flags, ret, why);
}

enum err db_open_foreign(const char *path, sqlite3 **ret, struct why *why)
{
	return open_database(path, SQLITE_OPEN_READONLY, ret, why);
}

void db_explain(sqlite3 *db, int rc, struct why *why)
{
	explain(db, sqlite3_db_filename(db, NULL), rc, why);
}

enum err db_error(sqlite3 *db, int rc)
{
	bool memory = (rc & 0xFF) == SQLITE_NOMEM || rc == SQLITE_IOERR_NOMEM || errno_of(db, rc) == ENOMEM;
	return rc == SQLITE_OK ? OK : memory ? E_NOMEM : E_IO;
}

enum err db_fail(sqlite3 *db, int rc, struct why *why)
{
	db_explain(db, rc, why);
	return E_IO;
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

void db_record(sqlite3 *db, int rc, struct store_failures *f, enum store_activity activity)
{
	struct why why;
	enum err e = db_error(db, rc);
	if (e)
		db_explain(db, rc, &why);
	if (db_fate(rc) == DB_DAMAGE)
		failures_set_final(f, activity, &why);
	else
		failures_set(f, activity, e, &why);
}

int db_number(sqlite3 *db, const char *sql, int64_t none, int64_t *ret)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
		*ret = rc == SQLITE_ROW ? sqlite3_column_int64(s, 0) : none;
		rc = SQLITE_OK;
	}
	sqlite3_finalize(s);
	return rc;
}

void db_bind(sqlite3_stmt *s, const int64_t *v, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		int rc = sqlite3_bind_int64(s, (int)i + 1, v[i]);
		assert(rc == SQLITE_OK); /* binding a number needs no memory: it fails only if there is no
					    such parameter */
		(void)rc;
	}
}

int db_bind_text(sqlite3_stmt *s, int at, struct str text)
{
	return text.p ? sqlite3_bind_text64(s, at, text.p, text.n, SQLITE_STATIC, SQLITE_UTF8)
		      : sqlite3_bind_null(s, at);
}

int db_bind_texts(sqlite3_stmt *s, int at, const struct str *text, unsigned n)
{
	int rc = SQLITE_OK;
	for (unsigned i = 0; i < n && rc == SQLITE_OK; i++)
		rc = db_bind_text(s, at + (int)i, text[i]);
	return rc;
}

int db_step(sqlite3_stmt *s)
{
	errno = 0; /* so that db_explain finds the errno of this call */
	int rc = sqlite3_step(s);
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int db_leave(sqlite3_stmt *s, int rc)
{
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return rc;
}

int db_step_bound(sqlite3_stmt *s, int bound)
{
	return db_leave(s, bound == SQLITE_OK ? db_step(s) : bound);
}

int db_first_number(sqlite3_stmt *s, int bound, bool *found, int64_t *ret)
{
	int rc = bound == SQLITE_OK ? sqlite3_step(s) : bound;
	*found = rc == SQLITE_ROW;
	if (*found && ret)
		*ret = sqlite3_column_int64(s, 0);
	return db_looked(db_leave(s, rc));
}
