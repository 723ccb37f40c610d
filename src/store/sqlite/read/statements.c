#include "store/sqlite/read/statements.h"
#include "store/sqlite/db.h"
#include "store/sqlite/rows.h"

#include <time.h>

static_assert(KIND_MANUAL == 4 && RUN_FINISHED == 3 && RUN_SKIPPED == 4 && RUN_MISSED == 5, "see 0001.sql");

#define NEVER "9223372036854775807"

/* A schedule with its document, and its open range if it has one. */
#define SCHED_WHOLE(document_index)                                                                          \
	"SELECT s.sid, s.after, s.seen, s.rev, s.flags, s.left, s.failures, s.owed, s.owed_since, s.next,"   \
	" s.high, s.kept, s.changed, s.paused_until, s.next_set_at, s.put_at, s.dropped, s.rules,"           \
	" d.id, d.body, d.source, d.line, d.note, g.first, g.last, g.state, g.reason"                        \
	" FROM document d " document_index " CROSS JOIN schedule s ON s.sid = d.sid"                         \
	" LEFT JOIN range g INDEXED BY range_open ON g.sid = s.sid AND g.last = " NEVER

/* Of all: ?1 and ?2 the smallest and the largest number, ?3 and ?4 the earliest and the latest record of it,
 * ?5 states, ?6 how many. */
#define RUNS(index, which)                                                                                   \
	"SELECT " RUN_COLUMNS " FROM run " index " WHERE run >= ?1 AND run <= ?2 AND claimed >= ?3"          \
	" AND claimed <= ?4 AND 1 << state & ?5" which " ORDER BY run DESC LIMIT ?6"

/* Of schedule ?1: ?4 states, ?5 how many. ?2 the cursor's nominal time and ?3 its number, or, of the older
 * ones, ?2 the latest wanted and ?3 the earliest. */
