#pragma once
/* The writer's statements, prepared once. statements.c has their texts and the meaning of their parameters.
 */
#include "port/store.h"

#include <sqlite3.h>

enum write_statement {
	SQL_BEGIN,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_SCHED_GET,
	SQL_SCHED_PUT,
	SQL_SCHED_SET,
	SQL_SCHED_DROP,
	SQL_DOCUMENT_PUT,
	SQL_VERSION_ADD,
	SQL_DOCUMENT_DROP,
	SQL_ID_TAKEN,
	SQL_ID_IS,
	SQL_END_LAST,
	SQL_RUN_GET,
	SQL_RUN_AT,
	SQL_RUN_ADD,
	SQL_RUN_REMOVE,
	SQL_RUN_VERDICT,
	SQL_RUN_STARTED,
	SQL_RUN_FINISH,
	SQL_RUNS_WITHDRAW,
	SQL_RUN_SAVE_LAST,
	SQL_RANGE_COVERS,
	SQL_RANGE_ENDING,
	SQL_RANGE_ADD,
	SQL_RANGE_SET_LAST,
	SQL_RANGE_OPEN,
	SQL_RANGE_REMOVE,
	SQL_RANGES_WITHDRAW,
	SQL_RANGES_CUT,
	SQL_RANGE_OPEN_SET_FIRST,
	SQL_HOLD_GET,
	SQL_HOLD_PUT,
	SQL_HOLD_REMOVE,
	SQL_PROBLEM_LAST,
	SQL_PROBLEM_SET_LAST,
	SQL_PROBLEM_GET,
	SQL_PROBLEM_LAST_OF,
	SQL_PROBLEM_ADD,
	SQL_PROBLEM_REPEAT,
	SQL_PROBLEM_ACK,
	SQL_PROBLEM_CLOSE,
	SQL_RUN_LAST,
	SQL_SCHED_LAST,
	SQL_NAME_LAST,
	SQL_PARTS,
	SQL_PART_PUT,
	SQL_KEY_GET,
	SQL_KEY_PUT,
	SQL_NAME_NUMBER,
	SQL_NAME_TAKEN,
	SQL_NAME_PUT,
	SQL_SOURCE,
	SQL_STATE_GET,
	SQL_STATE_PUT,
	SQL_MEMORY_LAST,
	SQL_MEMORY_SET_LAST,
	SQL_MEMORY_FIND,
	SQL_MEMORY_HAS_MORE_THAN,
	SQL_MEMORY_ADD,
	SQL_MEMORY_INDEX,
	SQL_MEMORY_UNINDEX,
	SQL_MEMORY_REMOVE,
	SQL_MEMORY_UNINDEX_RUN,
	SQL_MEMORY_REMOVE_RUN,
	SQL_AGENT_GET,
	SQL_AGENT_PUT,
	SQL_AGENT_MOVE,
	SQL_RUN_TEXT_PUT,
	SQL_RUN_TEXT_REMOVE,
	SQL_AVOIDED_COUNT,
	SQL_EVENT_LAST,
	SQL_EVENT_ADD,
	SQL_EVENT_YOUNG,
	SQL_EVENT_SAVE_LAST,
	SQL_RUN_REPORTED,
	SQL_NEWS_ADD,
	SQL_NEWS_FIRST,
	SQL_NEWS_REMOVE,
	SQL_MESSAGE_ADD,
	SQL_MESSAGE_LAST,
	SQL_MESSAGE_GET,
	SQL_MESSAGE_TRIED,
	SQL_SID_LAST,
	SQL_SID_SAVE_LAST,
	SQL_PRUNE_RUNS_MARK,
	SQL_PRUNE_RUNS,
	SQL_PRUNE_RUN_TEXT,
	SQL_PRUNE_AVOIDED,
	SQL_PRUNE_MESSAGES,
	SQL_PRUNE_MESSAGES_WITHOUT_RUN,
	SQL_PRUNE_RANGES_MARK,
	SQL_PRUNE_RANGES,
	SQL_PRUNE_VERSION,
	SQL_PRUNE_SCHED,
	SQL_PRUNE_SCHED_DOCUMENT,
	SQL_PRUNE_SCHED_VERSIONS,
	SQL_PRUNE_SCHED_RANGES,
	SQL_PRUNE_SCHED_AVOIDED,
	SQL_PRUNE_PROBLEM,
	SQL_PRUNE_EVENTS,
	WRITE_STATEMENTS
};

/* Numbers that were given out by ST_NUMBERS. They are not stored: no other process uses this database, so
 * those that were not recorded are free again when it is opened again. */
struct numbers_given {
	bool known[NUMBER_KINDS]; /* else `last` must be read first */
	uint64_t last[NUMBER_KINDS];
};

/* The table of parts, which the fence of every request is compared with. */
struct parts_read {
	bool known;                            /* else the table must be read first */
	struct part_row part[STORE_PARTS_MAX]; /* by number; node 0: no owner */
};

/* The log of events. */
struct event_numbers {
	bool known; /* else `last` must be read first */
	uint64_t last;
};

struct write_statements {
	sqlite3 *db; /* borrowed */
	sqlite3_stmt *stmt[WRITE_STATEMENTS];
	struct numbers_given numbers;
	struct parts_read parts;
	struct event_numbers events;
	struct wall now; /* the time of the events of this transaction */
	bool no_events;  /* see store_tuning */
};

int write_statements_prepare(struct write_statements *w, sqlite3 *db);
void write_statements_finalize(struct write_statements *w);
