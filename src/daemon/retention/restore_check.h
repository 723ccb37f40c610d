#pragma once
/* After a database was brought back: its open runs, and those it has never heard of, as their files tell.
 * Before the engine is loaded, with a store and a runner that nobody else uses yet. */
#include "exec/runner.h"
#include "store/sqlite/backup.h"
#include "store/sqlite/store.h"

struct restore_check_ask {
	const char *database, *runs;
	struct store *store;
	struct runner *runner;
	const struct copy_past *past;
};

/* Runs that the database holds for open are brought to the last attempt that has a file, which the engine
 * then adopts or finds ended. Runs that it does not know are ended, for nothing could record them: *stopped
 * of them were found alive. Waits for that STRAYS_WAIT_MS at most; what takes longer is ended all the same.
 */
must_check enum err restore_check_settle(const struct restore_check_ask *ask, unsigned *stopped,
					 struct why *why);
