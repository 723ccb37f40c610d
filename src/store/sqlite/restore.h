#pragma once
/* Restoring a backup, and detecting a database that was put back by other means. A restore may be interrupted
 * at any point: then either the old database stays in place, or the next restore or daemon puts the new one
 * in place.
 *
 * A backup has no records of later events. So the time of the restore is written into the database, and
 * occurrences that were due before that time are not run any more (struct load_item). A database that was put
 * back by other means is treated in the same way, if that is detected: the number of times that it was opened
 * is both in the database and in a file beside it, and the names of run files contain the numbers of their
 * runs. */
#include "port/store.h"

struct restore_request {
	const char *database;
	const char *generation; /* the file beside the database with the number of openings */
	uint64_t last_run;      /* the largest number of a run that has a file */
	struct wall now;
};

/* Replaces the database by a copy of the backup `file`, except for the key of run tokens: the key of the
 * replaced database stays; if it has none, the copy has none. No process may use the database. `aside` gets
 * the new name of the old database; empty: there was none. E_INPUT: the file is no backup of rota, damaged,
 * or of a newer rota; then nothing was changed. */
must_check enum err restore_backup(const struct restore_request *q, const char *file, char *aside,
				   size_t room, struct why *why);
/* Finishes an interrupted restore_backup. To be called before the database is opened. */
must_check enum err restore_finish(const char *database, char *aside, size_t room, struct why *why);

/* Counts this opening, and detects whether the database was put back. To be called after the store was
 * opened, so that the schema is current. */
must_check enum err restore_detect(const struct restore_request *q, struct restore_state *ret,
				   struct why *why);
/* Records that all unknown runs have ended. */
must_check enum err restore_clear_unknown_runs(const char *database, struct why *why);
