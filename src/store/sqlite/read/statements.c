/* The texts of the reader's statements. */
#include "store/sqlite/read/statements.h"
#include "store/sqlite/rows.h"

/* The texts below and the schema contain these numbers as digits. */
static_assert(KIND_MANUAL == 4 && RUN_FINISHED == 3 && RUN_SKIPPED == 4 && RUN_MISSED == 5, "as in 0001.sql");

#define NEVER "9223372036854775807"

/* A schedule with its document, and its open range if it has one. `rest` is the end of the statement. */
#define SCHED_ROWS(document_index, rest)                                                                     \
	"SELECT s.sid, s.after, s.seen, s.rev, s.flags, s.left, s.failures, s.owed, s.owed_since, s.next,"   \
	" s.high, s.pruned_to, s.changed, s.paused_until, s.next_set_at, s.put_at, s.part, s.dropped, "      \
	"s.rules,"                                                                                           \
	" d.id, d.body, d.source, d.line, d.note, g.first, g.last, g.state, g.reason"                        \
	" FROM document d " document_index " CROSS JOIN schedule s ON s.sid = d.sid"                         \
	" LEFT JOIN range g INDEXED BY range_open ON g.sid = s.sid AND g.last = " NEVER rest

/* Runs of all schedules. ?1 and ?2: the smallest and the largest number; ?3 and ?4: the earliest and the
 * latest time of recording; ?5: states; ?6: the limit. */
#define RUNS(index, which)                                                                                   \
	"SELECT " RUN_COLUMNS " FROM run " index " WHERE run >= ?1 AND run <= ?2 AND claimed >= ?3"          \
	" AND claimed <= ?4 AND 1 << state & ?5" which " ORDER BY run DESC LIMIT ?6"

/* Runs of schedule ?1. ?4: states; ?5: the limit. OF_SAME: at the cursor's nominal time ?2 and below its
 * number ?3. OF_OLDER: with nominal times from ?3 to ?2. */
