#pragma once
/* Migrates a database to the version of the schema that this program uses, in one transaction. */
#include "base/err.h"

#include <sqlite3.h>

/* Reads only. E_INPUT: the file is no database, a database of another program, or written by a newer rota; in
 * the last case `why` names both versions. */
must_check enum err migration_check(sqlite3 *db, struct why *why);
must_check enum err migration_run(sqlite3 *db, struct why *why);
