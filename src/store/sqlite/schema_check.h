#pragma once
/* Whether a database has exactly the tables, indices and triggers that rota makes. A foreign trigger or view
 * in a database that is opened or restored would be executed with the daemon's next write. */
#include "base/err.h"

#include <sqlite3.h>

/* Compares with the schema after the first `version` migrations. E_INPUT: `why` names what differs. */
must_check enum err schema_check(sqlite3 *db, unsigned version, struct why *why);