#define OF_FROM(index) "SELECT " RUN_COLUMNS " FROM run INDEXED BY " index " WHERE sid = ?1"
#define OF_SAME        " AND nominal = ?2 AND run < ?3 AND 1 << state & ?4"
#define OF_OLDER       " AND nominal <= ?2 AND nominal >= ?3 AND 1 << state & ?4"
#define OF_ORDER       " ORDER BY nominal DESC, run DESC LIMIT ?5"
#define RUNS_OF(name, index, which)                                                                          \
	[name] = OF_FROM(index) OF_SAME which OF_ORDER,                                                      \
	[name##_OLDER] = OF_FROM(index) OF_OLDER which OF_ORDER

#define MEMORY_WHOLE(from)                                                                                   \
	"SELECT " MEMORY_COLUMNS ", d.id FROM " from                                                         \
	" LEFT JOIN run r ON r.run = m.run LEFT JOIN document d ON d.sid = r.sid"
#define MEMORIES(index, which)                                                                               \
	MEMORY_WHOLE("memory m " index) " WHERE m.number < ?1" which " ORDER BY m.number DESC LIMIT ?2"
#define AGENT_COLUMNS "name, rev, at, text, source, line"

static const char *const text[] = {
	[READ_BEGIN] = "BEGIN",
	[READ_END] = "COMMIT",

	[READ_SCHED] = SCHED_WHOLE("") " WHERE d.sid = ?1",
	[READ_ID] = "SELECT id FROM document WHERE sid = ?1 AND ?2 = 0",
	/* The first that was replaced at or after that rev, else the one that stands. */
	[READ_DOCUMENT] =
		"SELECT ifnull((SELECT body FROM version WHERE sid = ?1 AND rev >= ?2 ORDER BY rev LIMIT 1),"
		" (SELECT body FROM document WHERE sid = ?1))",
	[READ_SCHED_ID] = SCHED_WHOLE("INDEXED BY document_id") " WHERE d.id = ?1 AND d.dropped = 0",
	[READ_SCHED_REMOVED] = SCHED_WHOLE("INDEXED BY document_dropped") " WHERE d.id = ?1 AND d.dropped = 1"
									  " ORDER BY d.sid DESC LIMIT 1",
	/* ?2 is ?1 and a byte that is larger than any of a text. */
	[READ_SCHED_IDS] = "SELECT id FROM document INDEXED BY document_id"
			   " WHERE id >= ?1 AND id < ?2 AND dropped = 0 ORDER BY id LIMIT ?3",
	[READ_SCHED_LIST] = SCHED_WHOLE("INDEXED BY document_id") " WHERE d.id > ?1 AND d.dropped = 0"
								  " ORDER BY d.id LIMIT ?2",

	/* ?1 and ?2 the first and the last source; ?3 and ?4 the source and the id of the one before. */
	[READ_SCHED_FROM] = SCHED_WHOLE(
		"INDEXED BY document_source") " WHERE d.source >= ?1 AND d.source <= ?2 AND (d.source, d.id) "
					      "> (?3, ?4) AND d.dropped = 0"
					      " AND d.source > '' ORDER BY d.source, d.id LIMIT ?5",
	[READ_WORDS] = "SELECT text FROM words WHERE run = ?1 AND kind = ?2",
	/* Of schedule ?1, ever; of all, from ?2 on. */
	[READ_AVOIDED] = "SELECT (SELECT n FROM avoided WHERE sid = ?1 AND since = -1),"
			 " (SELECT sum(n) FROM avoided WHERE sid = 0 AND since <> -1 AND since >= ?2)",
	[READ_STATE] = "SELECT rev, text FROM state WHERE key = ?1",
	[READ_MEMORY] = MEMORY_WHOLE("memory m") " WHERE m.number = ?1",
	/* ?1 the number before, ?2 how many; ?3 of which agent, ?4 of which run. */
	[READ_MEMORIES] = MEMORIES("NOT INDEXED", ""),
	[READ_MEMORIES_OF] = MEMORIES("INDEXED BY memory_agent", " AND m.agent = ?3"),
	[READ_MEMORIES_RUN] = MEMORIES("INDEXED BY memory_run",
				       " AND m.run = ?4 AND m.run <> 0 AND m.agent = ifnull(?3, m.agent)"),
	/* ?1 how many, ?3 percent of the best one's score (which is below 0) at least. The texts of the best
	 * alone are read. The owner finds, and does not count. */
	[READ_MEMORIES_ABOUT] =
		"WITH best AS MATERIALIZED (SELECT rowid AS found, bm25(memory_words, 0, 1, 2) AS score"
		" FROM memory_words WHERE memory_words MATCH ?2 ORDER BY score, found DESC LIMIT "
		"?1) " MEMORY_WHOLE(
			"best CROSS JOIN memory m ON m.number = found") " WHERE score * 100 <= ?3 * (SELECT "
									"min(score) FROM best) ORDER BY "
									"score, m.number DESC",
	/* ?1 how many. Only lists of these words, and of the owner's notes, are looked at. */
	[READ_MEMORIES_WITH] =
		"WITH best AS MATERIALIZED (SELECT rowid AS found FROM memory_words WHERE "
		"memory_words MATCH ?2 ORDER BY rowid DESC LIMIT ?1) " MEMORY_WHOLE(
			"best CROSS JOIN memory m ON m.number = found") " ORDER BY m.number DESC",
	[READ_AGENT] = "SELECT " AGENT_COLUMNS " FROM agent WHERE name = ?1",
	[READ_AGENTS] = "SELECT " AGENT_COLUMNS " FROM agent WHERE name > ?1 AND text IS NOT NULL"
			" ORDER BY name LIMIT ?2",
	[READ_SCHED_NOTED] =
		SCHED_WHOLE("INDEXED BY document_note") " WHERE d.note IS NOT NULL AND d.dropped = 0 AND "
							"d.id > ?1 ORDER BY d.id LIMIT ?2",

	[READ_RUN] = "SELECT " RUN_COLUMNS " FROM run WHERE run = ?1",
	[READ_RUN_AT] = "SELECT " RUN_COLUMNS
			" FROM run INDEXED BY run_occurrence WHERE sid = ?1 AND nominal = ?2 AND kind <> 4",
	[READ_RUN_BEFORE] =
		"SELECT " RUN_COLUMNS
		" FROM run INDEXED BY run_occurrence WHERE sid = ?1 AND nominal < ?2 AND kind <> 4"
		" ORDER BY nominal DESC LIMIT 1",
	[READ_RUN_AFTER] = "SELECT " RUN_COLUMNS
			   " FROM run INDEXED BY run_occurrence WHERE sid = ?1 AND nominal > ?2 AND kind <> 4"
			   " ORDER BY nominal LIMIT 1",
	[READ_RANGE_COVERS] = "SELECT sid, first, last, state, reason FROM range INDEXED BY range_last"
			      " WHERE sid = ?1 AND last >= ?2 AND first <= ?2 ORDER BY first DESC LIMIT 1",
	[READ_COUNT] = "SELECT state, outcome FROM run NOT INDEXED WHERE run >= ?1 AND claimed >= ?2"
		       " ORDER BY run DESC LIMIT ?3",
	[READ_COUNT_OF] = "SELECT state, outcome, nominal FROM run INDEXED BY run_occurrence"
			  " WHERE sid = ?1 AND nominal >= ?2 AND kind <> 4"
			  " UNION ALL SELECT state, outcome, nominal FROM run INDEXED BY run_manual"
			  " WHERE sid = ?1 AND nominal >= ?2 AND kind = 4 ORDER BY nominal DESC LIMIT ?3",

	[READ_HOLDS] = "SELECT key, reason, until, note FROM hold ORDER BY key LIMIT ?1",
	[READ_PROBLEM] = "SELECT " PROBLEM_COLUMNS " FROM problem WHERE number = ?1",
	[READ_PROBLEMS] = "SELECT " PROBLEM_COLUMNS " FROM problem WHERE number < ?1"
			  " ORDER BY number DESC LIMIT ?2",
	[READ_PROBLEMS_OPEN] = "SELECT " PROBLEM_COLUMNS " FROM problem INDEXED BY problem_open"
			       " WHERE number < ?1 AND closed = " NEVER " ORDER BY number DESC LIMIT ?2",

	[READ_NEWS] = "SELECT number, what, attempt, sid, run, problem, first, last FROM news"
		      " ORDER BY number LIMIT ?1",
	[READ_NOTICE] = "SELECT " MESSAGE_COLUMNS " FROM message n WHERE number = ?1",
	[READ_NOTICES_OF] = "SELECT " MESSAGE_COLUMNS " FROM message n INDEXED BY message_run"
			    " WHERE n.run = ?1 AND n.run > 0 ORDER BY n.number LIMIT ?2",
	/* But for lines in the list ?3. */
	[READ_NOTICES_DUE] = "SELECT " MESSAGE_COLUMNS " FROM message n INDEXED BY message_next"
			     " WHERE n.state = 0 AND n.next <= ?1 AND n.line NOT IN"
			     " (SELECT value FROM json_each(?3)) ORDER BY n.next LIMIT ?2",
	[READ_NOTICE_NEXT] =
		"SELECT next FROM message INDEXED BY message_next WHERE state = 0 AND line NOT IN"
		" (SELECT value FROM json_each(?1)) ORDER BY next LIMIT 1",
	[READ_NOTICES] = "SELECT " MESSAGE_COLUMNS " FROM message n WHERE n.number < ?1"
			 " ORDER BY n.number DESC LIMIT ?2",
	[READ_PINGED_SINCE] = "SELECT 1 FROM message n INDEXED BY message_sid WHERE n.sid = ?1 AND n.sid > 0 "
			      "AND n.kind = ?2 AND n.number > ?3 LIMIT 1",
	[READ_RECEIVER_GONE] =
		"SELECT 1 FROM message INDEXED BY message_receiver_gone WHERE state = 3 AND origin = ?1"
		" LIMIT 1",

	[READ_RUN_LAST] = "SELECT ifnull(max(run), 0) FROM run",
	[READ_RUN_FROM] = "SELECT run, claimed FROM run WHERE run >= ?1 ORDER BY run LIMIT 1",

	[READ_RUNS] = RUNS("NOT INDEXED", ""),
	[READ_FAILED] = RUNS("INDEXED BY run_failed", " AND state = 3 AND outcome IN (2, 3)"),
	[READ_IDLE] = RUNS("INDEXED BY run_idle", " AND state > 3"),
	[READ_OPEN] = RUNS("INDEXED BY run_open", " AND state < 3"),
	/* Two orders that are one already: they are merged, not sorted. */
	[READ_RUNS_OF] = OF_FROM("run_occurrence") OF_SAME " AND kind <> 4 UNION ALL " OF_FROM("run_manual")
		OF_SAME " AND kind = 4" OF_ORDER,
	[READ_RUNS_OF_OLDER] = OF_FROM("run_occurrence") OF_OLDER
	" AND kind <> 4 UNION ALL " OF_FROM("run_manual") OF_OLDER " AND kind = 4" OF_ORDER,
	RUNS_OF(READ_FAILED_OF, "run_failed_of", " AND state = 3 AND outcome IN (2, 3)"),
	RUNS_OF(READ_IDLE_OF, "run_idle_of", " AND state > 3"),
	/* Those that are open are few: all of them are looked at. */
	RUNS_OF(READ_OPEN_OF, "run_open", " AND state < 3"),

	/* Place, sid, rev, old by ?2, recorded after it; after place ?1, at most ?3. */
	/* Not the latest end of the living, of which there is one for each: the store would keep it. */
	[READ_OLD_RUNS] =
		"SELECT run, o.sid, 0, state >= 3 AND max(nominal, claimed, ended, retry_at) <= ?2"
		" AND NOT (state = 3 AND EXISTS (SELECT 1 FROM schedule s WHERE s.sid = o.sid AND dropped IS "
		"NULL)"
		" AND \"end\" = (SELECT max(l.\"end\") FROM run l INDEXED BY run_end WHERE l.sid = o.sid"
		" AND l.state = 3)), claimed > ?2 FROM run o WHERE run > ?1 ORDER BY run LIMIT ?3",
	[READ_OLD_RANGES] = "SELECT rowid, sid, 0, last <= ?2, first > ?2 FROM range WHERE rowid > ?1"
			    " ORDER BY rowid LIMIT ?3",
	[READ_OLD_VERSIONS] = "SELECT number, sid, rev, at <= ?2, at > ?2 FROM version WHERE number > ?1"
			      " ORDER BY number LIMIT ?3",
	[READ_OLD_SCHEDS] = "SELECT sid, sid, 0, dropped <= ?2, 0 FROM schedule INDEXED BY schedule_dropped"
			    " WHERE dropped IS NOT NULL AND sid > ?1 ORDER BY sid LIMIT ?3",
	[READ_OLD_PROBLEMS] = "SELECT number, 0, 0, closed <= ?2, opened > ?2 FROM problem WHERE number > ?1"
			      " ORDER BY number LIMIT ?3",
	[READ_OLD_RUN] =
		"SELECT state >= 3, state = 3 AND dropped IS NULL AND \"end\" = (SELECT max(l.\"end\") FROM "
		"run l"
		" INDEXED BY run_end WHERE l.sid = r.sid AND l.state = 3), max(claimed, ended, retry_at)"
		" FROM run r LEFT JOIN schedule s ON s.sid = r.sid WHERE run = ?1",
};
static_assert(ARRAY_LEN(text) == READ_SQL, "every statement has a text");

static int64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * USEC + t.tv_nsec / 1000;
}

