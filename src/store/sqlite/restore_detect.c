/* Detects a database that is older than its directory, by the number of openings and the numbers of runs. */
#include "port/runfile.h"
#include "store/sqlite/db.h"
#include "store/sqlite/file.h"
#include "store/sqlite/restore_mark.h"
#include "store/sqlite/rows.h"
#include "sys/data_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- meta --- */

int meta_get(sqlite3 *db, const char *key, int64_t *ret)
{
	char sql[80];
	snprintf(sql, sizeof sql, "SELECT value FROM meta WHERE key = '%s'", key);
	return db_number(db, sql, 0, ret);
}

static int meta_set(sqlite3 *db, const char *key, int64_t value)
{
	char sql[120];
	snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO meta VALUES ('%s', %lld)", key, (long long)value);
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int meta_last_run(sqlite3 *db, int64_t *ret)
{
	return db_number(db,
			 "SELECT max(value, (SELECT ifnull(max(run), 0) FROM run)) FROM meta"
			 " WHERE key = 'last_run'",
			 0, ret);
}

/* The last run number whose files are in the same directory as those of the larger of both numbers. The next
 * run then begins a new directory. */
static int64_t last_of_bucket(int64_t known, uint64_t files)
{
	int64_t last = known > (int64_t)files ? known : (int64_t)files;
	return (last / RUNFILE_BUCKET + 1) * RUNFILE_BUCKET - 1;
}

/* The number after which events are numbered. The events that were logged since the copy was made had the
 * numbers after the copy's, and readers know them: the next numbers are larger by one for each microsecond
 * since the last event of the copy, in which at most one event can have been logged. */
static int last_event_known(sqlite3 *db, struct wall now, int64_t *ret)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, LAST_EVENT, -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		int64_t since = now.us - sqlite3_column_int64(s, 3);
		*ret = (int64_t)last_event_read(s) + (since > 0 ? since : 0);
	}
	sqlite3_finalize(s);
	return db_looked(rc);
}

int restore_mark(sqlite3 *db, const struct restore_request *q, int64_t generation)
{
	int64_t last, before = 0, event = 0;
	int rc = meta_last_run(db, &last);
	if (rc == SQLITE_OK)
		rc = last_event_known(db, q->now, &event);
	if (rc == SQLITE_OK)
		rc = meta_get(db, "restored", &before);
	/* If the clock was set back since an earlier restore, the later time of that restore stays: events up
	 * to that time are still not known. */
	int64_t restored = before > q->now.us ? before : q->now.us;
	const struct {
		const char *key;
		int64_t value;
	} facts[] = { { "restored", restored },
		      { "restored_run", last },
		      { "last_run", last_of_bucket(last, q->last_run) },
		      { "last_event", event },
		      { "strays", 1 },
		      { "generation", generation } };
	for (unsigned i = 0; i < ARRAY_LEN(facts) && rc == SQLITE_OK; i++)
		rc = meta_set(db, facts[i].key, facts[i].value);
	return rc;
}

/* --- the file with the number of openings --- */

int64_t generation_read(const char *path)
{
	char text[32];
	int fd = data_file_open(AT_FDCWD, path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	long long number = strtoll(text, NULL, 10);
	return number > 0 && number < GENERATION_MAX ? number : 0;
}

/* False: the file could not be written. That does not prevent a start, since a smaller number in the file
 * than in the database does no harm. */
static bool generation_write(const char *path, int64_t n)
{
	char part[PATH_MAX];
	struct why why;
	file_path(part, path, ".part");
	int fd = data_file_open(AT_FDCWD, part, O_WRONLY | O_CREAT | O_TRUNC);
	bool ok = fd >= 0 && dprintf(fd, "%lld\n", (long long)n) > 0 && fsync(fd) == 0;
	if (fd >= 0)
		ok = close(fd) == 0 && ok;
	if (ok && rename(part, path) == 0)
		return file_flush_directory(path, &why) == OK;
	unlink(part);
	return false;
}

/* --- opening --- */

/* The number in the database may be larger than the one in the file, if the file could not be written, but
 * never smaller. A database without such a file comes from another directory, unless it was never opened. */
static int is_older(sqlite3 *db, const struct restore_request *q, int64_t in_file, int64_t *in_database,
		    bool *older)
{
	int64_t last = 0;
	int rc = meta_get(db, "generation", in_database);
	if (rc == SQLITE_OK)
		rc = meta_last_run(db, &last);
	*older =
		(*in_database > 0 && (*in_database < in_file || in_file == 0)) || (int64_t)q->last_run > last;
	return rc;
}

static int count_opening(sqlite3 *db, const struct restore_request *q, int64_t generation, bool older)
{
	int rc = sqlite3_exec(db, "PRAGMA synchronous = FULL; BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = older ? restore_mark(db, q, generation) : meta_set(db, "generation", generation);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	if (!sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static int read_restore_state(sqlite3 *db, struct restore_state *ret)
{
	int64_t restored = 0, run = 0, strays = 0;
	int rc = meta_get(db, "restored", &restored);
	if (rc == SQLITE_OK)
		rc = meta_get(db, "restored_run", &run);
	if (rc == SQLITE_OK)
		rc = meta_get(db, "strays", &strays);
	if (rc == SQLITE_OK)
		*ret = (struct restore_state){ ret->older, strays != 0, { restored }, (uint64_t)run };
	return rc;
}

/* At the first opening the file is written before the database, so that every database with a number has such
 * a file. A disk that cannot be written may be writable later: the call fails only if the database must be
 * marked as restored. */
static int detect(sqlite3 *db, const struct restore_request *q, struct restore_state *ret)
{
	int64_t in_database = 0, in_file = generation_read(q->generation);
	int rc = is_older(db, q, in_file, &in_database, &ret->older);
	if (rc != SQLITE_OK)
		return rc;
	int64_t generation = (in_database > in_file ? in_database : in_file) + 1;
	if (in_database > 0 || generation_write(q->generation, generation) || ret->older)
		rc = count_opening(db, q, generation, ret->older);
	if (rc == SQLITE_OK && in_database > 0)
		(void)generation_write(q->generation, generation);
	if (!ret->older && db_fate(rc) == DB_OUTAGE)
		rc = SQLITE_OK;
	return rc == SQLITE_OK ? read_restore_state(db, ret) : rc;
}

enum err restore_detect(const struct restore_request *q, struct restore_state *ret, struct why *why)
{
	sqlite3 *db = NULL;
	struct restore_state state = { 0 };
	enum err e = db_open(q->database, SQLITE_OPEN_READWRITE, &db, why);
	if (e)
		return e;
	int rc = detect(db, q, &state);
	if (rc == SQLITE_OK)
		*ret = state;
	else
		e = db_fail(db, rc, why);
	sqlite3_close(db);
	return e;
}

enum err restore_clear_unknown_runs(const char *database, struct why *why)
{
	sqlite3 *db = NULL;
	enum err e = db_open(database, SQLITE_OPEN_READWRITE, &db, why);
	if (e)
		return e;
	int rc = meta_set(db, "strays", 0);
	if (rc != SQLITE_OK)
		e = db_fail(db, rc, why);
	sqlite3_close(db);
	return e;
}
