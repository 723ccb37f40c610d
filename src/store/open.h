#pragma once
/* Chooses the store of a data directory: the only place that knows which kinds of stores exist. An open store
 * is used by its operations (port/store.h) and by readers (port/read.h). */
#include "port/store.h"

/* Opens or creates the store, brings it to this version, and finishes a restore that was interrupted.
 * E_INPUT: it is no store of rota, or was written by a newer rota. E_IO: it cannot be read or written, or is
 * damaged. The caller has locked the data directory. */
must_check enum err store_open(const char *data, struct store **ret, struct why *why);

/* What the store is called in messages. */
void store_name(const char *data, char *ret, size_t room);
/* Checks a store that no daemon uses, and changes nothing in it. E_NOTFOUND: there is none yet; other errors
 * as store_open. Searches for damage for at most STORE_CHECK_MS. */
must_check enum err store_check(const char *data, struct why *why);
/* Copies the store into a new file; a daemon may use it meanwhile. E_CONFLICT: the file exists. E_NOTFOUND:
 * there is no store. */
must_check enum err store_backup(const char *data, const char *file, uint64_t *bytes, struct why *why);
/* Replaces the store by a copy of the backup `file`; the caller has locked the data directory. `last_run`:
 * the largest number of a run that has a file. `aside` gets the name under which the old store is kept;
 * empty: there was none. E_INPUT: the file is no backup of rota, damaged, or of a newer rota; then nothing
 * was changed. */
must_check enum err store_restore(const char *data, const char *file, uint64_t last_run, struct wall now,
				  char *aside, size_t room, struct why *why);
