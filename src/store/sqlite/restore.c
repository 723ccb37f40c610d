/* Puts a backup in the place of the database. One rename decides: before it the old database stays, after it
 * the new one is put in place, by this call or a later one. */
#include "store/sqlite/restore.h"
#include "store/sqlite/backup.h"
#include "store/sqlite/db.h"
#include "store/sqlite/file.h"
#include "store/sqlite/migration.h"
#include "store/sqlite/restore_mark.h"
#include "store/sqlite/rows.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* The key of run tokens, which stays in its data directory: the tokens of live runs there stay valid, and
 * those that can be computed from a backup are worth nothing in another directory. */
struct token_key_row {
	bool found;
	uint8_t bytes[STORE_KEY_BYTES];
};

/* Finds none in a database of a version that kept the key in a file. */
static void read_key(sqlite3 *db, struct token_key_row *ret)
{
	sqlite3_stmt *s = NULL;
	if (sqlite3_prepare_v2(db, "SELECT value FROM secret WHERE name = 'run_tokens'", -1, &s, NULL) ==
		    SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW && sqlite3_column_bytes(s, 0) == STORE_KEY_BYTES) {
		memcpy(ret->bytes, sqlite3_column_blob(s, 0), STORE_KEY_BYTES);
		ret->found = true;
	}
	sqlite3_finalize(s);
}

/* Inside the caller's transaction. */
static int replace_key(sqlite3 *db, const struct token_key_row *key)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_exec(db, "DELETE FROM secret WHERE name = 'run_tokens'", NULL, NULL, NULL);
	if (rc != SQLITE_OK || !key->found)
		return rc;
	rc = sqlite3_prepare_v2(db, "INSERT INTO secret (name, value) VALUES ('run_tokens', ?1)", -1, &s,
				NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_blob(s, 1, key->bytes, STORE_KEY_BYTES, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		sqlite3_step(s); /* sqlite3_finalize returns its error */
	int end = sqlite3_finalize(s);
	return rc != SQLITE_OK ? rc : end;
}

/* Raises both numbers to those of the database that will be replaced, and reads its key, if it can be read.
 */
static void read_replaced(const char *database, int64_t *generation, uint64_t *run, struct token_key_row *key)
{
	sqlite3 *db = NULL;
	struct why why;
	int64_t here = 0, last = 0;
	if (access(database, F_OK) < 0 || db_open(database, SQLITE_OPEN_READONLY, &db, &why))
		return;
	if (meta_get(db, "generation", &here) == SQLITE_OK && here > *generation && here < GENERATION_MAX)
		*generation = here;
	if (meta_last_run(db, &last) == SQLITE_OK && last > 0 && (uint64_t)last > *run &&
	    (uint64_t)last <= RUN_BACKUP_MAX)
		*run = (uint64_t)last;
	read_key(db, key);
	sqlite3_close(db);
}

/* Migrates the copy of the backup and marks it as restored. */
static enum err prepare_copy(const struct restore_request *q, const char *part, struct why *why)
{
	struct restore_request with = *q;
	struct token_key_row key = { 0 };
	sqlite3 *db = NULL;
	int64_t generation = generation_read(q->generation), own = 0;
	enum err e = db_open(part, SQLITE_OPEN_READWRITE, &db, why);
	if (!e)
		e = migration_run(db, why);
	int bad = e ? SQLITE_OK : rows_check_all(db);
	if (bad != SQLITE_OK)
		e = why_set(why, E_INPUT, WHY_NOWHERE, "the backup cannot be used: %s",
			    bad == ROW_INVALID ? row_error() : sqlite3_errstr(bad));
	if (e) {
		sqlite3_close(db);
		return e;
	}
	read_replaced(q->database, &generation, &with.last_run, &key);
	int rc = meta_get(db, "generation", &own);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = restore_mark(db, &with, (own > generation ? own : generation) + 1);
	if (rc == SQLITE_OK)
		rc = replace_key(db, &key);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		e = db_fail(db, rc, why);
	sqlite3_close(db);
	return e ? e : file_flush(part, why);
}

/* Removes an unfinished copy with its journal, which must not be applied to the next copy of the same name.
 */
static void remove_part(const char *database)
{
	char path[PATH_MAX];
	file_path(path, database, ".part");
	file_remove_database(path);
}

enum err restore_backup(const struct restore_request *q, const char *file, char *aside, size_t room,
			struct why *why)
{
	char part[PATH_MAX], whole[PATH_MAX];
	sqlite3 *from = NULL;
	/* An interrupted restore is finished first; this call then moves the result aside. */
	enum err e = file_check_path(q->database, why);
	if (!e)
		e = restore_finish(q->database, aside, room, why);
	if (!e)
		e = backup_open_source(file, false, &from, why);
	if (!e)
		e = backup_check(from, file, why);
	file_path(part, q->database, ".part");
	file_path(whole, q->database, ".restored");
	if (!e)
		e = backup_copy(from, part, why);
	sqlite3_close(from);
	if (!e)
		e = prepare_copy(q, part, why);
	if (!e && rename(part, whole) < 0)
		e = file_fail("named", whole, why);
	if (e) {
		remove_part(q->database);
		return e;
	}
	/* From here on, this call or a later one finishes the restore. */
	e = file_flush_directory(whole, why);
	return e ? e : restore_finish(q->database, aside, room, why);
}

/* Moves the log first: SQLite finds a log by the name of its database, and must never apply it to another
 * database. */
static enum err put_aside(const char *database, const char *aside, struct why *why)
{
	static const char *const suffixes[] = { "-wal", "-journal", "" };
	char from[PATH_MAX], to[PATH_MAX];
	file_path(from, database, "-shm");
	unlink(from);
	for (unsigned i = 0; i < ARRAY_LEN(suffixes); i++) {
		file_path(from, database, suffixes[i]);
		file_path(to, aside, suffixes[i]);
		if (rename(from, to) < 0 && errno != ENOENT)
			return file_fail("moved aside", from, why);
	}
	return file_flush_directory(database, why);
}

enum err restore_finish(const char *database, char *aside, size_t room, struct why *why)
{
	char whole[PATH_MAX], old[PATH_MAX];
	remove_part(database);
	file_path(whole, database, ".restored");
	snprintf(aside, room, "%s", "");
	if (access(whole, F_OK) < 0)
		return OK;
	for (unsigned n = 1;; n++) {
		snprintf(old, sizeof old, "%s.before-%u", database, n);
		if (access(old, F_OK) < 0)
			break;
	}
	bool replaces = access(database, F_OK) == 0;
	enum err e = put_aside(database, old, why);
	if (!e && rename(whole, database) < 0)
		e = file_fail("put in place", whole, why);
	if (!e)
		e = file_flush_directory(database, why);
	if (!e && replaces)
		snprintf(aside, room, "%s", old);
	return e;
}
