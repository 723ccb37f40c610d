#pragma once
/* The rows of meta that concern restores, and the file with the number of openings. For restore.c and
 * restore_detect.c. */
#include "store/sqlite/restore.h"

#include <sqlite3.h>

must_check int meta_get(sqlite3 *db, const char *key, int64_t *ret);
/* Reads the largest run number that was ever assigned in the database. */
must_check int meta_last_run(sqlite3 *db, int64_t *ret);
/* Records, inside the caller's transaction, that the database was restored now and may lack later runs. */
must_check int restore_mark(sqlite3 *db, const struct restore_request *q, int64_t generation);
/* Numbers of openings are below this: a run can write the file. */
#define GENERATION_MAX (INT64_C(1) << 62)
/* Reads the number in the file; 0: there is no file, or no such number in it. */
int64_t generation_read(const char *path);