#define OF_FROM(index) "SELECT " RUN_COLUMNS " FROM run INDEXED BY " index " WHERE sid = ?1"
#define OF_SAME        " AND nominal = ?2 AND run < ?3 AND 1 << state & ?4"
#define OF_OLDER       " AND nominal <= ?2 AND nominal >= ?3 AND 1 << state & ?4"
#define OF_ORDER       " ORDER BY nominal DESC, run DESC LIMIT ?5"
#define RUNS_OF(name, index, which)                                                                          \
	[name] = OF_FROM(index) OF_SAME which OF_ORDER,                                                      \
	[name##_OLDER] = OF_FROM(index) OF_OLDER which OF_ORDER

/* A note with the id of the schedule whose run wrote it. `rest` is the end of the statement. */
#define NOTE_ROWS(from, rest)                                                                                \
	"SELECT " MEMORY_COLUMNS ", d.id FROM " from                                                         \
	" LEFT JOIN run r ON r.run = m.run LEFT JOIN document d ON d.sid = r.sid" rest
#define NOTES(index, which)                                                                                  \
	NOTE_ROWS("memory m " index, " WHERE m.number < ?1" which " ORDER BY m.number DESC LIMIT ?2")
#define AGENT_COLUMNS "name, rev, at, text, source, line"

static const char *const text[] = {
	[READ_BEGIN] = "BEGIN",
	[READ_END] = "COMMIT",

	[READ_SCHED] = SCHED_ROWS("", " WHERE d.sid = ?1"),
	[READ_ID] = "SELECT id FROM document WHERE sid = ?1",
	/* The document as it was at rev ?2: the oldest replaced version whose last rev is ?2 or later; if
	   there is none, the current document. */
	[READ_DOCUMENT] = "SELECT ifnull((SELECT body FROM version WHERE sid = ?1"
			  " AND rev >= ?2 ORDER BY rev LIMIT 1), (SELECT body FROM document WHERE sid = ?1))",
	/* The document in force at ?2; a version was in force up to the instant of its replacement. */
	[READ_DOCUMENT_AT] =
		"SELECT ifnull((SELECT body FROM version WHERE sid = ?1 AND at >= ?2 ORDER BY rev LIMIT 1),"
		" (SELECT body FROM document WHERE sid = ?1))",
	[READ_SCHED_ID] = SCHED_ROWS("INDEXED BY document_id", " WHERE d.id = ?1 AND d.dropped = 0"),
	[READ_SCHED_REMOVED] = SCHED_ROWS("INDEXED BY document_dropped",
					  " WHERE d.id = ?1 AND d.dropped = 1 ORDER BY d.sid DESC LIMIT 1"),
	/* ?2 is ?1 followed by a byte larger than any byte of UTF-8. */
	[READ_SCHED_IDS] = "SELECT id FROM document INDEXED BY document_id WHERE id >= ?1 AND id < ?2"
			   " AND dropped = 0 ORDER BY id LIMIT ?3",
	[READ_SCHEDS] = SCHED_ROWS("INDEXED BY document_id",
				   " WHERE d.id > ?1 AND d.dropped = 0 ORDER BY d.id LIMIT ?2"),

	/* ?1 and ?2: the first and the last source; ?3 and ?4: source and id of the cursor. */
	[READ_SCHEDS_FROM] =
		SCHED_ROWS("INDEXED BY document_source",
			   " WHERE d.source >= ?1 AND d.source <= ?2 AND (d.source, d.id) > (?3, ?4)"
			   " AND d.dropped = 0 AND d.source > '' AND d.id IS NOT NULL"
			   " ORDER BY d.source, d.id LIMIT ?5"),
	[READ_RUN_TEXT] = "SELECT text FROM run_text WHERE run = ?1 AND kind = ?2",
	/* Calls that schedule ?1 avoided; calls that all schedules avoided from ?2 on. */
	[READ_AVOIDED] = "SELECT (SELECT n FROM avoided WHERE sid = ?1 AND since = -1), (SELECT sum(n)"
			 " FROM avoided WHERE sid = 0 AND since <> -1 AND since >= ?2)",
	[READ_STATE] = "SELECT rev, text FROM state WHERE key = ?1",
	[READ_MEMORY] = NOTE_ROWS("memory m", " WHERE m.number = ?1"),
	/* ?1: the cursor; ?2: the limit; ?3: the agent; ?4: the run. */
	[READ_MEMORIES] = NOTES("NOT INDEXED", ""),
	[READ_MEMORIES_OF] = NOTES("INDEXED BY memory_agent", " AND m.agent = ?3"),
	[READ_MEMORIES_RUN] = NOTES("INDEXED BY memory_run",
				    " AND m.run = ?4 AND m.run <> 0 AND m.agent = ifnull(?3, m.agent)"),
	/* ?1: the limit; ?2: the query; ?3: the least score in percent of the best (scores are negative).
	 * Only the texts of the best notes are read. The column owner restricts the search and has weight 0
	 * in the score. */
	[READ_MEMORIES_ABOUT] =
		"WITH best AS MATERIALIZED (SELECT rowid AS found, bm25(memory_words, 0, 1, 2) AS score"
		" FROM memory_words WHERE memory_words MATCH ?2 ORDER BY score, found DESC LIMIT "
		"?1) " NOTE_ROWS("best CROSS JOIN memory m ON m.number = found",
				 " WHERE score * 100 <= ?3 * (SELECT min(score) FROM best)"
				 " ORDER BY score, m.number DESC"),
	/* ?1: the limit; ?2: the query. Reads only the index entries of these words and of the owner. */
	[READ_MEMORIES_WITH] =
		"WITH best AS MATERIALIZED (SELECT rowid AS found FROM memory_words"
		" WHERE memory_words MATCH ?2 ORDER BY rowid DESC LIMIT ?1) " NOTE_ROWS(
			"best CROSS JOIN memory m ON m.number = found", " ORDER BY m.number DESC"),
	[READ_AGENT] = "SELECT " AGENT_COLUMNS " FROM agent WHERE name = ?1",
	[READ_AGENTS] = "SELECT " AGENT_COLUMNS
			" FROM agent WHERE name > ?1 AND text IS NOT NULL ORDER BY name LIMIT ?2",
	/* 2: several. */
	[READ_AGENT_COUNT] = "SELECT count(*) FROM (SELECT 1 FROM agent WHERE text IS NOT NULL LIMIT 2)",
	[READ_SCHEDS_NOTED] = SCHED_ROWS(
		"INDEXED BY document_note",
		" WHERE d.note IS NOT NULL AND d.dropped = 0 AND d.id > ?1 ORDER BY d.id LIMIT ?2"),

	[READ_RUN] = "SELECT " RUN_COLUMNS " FROM run WHERE run = ?1",
	[READ_RUN_AT] = "SELECT " RUN_COLUMNS
			" FROM run INDEXED BY run_occurrence WHERE sid = ?1 AND nominal = ?2 AND kind <> 4",
	[READ_RUN_BEFORE] =
		"SELECT " RUN_COLUMNS " FROM run INDEXED BY run_occurrence WHERE sid = ?1 AND nominal < ?2"
		" AND kind <> 4 ORDER BY nominal DESC LIMIT 1",
	[READ_RUN_AFTER] =
		"SELECT " RUN_COLUMNS " FROM run INDEXED BY run_occurrence WHERE sid = ?1 AND nominal > ?2"
		" AND kind <> 4 ORDER BY nominal LIMIT 1",
	/* ?1 and ?2: bounds of the last time; ?3: the limit; ?4: the schedule. */
	[READ_RANGES] = "SELECT sid, first, last, state, reason FROM range INDEXED BY range_newest"
			" WHERE last >= ?1 AND last <= ?2"
			" ORDER BY last DESC, sid DESC, first DESC, state DESC, reason DESC LIMIT ?3",
	[READ_RANGES_OF] = "SELECT sid, first, last, state, reason FROM range INDEXED BY range_last"
			   " WHERE sid = ?4 AND last >= ?1 AND last <= ?2"
			   " ORDER BY last DESC, first DESC, state DESC, reason DESC LIMIT ?3",
	[READ_RANGE_COVERS] = "SELECT sid, first, last, state, reason FROM range INDEXED BY range_last"
			      " WHERE sid = ?1 AND last >= ?2 AND first <= ?2 ORDER BY first DESC LIMIT 1",

	[READ_HOLDS] = "SELECT key, reason, until, set_back_from, note FROM hold ORDER BY key LIMIT ?1",
	[READ_PROBLEM] = "SELECT " PROBLEM_COLUMNS " FROM problem WHERE number = ?1",
	[READ_PROBLEMS] =
		"SELECT " PROBLEM_COLUMNS " FROM problem WHERE number < ?1 ORDER BY number DESC LIMIT ?2",
	[READ_PROBLEMS_OPEN] = "SELECT " PROBLEM_COLUMNS
			       " FROM problem INDEXED BY problem_open WHERE number < ?1 AND closed = " NEVER
			       " ORDER BY number DESC LIMIT ?2",

	[READ_NEWS] = "SELECT number, what, attempt, sid, run, problem, first, last"
		      " FROM news ORDER BY number LIMIT ?1",
	[READ_MESSAGE] = "SELECT " MESSAGE_COLUMNS " FROM message n WHERE number = ?1",
	[READ_MESSAGES_OF] =
		"SELECT " MESSAGE_COLUMNS " FROM message n INDEXED BY message_run WHERE n.run = ?1"
		" AND n.run > 0 ORDER BY n.number LIMIT ?2",
	/* ?3: a JSON list of receivers to leave out. */
	[READ_MESSAGES_DUE] = "SELECT " MESSAGE_COLUMNS
			      " FROM message n INDEXED BY message_next WHERE n.state = 0 AND n.next <= ?1"
			      " AND n.receiver NOT IN (SELECT value FROM json_each(?3)) ORDER BY n.next, "
			      "n.receiver, n.number"
			      " LIMIT ?2",
	[READ_MESSAGE_NEXT] = "SELECT next FROM message INDEXED BY message_next"
			      " WHERE state = 0 AND receiver NOT IN (SELECT value"
			      " FROM json_each(?1)) ORDER BY next LIMIT 1",
	[READ_MESSAGES] = "SELECT " MESSAGE_COLUMNS
			  " FROM message n WHERE n.number < ?1 ORDER BY n.number DESC LIMIT ?2",
	[READ_MESSAGE_AFTER] = "SELECT 1 FROM message n INDEXED BY message_sid WHERE n.sid = ?1 AND n.sid > 0"
			       " AND n.kind = ?2 AND n.number > ?3 LIMIT 1",
	[READ_RECEIVER_GONE] = "SELECT 1 FROM message INDEXED BY message_receiver_gone"
			       " WHERE state = 3 AND origin = ?1 LIMIT 1",

	/* The first row that may have an event after ?1. A row has up to 5 events. */
	[READ_EVENT_FIRST] = "SELECT number FROM event WHERE number > ?1 - 5 ORDER BY number LIMIT 1",
	[READ_EVENT_OLDEST] = "SELECT number FROM event ORDER BY number LIMIT 1",
	[READ_EVENT_LAST] = LAST_EVENT,
	/* Rows ?1 to ?2 with one of the causes ?3, of schedule ?4 (0: any); at most ?5. */
	[READ_EVENTS] = "SELECT " EVENT_COLUMNS " FROM event WHERE number >= ?1 AND number <= ?2"
			" AND 1 << cause & ?3 AND (?4 = 0 OR sid = ?4) ORDER BY number LIMIT ?5",

	[READ_RUN_LAST] = "SELECT ifnull(max(run), 0) FROM run",
	[READ_RUN_FROM] = "SELECT run, claimed FROM run WHERE run >= ?1 ORDER BY run LIMIT 1",

	[READ_RUNS] = RUNS("NOT INDEXED", ""),
	[READ_RUNS_FAILED] = RUNS("INDEXED BY run_failed", " AND state = 3 AND outcome IN (2, 3)"),
	[READ_RUNS_IDLE] = RUNS("INDEXED BY run_idle", " AND state > 3"),
	[READ_RUNS_OPEN] = RUNS("INDEXED BY run_open", " AND state < 3"),
	/* Both halves are in the order of the result: SQLite merges them without sorting. */
	[READ_RUNS_OF] = OF_FROM("run_occurrence") OF_SAME " AND kind <> 4 UNION ALL " OF_FROM("run_manual")
		OF_SAME " AND kind = 4" OF_ORDER,
	[READ_RUNS_OF_OLDER] = OF_FROM("run_occurrence") OF_OLDER
	" AND kind <> 4 UNION ALL " OF_FROM("run_manual") OF_OLDER " AND kind = 4" OF_ORDER,
	RUNS_OF(READ_RUNS_FAILED_OF, "run_failed_of", " AND state = 3 AND outcome IN (2, 3)"),
	RUNS_OF(READ_RUNS_IDLE_OF, "run_idle_of", " AND state > 3"),
	/* Open runs are few: all of them are scanned. */
	RUNS_OF(READ_RUNS_OPEN_OF, "run_open", " AND state < 3"),

	/* Columns: place, sid, rev, whether the record is older than ?2, whether it was recorded after ?2.
	 * After place ?1, at most ?3 rows. The last end of a schedule that is not removed does not count as
	 * old, because ST_PRUNE would keep it. */
	[READ_PRUNE_RUNS] =
		"SELECT run, sid, 0, state >= 3 AND max(nominal, claimed, ended, retry_at) <= ?2"
		" AND NOT " IS_LAST_END ", claimed > ?2 FROM run o WHERE run > ?1 ORDER BY run LIMIT ?3",
	[READ_PRUNE_RANGES] = "SELECT rowid, sid, 0, last <= ?2, first > ?2 FROM range"
			      " WHERE rowid > ?1 ORDER BY rowid LIMIT ?3",
	[READ_PRUNE_VERSIONS] = "SELECT number, sid, rev, at <= ?2, at > ?2 FROM version"
				" WHERE number > ?1 ORDER BY number LIMIT ?3",
	[READ_PRUNE_SCHEDS] = "SELECT sid, sid, 0, dropped <= ?2, 0 FROM schedule INDEXED BY schedule_dropped"
			      " WHERE dropped IS NOT NULL AND sid > ?1 ORDER BY sid LIMIT ?3",
	[READ_PRUNE_PROBLEMS] = "SELECT number, 0, 0, closed <= ?2, opened > ?2 FROM problem"
				" WHERE number > ?1 ORDER BY number LIMIT ?3",
	[READ_PRUNE_EVENTS] = "SELECT number, 0, 0, at <= ?2, at > ?2 FROM event"
			      " WHERE number > ?1 ORDER BY number LIMIT ?3",
	[READ_PRUNE_RUN] =
		"SELECT state >= 3, " IS_LAST_END ", max(claimed, ended, retry_at) FROM run o WHERE run = ?1",
};
static_assert(ARRAY_LEN(text) == READ_STATEMENTS, "every statement has a text");

int read_statements_prepare(sqlite3 *db, sqlite3_stmt *stmt[static READ_STATEMENTS])
{
	int rc = SQLITE_OK;
	for (unsigned i = 0; i < READ_STATEMENTS && rc == SQLITE_OK; i++)
		rc = sqlite3_prepare_v3(db, text[i], -1, SQLITE_PREPARE_PERSISTENT, &stmt[i], NULL);
	return rc;
}

void read_statements_finalize(sqlite3_stmt *stmt[static READ_STATEMENTS])
{
	for (unsigned i = 0; i < READ_STATEMENTS; i++)
		sqlite3_finalize(stmt[i]);
}