static int is_late(void *arg)
{
	const struct reader *r = arg;
	return now(CLOCK_THREAD_CPUTIME_ID) > r->work_end || now(CLOCK_MONOTONIC) > r->wait_end;
}

int reader_prepare(struct reader *r)
{
	int rc = SQLITE_OK;
	for (unsigned i = 0; i < READ_SQL && rc == SQLITE_OK; i++)
		rc = sqlite3_prepare_v3(r->db, text[i], -1, SQLITE_PREPARE_PERSISTENT, &r->stmt[i], NULL);
	sqlite3_progress_handler(r->db, READ_STEPS, is_late, r);
	return rc;
}

void reader_finalize(struct reader *r)
{
	for (unsigned i = 0; i < READ_SQL; i++)
		sqlite3_finalize(r->stmt[i]);
}

int reader_begin(struct reader *r)
{
	r->work_end = now(CLOCK_THREAD_CPUTIME_ID) + READ_MS_MAX * INT64_C(1000);
	r->wait_end = now(CLOCK_MONOTONIC) + READ_WAIT_MS_MAX * INT64_C(1000);
	return db_step(r->stmt[READ_BEGIN]);
}

enum err reader_end(struct reader *r, int rc, struct why *why)
{
	rc = db_result(rc);
	bool well = rc == SQLITE_OK || rc == SQLITE_ROW || rc == SQLITE_DONE;
	if (!well && rc != SQLITE_INTERRUPT && rc != SQLITE_NOMEM)
		db_explain(r->db, rc, why);
	if (r->trouble && db_fate(rc) == DB_DAMAGE)
		trouble_note_final(r->trouble, TROUBLE_READ, why);
	/* However late it is, the end must come. */
	r->work_end = r->wait_end = INT64_MAX;
	if (!sqlite3_get_autocommit(r->db)) {
		int end = db_step(r->stmt[READ_END]);
		if (well && end != SQLITE_OK) {
			db_explain(r->db, end, why);
			return E_IO;
		}
	}
	if (rc == SQLITE_INTERRUPT && r->patient)
		return why_set(why, E_BUSY, WHY_NOWHERE, "the store takes too long to be read");
	if (rc == SQLITE_INTERRUPT)
		return why_set(why, E_LIMIT, WHY_NOWHERE,
			       "the store has too much to look through for this; ask for less at a time");
	if (rc == SQLITE_NOMEM)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	return well ? OK : E_IO;
}
