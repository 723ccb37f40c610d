#pragma once
/* Reads everything that an engine must know when it starts, in one read transaction. */
#include "port/store.h"

#include <sqlite3.h>

must_check int load_all(sqlite3 *db, load_fn *fn, void *ctx);
