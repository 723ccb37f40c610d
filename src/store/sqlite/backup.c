/* Copies a database page by page. */
#include "store/sqlite/backup.h"
#include "store/sqlite/db.h"
#include "store/sqlite/file.h"
#include "store/sqlite/migration.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum err backup_open_source(const char *path, bool own, sqlite3 **ret, struct why *why)
{
	sqlite3 *db = NULL;
	struct stat st;
	int64_t version = 0;
	if (stat(path, &st) < 0)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no file %s", path);
	if (!S_ISREG(st.st_mode)) /* SQLite would wait for the writer of a pipe */
		return why_set(why, E_INPUT, WHY_NOWHERE, "%s is not a regular file", path);
	enum err e = own ? db_open(path, SQLITE_OPEN_READWRITE, &db, why) : db_open_foreign(path, &db, why);
	if (!e)
		e = migration_check(db, why);
	int rc = e ? SQLITE_OK : db_number(db, "PRAGMA user_version", 0, &version);
	if (!e && rc != SQLITE_OK)
		e = db_fail(db, rc, why);
	else if (!e && version == 0)
		e = why_set(why, E_INPUT, WHY_NOWHERE, "%s is empty, not a database of rota", path);
	if (e)
		sqlite3_close(db);
	else
		*ret = db;
	return e;
}

enum err backup_check(sqlite3 *db, const char *path, struct why *why)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	const char *result = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
	enum err e = OK;
	if (!result && rc != SQLITE_CORRUPT && rc != SQLITE_NOTADB)
		e = db_fail(db, rc, why);
	else if (!result || strcmp(result, "ok") != 0)
		e = why_set(why, E_INPUT, WHY_NOWHERE, "%s is damaged: %s", path,
			    result ? result : sqlite3_errmsg(db));
	sqlite3_finalize(s);
	return e;
}

/* One read transaction spans all steps, so that SQLite does not restart the copy when a writer commits
 * meanwhile. */
static int copy_pages(sqlite3 *from, sqlite3 *to)
{
	int64_t tables;
	int rc = sqlite3_exec(from, "BEGIN", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = db_number(from, "SELECT count(*) FROM sqlite_schema", 0, &tables);
	sqlite3_backup *b = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", from, "main") : NULL;
	if (rc == SQLITE_OK && !b)
		rc = sqlite3_errcode(to);
	while (b && (rc = sqlite3_backup_step(b, COPY_STEP_PAGES)) == SQLITE_OK)
		continue;
	if (b) {
		int end = sqlite3_backup_finish(b);
		rc = rc == SQLITE_DONE ? end : rc;
	}
	if (!sqlite3_get_autocommit(from))
		sqlite3_exec(from, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

enum err backup_copy(sqlite3 *from, const char *path, struct why *why)
{
	sqlite3 *to = NULL;
	enum err e = db_open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &to, why);
	if (e)
		return e;
	/* The copy is flushed once, at the end. */
	int rc = sqlite3_exec(to, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = copy_pages(from, to);
	if (rc == SQLITE_OK) /* a copy in this mode has no log file */
		rc = sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		e = db_fail(db_fate(rc) == DB_DAMAGE ? from : to, rc, why);
	if (!e)
		e = backup_check(to, path, why);
	sqlite3_close(to);
	return e ? e : file_flush(path, why);
}

enum err backup_make(const char *database, const char *file, uint64_t *bytes, struct why *why)
{
	char part[PATH_MAX];
	sqlite3 *from = NULL;
	struct stat st;
	if (access(file, F_OK) == 0)
		return why_set(why, E_CONFLICT, WHY_NOWHERE,
			       "%s already exists and is not overwritten; choose another name", file);
	enum err e = file_check_path(file, why);
	if (!e)
		e = backup_open_source(database, true, &from, why);
	if (e)
		return e;
	file_path(part, file, ".part-XXXXXX");
	int fd = mkstemp(part);
	if (fd < 0) {
		e = file_fail("written", file, why);
		sqlite3_close(from);
		return e;
	}
	close(fd);
	e = backup_copy(from, part, why);
	sqlite3_close(from);
	if (!e && stat(part, &st) < 0)
		e = file_fail("read", part, why);
	if (!e)
		e = file_rename_new(part, file, why);
	if (e)
		file_remove_database(part);
	else
		*bytes = (uint64_t)st.st_size;
	return e;
}
