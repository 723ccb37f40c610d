#pragma once
/* A database copied while it is in use, and brought back. None of it needs the store to be open; all of it
 * may be interrupted at any point, and leaves what was there before, or what was to be.
 *
 * What a copy does not know is what happened since it was made. So a database that is brought back is told
 * when that was: nothing that came due up to then is run any more (struct load_item). The same is done with
 * one that was put back by other means, where that shows: the number of times it was opened stands in the
 * database and in a file beside it, and runs leave files that are numbered. */
#include "base/err.h"
#include "base/time.h"

/* As of one moment, into a new file: whole, checked and on disk before it has its name. The daemon that uses
 * the database goes on writing; its log is not cut meanwhile. E_CONFLICT: the file is there. E_NOTFOUND: no
 * database. */
must_check enum err copy_make(const char *database, const char *file, uint64_t *bytes, struct why *why);

struct copy_ask {
	const char *database;
	const char *generation; /* the file beside it */
	uint64_t last_run;      /* the largest number that a run's file has */
	struct wall now;
};

/* Brings back `file` in the place of the database, of which nobody may make use. The old one, if there is
 * one, is then found under the name left in `aside`, else that is empty. E_INPUT: no copy of ours, damaged,
 * or of a newer rota; nothing was changed. */
must_check enum err copy_restore(const struct copy_ask *ask, const char *file, char *aside, size_t room,
				 struct why *why);
/* Does what an interrupted copy_restore left to be done. Before the database is opened. */
must_check enum err copy_finish(const char *database, char *aside, size_t room, struct why *why);

/* What a database knows of its past. */
struct copy_past {
	bool older;            /* it was just found to be older than the directory */
	bool strays;           /* it was brought back, and runs it does not know may be alive */
	struct wall restored;  /* when that was; 0: never */
	uint64_t restored_run; /* the last run it knew then */
};
/* Counts that it is opened, and finds out whether it was put back. The store has been opened before, so that
 * its schema is as it should be. */
must_check enum err copy_open(const struct copy_ask *ask, struct copy_past *ret, struct why *why);
/* There are no strays any more. */
must_check enum err copy_settled(const char *database, struct why *why);
