#pragma once
/* A backup: a copy of the database at one moment, made while it is in use. The store need not be open. An
 * interrupted copy leaves at most a file with the suffix .part. */
#include "base/err.h"

#include <sqlite3.h>

/* Copies the database into a new file, which is complete, checked and on the disk before it gets its name. A
 * daemon that uses the database goes on writing; its log is not truncated meanwhile. E_CONFLICT: the file
 * exists. E_NOTFOUND: there is no database. */
must_check enum err backup_make(const char *database, const char *file, uint64_t *bytes, struct why *why);

/* --- for restore.c --- */

/* Opens a database of rota of this version or an older one; `own`: that of a data directory, else a file that
 * is only read. E_NOTFOUND: no such file. E_INPUT: the file is no database of rota, or of a newer version. */
must_check enum err backup_open_source(const char *path, bool own, sqlite3 **ret, struct why *why);
/* E_INPUT: the database is damaged. */
must_check enum err backup_check(sqlite3 *db, const char *path, struct why *why);
/* Copies all pages into an empty file, checks the copy and flushes it. */
must_check enum err backup_copy(sqlite3 *from, const char *path, struct why *why);
