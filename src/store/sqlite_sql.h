#pragma once
/* The writer's statements, prepared once. Their texts stand in sqlite_sql.c, with the meaning of their
 * parameters. */
#include <sqlite3.h>

enum sql {
	SQL_BEGIN,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_SCHED_GET,
	SQL_SCHED_PUT,
	SQL_SCHED_SET,
	SQL_SCHED_DROP,
	SQL_DOCUMENT_PUT,
	SQL_DOCUMENT_DROP,
	SQL_ID_TAKEN,
	SQL_END_LAST,
	SQL_END_GIVE,
	SQL_RUN_GET,
	SQL_RUN_AT,
	SQL_RUN_ADD,
	SQL_RUN_REMOVE,
	SQL_RUN_VERDICT,
	SQL_RUN_STARTED,
	SQL_RUN_FINISH,
	SQL_RUNS_WITHDRAW,
	SQL_RUNS_REMEMBER,
	SQL_RANGE_COVERS,
	SQL_RANGE_ENDING,
	SQL_RANGE_ADD,
	SQL_RANGE_END,
	SQL_RANGE_OPEN,
	SQL_RANGE_REMOVE,
	SQL_RANGES_WITHDRAW,
	SQL_RANGES_CUT,
	SQL_RANGE_OPEN_FROM,
	SQL_HOLD_PUT,
	SQL_HOLD_REMOVE,
	SQL_PROBLEM_LAST,
	SQL_PROBLEM_GIVE,
	SQL_PROBLEM_GET,
	SQL_PROBLEM_OF,
	SQL_PROBLEM_ADD,
	SQL_PROBLEM_SAY,
	SQL_PROBLEM_ACK,
	SQL_PROBLEM_CLOSE,
	SQL_COUNT
};

struct sql_set {
	sqlite3 *db; /* borrowed */
	sqlite3_stmt *stmt[SQL_COUNT];
};

int sql_prepare(struct sql_set *set, sqlite3 *db);
void sql_finalize(struct sql_set *set);
