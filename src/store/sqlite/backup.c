#include "store/sqlite/backup.h"
#include "port/runfile.h"
#include "store/sqlite/db.h"
#include "store/sqlite/migration.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum err fail(sqlite3 *db, int rc, struct why *why)
{
	db_explain(db, rc, why);
	return E_IO;
}

static enum err fail_file(const char *what, const char *path, struct why *why)
{
	return why_set(why, E_IO, WHY_NOWHERE, "%s cannot be %s: %s", path, what, strerror(errno));
}

/* --- files --- */

static enum err flush(const char *path, struct why *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : fsync(fd);
	enum err e = rc < 0 ? fail_file("flushed", path, why) : OK;
	if (fd >= 0)
		close(fd);
	return e;
}

/* So that names survive a power cut as well. */
static enum err flush_directory(const char *path, struct why *why)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	return flush(dir[0] ? dir : "/", why);
}

/* A file system that cannot do it in one step is asked first. */
static enum err name_new(const char *from, const char *to, struct why *why)
{
	int rc = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
	if (rc < 0 && (errno == EINVAL || errno == ENOSYS)) {
		bool there = access(to, F_OK) == 0;
		errno = EEXIST;
		rc = there ? -1 : rename(from, to);
	}
	if (rc < 0 && errno == EEXIST)
		return why_set(why, E_CONFLICT, WHY_NOWHERE, "%s exists already, and is not overwritten", to);
	return rc < 0 ? fail_file("named", to, why) : flush_directory(to, why);
}

/* Room for all that is put after it. */
static enum err check_path(const char *path, struct why *why)
{
	if (strlen(path) + 64 < PATH_MAX)
		return OK;
	return why_set(why, E_INPUT, WHY_NOWHERE, "the name of the file is too long");
}

static void path_with(char ret[static PATH_MAX], const char *path, const char *end)
{
	snprintf(ret, PATH_MAX, "%s%s", path, end);
}

static void remove_file(const char *database)
{
	static const char *const ends[] = { "-journal", "-wal", "-shm", "" };
	char path[PATH_MAX];
	for (unsigned i = 0; i < ARRAY_LEN(ends); i++) {
		path_with(path, database, ends[i]);
		unlink(path);
	}
}

/* --- pages --- */

/* A read transaction of our own spans all steps: whoever writes meanwhile goes on, and the copy need not
 * begin anew.
 */
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

static enum err check_whole(sqlite3 *db, const char *path, struct why *why)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	const char *said = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
	enum err e = OK;
	if (!said && rc != SQLITE_CORRUPT && rc != SQLITE_NOTADB)
		e = fail(db, rc, why);
	else if (!said || strcmp(said, "ok") != 0)
		e = why_set(why, E_INPUT, WHY_NOWHERE, "%s is damaged: %s", path,
			    said ? said : sqlite3_errmsg(db));
	sqlite3_finalize(s);
	return e;
}

/* Into an empty file. It will not need a log beside it. */
static enum err copy_into(sqlite3 *from, const char *path, struct why *why)
{
	sqlite3 *to = NULL;
	enum err e = db_open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &to, why);
	if (e)
		return e;
	/* Flushed once, at the end. */
	int rc = sqlite3_exec(to, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = copy_pages(from, to);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		e = db_fate(rc) == DB_DAMAGE ? fail(from, rc, why) : fail(to, rc, why);
	if (!e)
		e = check_whole(to, path, why);
	sqlite3_close(to);
	return e ? e : flush(path, why);
}

/* --- making one --- */

static enum err open_source(const char *path, int flags, sqlite3 **ret, struct why *why)
{
	sqlite3 *db = NULL;
	int64_t version = 0;
	if (access(path, F_OK) < 0)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no %s", path);
	enum err e = db_open(path, flags, &db, why);
	if (!e)
		e = migrate_check(db, why);
	int rc = e ? SQLITE_OK : db_number(db, "PRAGMA user_version", 0, &version);
	if (!e && rc != SQLITE_OK)
		e = fail(db, rc, why);
	else if (!e && version == 0)
		e = why_set(why, E_INPUT, WHY_NOWHERE, "%s is no database of rota's: it is empty", path);
	if (e)
		sqlite3_close(db);
	else
		*ret = db;
	return e;
}

enum err copy_make(const char *database, const char *file, uint64_t *bytes, struct why *why)
{
	char part[PATH_MAX];
	sqlite3 *from = NULL;
	struct stat st;
	if (access(file, F_OK) == 0)
		return why_set(why, E_CONFLICT, WHY_NOWHERE, "%s exists already, and is not overwritten",
			       file);
	enum err e = check_path(file, why);
	if (!e)
		e = open_source(database, SQLITE_OPEN_READWRITE, &from, why);
	if (e)
		return e;
	path_with(part, file, ".part-XXXXXX");
	int fd = mkstemp(part);
	if (fd < 0) {
		e = fail_file("written", file, why);
		sqlite3_close(from);
		return e;
	}
	close(fd);
	e = copy_into(from, part, why);
	sqlite3_close(from);
	if (!e && stat(part, &st) < 0)
		e = fail_file("read", part, why);
	if (!e)
		e = name_new(part, file, why);
	if (e)
		remove_file(part);
	else
		*bytes = (uint64_t)st.st_size;
	return e;
}

