#pragma once
/* Brings a database to the schema this program knows, in one transaction, or says why it must not. */
#include "base/err.h"

#include <sqlite3.h>

/* Looks only. E_INPUT: no database, somebody else's, or of a newer rota, which is named with both versions.
 */
must_check enum err migrate_check(sqlite3 *db, struct why *why);
must_check enum err migrate_run(sqlite3 *db, struct why *why);
