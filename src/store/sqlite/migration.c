/* Checks the version of a database, and runs the migrations that it lacks. */
#include "store/sqlite/migration.h"
#include "store/sqlite/db.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/schema_check.h"

#include <stdio.h>

#define APPLICATION_ID 0x726F7461 /* "rota", in the header of every database of rota */

enum err migration_check(sqlite3 *db, struct why *why)
{
	const char *path = sqlite3_db_filename(db, NULL);
	int64_t id, version, tables;
	int rc = db_number(db, "PRAGMA application_id", 0, &id);
	if (rc == SQLITE_OK)
		rc = db_number(db, "PRAGMA user_version", 0, &version);
	if (rc == SQLITE_OK)
		rc = db_number(db, "SELECT count(*) FROM sqlite_schema", 0, &tables);
	if (rc == SQLITE_NOTADB)
		return why_set(why, E_INPUT, WHY_NOWHERE, "%s is not a database", path);
	if (rc != SQLITE_OK)
		return db_fail(db, rc, why);
	/* An empty database was created by a rota that ended before its first migration. */
	if (id != APPLICATION_ID && (id != 0 || version != 0 || tables != 0))
		return why_set(why, E_INPUT, WHY_NOWHERE, "%s is a database of another program", path);
	if (version < 0 || version > schema_version)
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "%s has version %lld, and this rota knows versions up to %u; use the "
			       "newer rota that wrote it",
			       path, (long long)version, schema_version);
	return version ? schema_check(db, (unsigned)version, why) : OK;
}

static int apply_missing(sqlite3 *db)
{
	int64_t version;
	int rc = db_number(db, "PRAGMA user_version", 0, &version);
	for (; rc == SQLITE_OK && version < schema_version; version++)
		rc = sqlite3_exec(db, schema_sql[version], NULL, NULL, NULL);
	char text[96];
	snprintf(text, sizeof text, "PRAGMA application_id = %d; PRAGMA user_version = %u", APPLICATION_ID,
		 schema_version);
	return rc == SQLITE_OK ? sqlite3_exec(db, text, NULL, NULL, NULL) : rc;
}

enum err migration_run(sqlite3 *db, struct why *why)
{
	int64_t version;
	int rc = db_number(db, "PRAGMA user_version", 0, &version);
	if (rc == SQLITE_OK && version == schema_version)
		return OK;
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = apply_missing(db);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		return OK;
	enum err e = db_fail(db, rc, why);
	if (!sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return e;
}
