#pragma once
/* The reader's statements, prepared once, and what all its answers share: one moment, one deadline. */
#include "base/err.h"
#include "base/time.h"

#include <sqlite3.h>

enum read_sql {
	READ_BEGIN,
	READ_END,
	READ_SCHED,
	READ_ID,
	READ_DOCUMENT,
	READ_SCHED_ID,
	READ_SCHED_REMOVED,
	READ_SCHED_IDS,
	READ_SCHED_LIST,
	READ_SCHED_FROM,
	READ_STATE,
	READ_MEMORY,
	READ_MEMORIES,
	READ_MEMORIES_OF,
	READ_MEMORIES_RUN,
	READ_MEMORIES_ABOUT,
	READ_MEMORIES_WITH,
	READ_AGENT,
	READ_AGENTS,
	READ_AVOIDED,
	READ_WORDS,
	READ_SCHED_NOTED,
	READ_RUN,
	READ_RUN_AT,
	READ_RUN_BEFORE,
	READ_RUN_AFTER,
	READ_RANGE_COVERS,
	READ_COUNT,
	READ_COUNT_OF,
	READ_HOLDS,
	READ_PROBLEM,
	READ_PROBLEMS,
	READ_PROBLEMS_OPEN,
	READ_NEWS,
	READ_NOTICE,
	READ_NOTICES_OF,
	READ_NOTICES_DUE,
	READ_NOTICE_NEXT,
	READ_NOTICES,
	READ_PINGED_SINCE,
	READ_RECEIVER_GONE,
	READ_RUN_LAST,
	READ_RUN_FROM,
	/* Lists of runs: of all schedules by number … */
	READ_RUNS,
	READ_FAILED,
	READ_IDLE,
	READ_OPEN,
	/* … of one by nominal time: those of the cursor's own time, and the older ones. */
	READ_RUNS_OF,
	READ_RUNS_OF_OLDER,
	READ_FAILED_OF,
	READ_FAILED_OF_OLDER,
	READ_IDLE_OF,
	READ_IDLE_OF_OLDER,
	READ_OPEN_OF,
	READ_OPEN_OF_OLDER,
	/* What is old: see sqlite_old.h. */
	READ_OLD_RUNS,
	READ_OLD_RANGES,
	READ_OLD_VERSIONS,
	READ_OLD_SCHEDS,
	READ_OLD_PROBLEMS,
	READ_OLD_RUN,
	READ_SQL
};

struct reader {
	sqlite3 *db;
	struct trouble *trouble; /* of its store; NULL: nobody's */
	sqlite3_stmt *stmt[READ_SQL];
	/* Of the answer under way, in microseconds: by this thread's own clock, and by everybody's. A short
	 * answer must not fail because others kept the processor. */
	int64_t work_end, wait_end;
	bool patient;
};

must_check int reader_prepare(struct reader *r);
void reader_finalize(struct reader *r);

/* Begins and ends the transaction of one answer. What the reading came to goes in, SQLite's; what it means
 * for whoever asked comes out. SQLITE_DONE and SQLITE_ROW are well. */
must_check int reader_begin(struct reader *r);
must_check enum err reader_end(struct reader *r, int rc, struct why *why);