/* --- what a database knows of its past --- */

static int meta(sqlite3 *db, const char *key, int64_t *ret)
{
	char sql[80];
	snprintf(sql, sizeof sql, "SELECT value FROM meta WHERE key = '%s'", key);
	return db_number(db, sql, 0, ret);
}

static int set_meta(sqlite3 *db, const char *key, int64_t value)
{
	char sql[120];
	snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO meta VALUES ('%s', %lld)", key, (long long)value);
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int last_run(sqlite3 *db, int64_t *ret)
{
	return db_number(db,
			 "SELECT max(value, (SELECT ifnull(max(run), 0) FROM run)) FROM meta"
			 " WHERE key = 'last_run'",
			 0, ret);
}

/* Numbers go on in a directory in which no run has left a file. */
static int64_t after_all(int64_t known, uint64_t files)
{
	int64_t last = known > (int64_t)files ? known : (int64_t)files;
	return (last / RUNFILE_BUCKET + 1) * RUNFILE_BUCKET - 1;
}

/* In a transaction: what is known of runs ends here. */
static int mark(sqlite3 *db, const struct copy_ask *ask, int64_t generation)
{
	int64_t last;
	int rc = last_run(db, &last);
	const struct {
		const char *key;
		int64_t value;
	} facts[] = { { "restored", ask->now.us },
		      { "restored_run", last },
		      { "last_run", after_all(last, ask->last_run) },
		      { "strays", 1 },
		      { "generation", generation } };
	for (unsigned i = 0; i < ARRAY_LEN(facts) && rc == SQLITE_OK; i++)
		rc = set_meta(db, facts[i].key, facts[i].value);
	return rc;
}

static int64_t read_generation(const char *path)
{
	long long n = 0;
	FILE *f = fopen(path, "re");
	if (f && fscanf(f, "%lld", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n > 0 ? n : 0;
}

/* False: it could not be written. An older number than the database's does no harm, so that a full disk is no
 * reason to stay down. */
static bool write_generation(const char *path, int64_t n)
{
	char part[PATH_MAX];
	struct why why;
	path_with(part, path, ".part");
	FILE *f = fopen(part, "we");
	bool ok = f && fprintf(f, "%lld\n", (long long)n) > 0 && fflush(f) == 0 && fsync(fileno(f)) == 0;
	if (f)
		ok = fclose(f) == 0 && ok;
	if (ok && rename(part, path) == 0)
		return flush_directory(path, &why) == OK;
	unlink(part);
	return false;
}

/* A database may be ahead of the file beside it, if that could not be written, but never behind. One that has
 * no file comes from elsewhere; one that was never opened has nothing to know. */
static int look(sqlite3 *db, const struct copy_ask *ask, int64_t beside, int64_t *here, bool *older)
{
	int64_t last = 0;
	int rc = meta(db, "generation", here);
	if (rc == SQLITE_OK)
		rc = last_run(db, &last);
	*older = (*here > 0 && (*here < beside || beside == 0)) || (int64_t)ask->last_run > last;
	return rc;
}

static int count_opening(sqlite3 *db, const struct copy_ask *ask, int64_t generation, bool older)
{
	int rc = sqlite3_exec(db, "PRAGMA synchronous = FULL; BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = older ? mark(db, ask, generation) : set_meta(db, "generation", generation);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	if (!sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static int read_past(sqlite3 *db, struct copy_past *ret)
{
	int64_t restored = 0, run = 0, strays = 0;
	int rc = meta(db, "restored", &restored);
	if (rc == SQLITE_OK)
		rc = meta(db, "restored_run", &run);
	if (rc == SQLITE_OK)
		rc = meta(db, "strays", &strays);
	if (rc == SQLITE_OK)
		*ret = (struct copy_past){ ret->older, strays != 0, { restored }, (uint64_t)run };
	return rc;
}

/* The first time the file is written before, so that it is never missing where there is something to know. A
 * disk that takes nothing now may do so later: only what must be known first is worth refusing for. */
static int open_counting(sqlite3 *db, const struct copy_ask *ask, struct copy_past *ret)
{
	int64_t here = 0, beside = read_generation(ask->generation);
	int rc = look(db, ask, beside, &here, &ret->older);
	if (rc != SQLITE_OK)
		return rc;
	int64_t generation = (here > beside ? here : beside) + 1;
	if (here > 0 || write_generation(ask->generation, generation) || ret->older)
		rc = count_opening(db, ask, generation, ret->older);
	if (rc == SQLITE_OK && here > 0)
		(void)write_generation(ask->generation, generation);
	if (!ret->older && db_fate(rc) == DB_OUTAGE)
		rc = SQLITE_OK;
	return rc == SQLITE_OK ? read_past(db, ret) : rc;
}

enum err copy_open(const struct copy_ask *ask, struct copy_past *ret, struct why *why)
{
	sqlite3 *db = NULL;
	struct copy_past past = { 0 };
	enum err e = db_open(ask->database, SQLITE_OPEN_READWRITE, &db, why);
	if (e)
		return e;
	int rc = open_counting(db, ask, &past);
	if (rc == SQLITE_OK)
		*ret = past;
	else
		e = fail(db, rc, why);
	sqlite3_close(db);
	return e;
}

enum err copy_settled(const char *database, struct why *why)
{
	sqlite3 *db = NULL;
	enum err e = db_open(database, SQLITE_OPEN_READWRITE, &db, why);
	if (e)
		return e;
	int rc = set_meta(db, "strays", 0);
	if (rc != SQLITE_OK)
		e = fail(db, rc, why);
	sqlite3_close(db);
	return e;
}

/* --- bringing one back --- */

/* What the database that is replaced knows, if it can be read at all. */
static void learn(const char *database, int64_t *generation, uint64_t *run)
{
	sqlite3 *db = NULL;
	struct why why;
	int64_t here = 0, last = 0;
	if (access(database, F_OK) < 0 || db_open(database, SQLITE_OPEN_READONLY, &db, &why))
		return;
	if (meta(db, "generation", &here) == SQLITE_OK && here > *generation)
		*generation = here;
	if (last_run(db, &last) == SQLITE_OK && last > 0 && (uint64_t)last > *run)
		*run = (uint64_t)last;
	sqlite3_close(db);
}

/* The copy of the copy: brought to this version, and told what it does not know. */
static enum err prepare(const struct copy_ask *ask, const char *part, struct why *why)
{
	struct copy_ask with = *ask;
	sqlite3 *db = NULL;
	int64_t generation = read_generation(ask->generation), own = 0;
	enum err e = db_open(part, SQLITE_OPEN_READWRITE, &db, why);
	if (!e)
		e = migrate_run(db, why);
	if (e) {
		sqlite3_close(db);
		return e;
	}
	learn(ask->database, &generation, &with.last_run);
	int rc = meta(db, "generation", &own);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = mark(db, &with, (own > generation ? own : generation) + 1);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		e = fail(db, rc, why);
	sqlite3_close(db);
	return e ? e : flush(part, why);
}

/* What was given up: a journal of it must not meet the next of its name. */
static void remove_part(const char *database)
{
	char path[PATH_MAX];
	path_with(path, database, ".part");
	remove_file(path);
}

enum err copy_restore(const struct copy_ask *ask, const char *file, char *aside, size_t room, struct why *why)
{
	char part[PATH_MAX], whole[PATH_MAX];
	sqlite3 *from = NULL;
	/* One that was interrupted is finished first: it was to be, and is kept aside by this one. */
	enum err e = check_path(ask->database, why);
	if (!e)
		e = copy_finish(ask->database, aside, room, why);
	if (!e)
		e = open_source(file, SQLITE_OPEN_READONLY, &from, why);
	if (!e)
		e = check_whole(from, file, why);
	path_with(part, ask->database, ".part");
	path_with(whole, ask->database, ".restored");
	if (!e)
		e = copy_into(from, part, why);
	sqlite3_close(from);
	if (!e)
		e = prepare(ask, part, why);
	if (!e && rename(part, whole) < 0)
		e = fail_file("named", whole, why);
	if (e) {
		remove_part(ask->database);
		return e;
	}
	/* From here on it is done, by whoever comes next. */
	e = flush_directory(whole, why);
	return e ? e : copy_finish(ask->database, aside, room, why);
}

static enum err move(const char *from, const char *to, struct why *why)
{
	return rename(from, to) < 0 && errno != ENOENT ? fail_file("moved aside", from, why) : OK;
}

/* The log first: a database without its name is known by the name of its log, and a log must never meet
 * another database. */
static enum err put_aside(const char *database, const char *aside, struct why *why)
{
	static const char *const with[] = { "-wal", "-journal", "" };
	char from[PATH_MAX], to[PATH_MAX];
	enum err e = OK;
	path_with(from, database, "-shm");
	unlink(from);
	for (unsigned i = 0; i < ARRAY_LEN(with) && !e; i++) {
		path_with(from, database, with[i]);
		path_with(to, aside, with[i]);
		e = move(from, to, why);
	}
	return e ? e : flush_directory(database, why);
}

enum err copy_finish(const char *database, char *aside, size_t room, struct why *why)
{
	char whole[PATH_MAX], old[PATH_MAX];
	remove_part(database);
	path_with(whole, database, ".restored");
	snprintf(aside, room, "%s", "");
	if (access(whole, F_OK) < 0)
		return OK;
	for (unsigned n = 1;; n++) {
		snprintf(old, sizeof old, "%s.before-%u", database, n);
		if (access(old, F_OK) < 0)
			break;
	}
	bool there = access(database, F_OK) == 0;
	enum err e = put_aside(database, old, why);
	if (!e && rename(whole, database) < 0)
		e = fail_file("put in place", whole, why);
	if (!e)
		e = flush_directory(database, why);
	if (!e && there)
		snprintf(aside, room, "%s", old);
	return e;
}
