/* ST_PRUNE: removes old records that nothing needs any more. */
#include "store/sqlite/write/operations.h"

static int prune_runs(struct operation *o)
{
	const struct prune_request *p = &o->r->prune;
	int64_t at = o->r->at.us;
	int rc = db_step(o->sql->stmt[SQL_RUN_SAVE_LAST]);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_PRUNE_RUNS_MARK, p->first, p->last, at);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_PRUNE_RUNS, p->first, p->last, at);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_PRUNE_AVOIDED, wall_seconds(o->r->at));
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_PRUNE_RUN_TEXT, p->first, p->last);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_PRUNE_MESSAGES, p->first, p->last);
	return rc == SQLITE_OK ? OP_RUN(o, SQL_PRUNE_MESSAGES_WITHOUT_RUN, at) : rc;
}

static int prune_ranges(struct operation *o)
{
	int64_t at =
		o->r->at.us < INT64_MAX ? o->r->at.us : INT64_MAX - 1; /* an open range is never pruned */
	int rc = OP_RUN(o, SQL_PRUNE_RANGES_MARK, o->r->sid, at);
	if (rc == SQLITE_OK)
		rc = OP_RUN(o, SQL_PRUNE_RANGES, o->r->sid, at);
	return rc == SQLITE_OK ? operation_read_schedule(o, o->r->sid) : rc;
}

static int prune_version(struct operation *o)
{
	return OP_RUN(o, SQL_PRUNE_VERSION, o->r->sid, o->r->rev, o->r->at.us);
}

static int prune_schedule(struct operation *o)
{
	static const enum write_statement also[] = { SQL_PRUNE_SCHED_DOCUMENT, SQL_PRUNE_SCHED_VERSIONS,
						     SQL_PRUNE_SCHED_RANGES, SQL_PRUNE_SCHED_AVOIDED,
						     SQL_SID_SAVE_LAST };
	int rc = OP_RUN(o, SQL_PRUNE_SCHED, o->r->sid, o->r->at.us);
	bool removed = rc == SQLITE_OK && sqlite3_changes(o->sql->db) == 1;
	for (unsigned i = 0; i < ARRAY_LEN(also) && removed && rc == SQLITE_OK; i++)
		rc = OP_RUN(o, also[i], o->r->sid);
	return rc;
}

static int prune_problem(struct operation *o)
{
	return OP_RUN(o, SQL_PRUNE_PROBLEM, o->r->prune.first, o->r->at.us);
}

int write_prune(struct operation *o)
{
	static int (*const prune_kind[])(struct operation *) = {
		[PRUNE_RUNS] = prune_runs,       [PRUNE_RANGES] = prune_ranges,
		[PRUNE_VERSION] = prune_version, [PRUNE_SCHED] = prune_schedule,
		[PRUNE_PROBLEM] = prune_problem, [PRUNE_EVENTS] = operation_prune_events,
	};
	static_assert(ARRAY_LEN(prune_kind) == PRUNES, "every kind can be pruned");
	return o->r->prune.what < PRUNES ? prune_kind[o->r->prune.what](o) : operation_answer(o, ST_REFUSED);
}
