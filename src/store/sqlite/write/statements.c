/* The texts of the writer's statements. */
#include "store/sqlite/write/statements.h"
#include "store/sqlite/rows.h"

/* The texts below and the schema contain these numbers as digits. */
static_assert(KIND_CATCH_UP == 1 && KIND_AFTER == 2 && KIND_MANUAL == 4 && RUN_CLAIMED == 1 &&
		      RUN_FINISHED == 3 && RUN_SKIPPED == 4 && RUN_MISSED == 5,
	      "as in 0001.sql");

/* The runs numbered ?1 to ?2 that may be pruned: finished, skipped or missed by ?3. */
#define PRUNABLE_RUNS                                                                                        \
	" run BETWEEN ?1 AND ?2 AND state >= 3 AND max(nominal, claimed, ended, retry_at) <= ?3"             \
	" AND NOT " IS_LAST_END

/* Note ?1, if it belongs to agent ?2; the notes of run ?1 from number ?2 on that belong to agent ?3. An agent
 * that is NULL means any agent. */
#define NOTE_OF_AGENT " FROM memory WHERE number = ?1 AND agent = ifnull(?2, agent)"
#define NOTES_OF_RUN                                                                                         \
	" FROM memory INDEXED BY memory_run WHERE run = ?1 AND run <> 0 AND number >= ?2"                    \
	" AND agent = ifnull(?3, agent)"
/* Removes the words of notes from the index, which has no copy of the texts: FTS5 needs them once more. */
#define REMOVE_WORDS                                                                                         \
	"INSERT INTO memory_words (memory_words, rowid, owner, text, tags)"                                  \
	" SELECT 'delete', number, owner, text, tags"

static const char *const text[] = {
	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",

	[SQL_SCHED_GET] = "SELECT " SCHED_COLUMNS " FROM schedule WHERE sid = ?1",
	[SQL_SCHED_PUT] = "INSERT OR REPLACE INTO schedule (" SCHED_COLUMNS
			  ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
			  " ?17, ?18, ?19)",
	[SQL_SCHED_SET] = "UPDATE schedule SET next = ?2, high = ?3, left = ?4, failures = ?5, owed = ?6,"
			  " owed_since = ?7, changed = ?8, seen = ?9, next_set_at = ?10 WHERE sid = ?1",
	[SQL_SCHED_DROP] = "UPDATE schedule SET dropped = ?2 WHERE sid = ?1",
	/* A column whose parameter is NULL stays as it is. */
	[SQL_DOCUMENT_PUT] =
		"INSERT INTO document (sid, id, body, source, line, note)"
		" VALUES (?1, ?2, ?3, ?4, ?5, nullif(?6, '')) ON CONFLICT (sid)"
		" DO UPDATE SET id = ifnull(excluded.id, id), body = ifnull(excluded.body, body),"
		" source = ifnull(excluded.source, source), line = ifnull(excluded.line, line), note"
		" = nullif(ifnull(?6, note), '')",
	[SQL_VERSION_ADD] =
		"INSERT OR REPLACE INTO version (sid, rev, at, upto, body)"
		" SELECT sid, ?2, ?3, max(ifnull((SELECT nominal"
		" FROM run WHERE sid = ?1 AND kind <> 4 ORDER BY nominal DESC LIMIT 1),"
		" 0),ifnull((SELECT nominal FROM run WHERE sid = ?1"
		" AND kind = 4 ORDER BY nominal DESC LIMIT 1), 0)), body FROM document WHERE sid = ?1",
	[SQL_DOCUMENT_DROP] = "UPDATE document SET dropped = 1 WHERE sid = ?1",
	[SQL_ID_IS] = "SELECT 1 FROM document WHERE sid = ?1 AND id IS ?2",
	[SQL_ID_TAKEN] = "SELECT 1 FROM document WHERE id = ?2 AND dropped = 0 AND sid <> ?1",

	/* The number of the last end of a schedule. */
	[SQL_END_LAST] = "SELECT \"end\" FROM run INDEXED BY run_end WHERE sid = ?1 AND state = 3"
			 " ORDER BY \"end\" DESC LIMIT 1",

	[SQL_RUN_GET] = "SELECT " RUN_COLUMNS " FROM run WHERE run = ?1",
	[SQL_RUN_AT] = "SELECT " RUN_COLUMNS " FROM run WHERE sid = ?1 AND nominal = ?2 AND kind <> 4",
	[SQL_RUN_ADD] = "INSERT INTO run (" RUN_COLUMNS
			") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
			" ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25) ON CONFLICT DO NOTHING",
	[SQL_RUN_REMOVE] = "DELETE FROM run WHERE run = ?1",
	[SQL_RUN_VERDICT] = "UPDATE run SET state = ?2, reason = ?3, node = ?4 WHERE run = ?1",
	[SQL_RUN_STARTED] = "UPDATE run SET state = 1, attempt = ?2, started = ?3, node = ?4 WHERE run = ?1",
	[SQL_RUN_FINISH] = "UPDATE run SET attempt = ?2, state = ?3, outcome = ?4, reason = ?5, ended = ?6,"
			   " retry_at = ?7, cost = ?8, tokens_in = ?9, tokens_out = ?10, uncounted = ?11,"
			   " \"end\" = ?12, exit_code = ?13, node = ?14 WHERE run = ?1",
	/* Not manual runs (kind 4) and runs that followed an end (kind 2; kind 1 if ?3): they do not become
	 * due again. */
	[SQL_RUNS_WITHDRAW] = "DELETE FROM run INDEXED BY run_idle_of WHERE sid = ?1 AND nominal > ?2"
			      " AND state > 3 AND kind NOT IN (2, 4) AND NOT (kind = 1 AND ?3)",
	/* Executed before a run is deleted, because its number must never be used again. */
	[SQL_RUN_SAVE_LAST] = "UPDATE meta SET value = max(value, (SELECT ifnull(max(run), 0)"
			      " FROM run)) WHERE key = 'last_run'",

	[SQL_RANGE_COVERS] = "SELECT 1 FROM range WHERE sid = ?1 AND first <= ?2 AND last >= ?3"
			     " AND state = ?4 AND reason = ?5 LIMIT 1",
	[SQL_RANGE_ENDING] = "SELECT rowid FROM range WHERE sid = ?1 AND last = ?2 AND state = ?3"
			     " AND reason = ?4 ORDER BY first DESC LIMIT 1",
	[SQL_RANGE_ADD] = "INSERT INTO range (sid, first, last, state, reason) VALUES (?1, ?2, ?3, ?4, ?5)",
	[SQL_RANGE_SET_LAST] = "UPDATE range SET last = ?2 WHERE rowid = ?1",
	[SQL_RANGE_OPEN] = "SELECT rowid, first FROM range WHERE sid = ?1 AND last = 9223372036854775807",
	[SQL_RANGE_REMOVE] = "DELETE FROM range WHERE rowid = ?1",
	[SQL_RANGES_WITHDRAW] = "DELETE FROM range WHERE sid = ?1 AND last > ?2 AND first > ?2"
				" AND last < 9223372036854775807",
	[SQL_RANGES_CUT] = "UPDATE range SET last = ?2 WHERE sid = ?1 AND last > ?2"
			   " AND last < 9223372036854775807",
	[SQL_RANGE_OPEN_SET_FIRST] =
		"UPDATE range SET first = ?2 WHERE sid = ?1 AND last = 9223372036854775807"
		" AND first > ?2",

	[SQL_HOLD_GET] = "SELECT reason, until FROM hold WHERE key = ?1",
	[SQL_HOLD_PUT] = "INSERT INTO hold (key, reason, until, set_back_from, note)"
			 " VALUES (?1, ?2, ?3, ?4, nullif(?5, '')) ON CONFLICT (key) DO UPDATE SET"
			 " reason = excluded.reason, until = excluded.until,"
			 " set_back_from = excluded.set_back_from, note = nullif(ifnull(?5, note), '')",
	[SQL_HOLD_REMOVE] = "DELETE FROM hold WHERE key = ?1",

	/* The largest numbers that were recorded. */
	[SQL_RUN_LAST] = "SELECT max(value, (SELECT ifnull(max(run), 0) FROM run)) FROM meta"
			 " WHERE key = 'last_run'",
	[SQL_SCHED_LAST] = "SELECT max(value, (SELECT ifnull(max(sid), 0) FROM schedule)) FROM meta"
			   " WHERE key = 'last_sid'",
	[SQL_NAME_LAST] = "SELECT ifnull(max(number), 0) FROM name WHERE kind = ?1",
	[SQL_PARTS] = "SELECT part, epoch, node FROM part",
	[SQL_PART_PUT] = "INSERT OR REPLACE INTO part (part, epoch, node) VALUES (?1, ?2, ?3)",
	[SQL_KEY_GET] = "SELECT value = ?1 FROM secret WHERE name = 'run_tokens'",
	[SQL_KEY_PUT] = "INSERT INTO secret (name, value) VALUES ('run_tokens', ?1)",

	[SQL_NAME_NUMBER] = "SELECT number FROM name INDEXED BY name_text WHERE kind = ?1 AND text = ?2"
			    " ORDER BY number LIMIT 1",
	[SQL_NAME_TAKEN] = "SELECT 1 FROM name WHERE kind = ?1 AND number = ?2",
	[SQL_NAME_PUT] = "INSERT INTO name (kind, number, text) VALUES (?1, ?2, ?3)",
	[SQL_SOURCE] = "UPDATE document SET source = ?2, line = ?3 WHERE sid = ?1",
	[SQL_RUN_TEXT_PUT] = "INSERT OR REPLACE INTO run_text (run, kind, text) VALUES (?1, ?2, ?3)",
	[SQL_RUN_TEXT_REMOVE] = "DELETE FROM run_text WHERE run = ?1 AND kind = ?2",
	[SQL_AVOIDED_COUNT] = "INSERT INTO avoided (sid, since, n) VALUES (?1, ?2, 1)"
			      " ON CONFLICT (sid, since) DO UPDATE SET n = n + 1",
	[SQL_STATE_GET] = "SELECT rev, at, 1 FROM state WHERE key = ?1",
	[SQL_STATE_PUT] = "INSERT OR REPLACE INTO state (rev, at, key, text) VALUES (?1, ?2, ?3, ?4)",
	[SQL_AGENT_GET] = "SELECT rev, at, text IS NOT NULL FROM agent WHERE name = ?1",
	[SQL_AGENT_PUT] = "INSERT OR REPLACE INTO agent (rev, at, line, name, text, source)"
			  " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[SQL_AGENT_MOVE] = "UPDATE agent SET line = ?1, source = ?3 WHERE name = ?2",

	[SQL_EVENT_LAST] = LAST_EVENT,
	[SQL_EVENT_ADD] = "INSERT INTO event (" EVENT_COLUMNS
			  ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
	[SQL_EVENT_YOUNG] = "SELECT number FROM event WHERE number <= ?1 AND at > ?2 ORDER BY number LIMIT 1",
	[SQL_EVENT_SAVE_LAST] = "UPDATE meta SET value = max(value, ?1) WHERE key = 'last_event'",
	[SQL_RUN_REPORTED] = "UPDATE run SET reported = ?2 WHERE run = ?1 AND reported <> ?2",
	[SQL_NEWS_ADD] = "INSERT INTO news (what, attempt, sid, run, problem, first, last)"
			 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[SQL_NEWS_FIRST] = "SELECT min(number) FROM news",
	[SQL_NEWS_REMOVE] = "DELETE FROM news WHERE number <= ?1",
	[SQL_MESSAGE_ADD] = "INSERT INTO message (kind, state, attempts, sid, run, problem, joined, receiver,"
			    " at, tried_at, next, origin, target, body, result)"
			    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
	[SQL_MESSAGE_LAST] = "SELECT at FROM message WHERE number = (SELECT max(number) FROM message)",
	[SQL_MESSAGE_GET] = "SELECT state, attempts, tried_at, sid, run FROM message WHERE number = ?1",
	[SQL_MESSAGE_TRIED] =
		"UPDATE message SET state = ?2, attempts = ?3, tried_at = ?4, next = ?5, result = ?6"
		" WHERE number = ?1",

	[SQL_SID_LAST] = "SELECT value FROM meta WHERE key = 'last_sid'",
	[SQL_SID_SAVE_LAST] = "UPDATE meta SET value = max(value, ?1) WHERE key = 'last_sid'",

	[SQL_PRUNE_RUNS_MARK] =
		"UPDATE schedule SET pruned_to = max(pruned_to, g.last)"
		" FROM (SELECT o.sid, max(nominal) AS last FROM run o WHERE kind <> 4 AND" PRUNABLE_RUNS
		" GROUP BY o.sid) AS g WHERE schedule.sid = g.sid",
	[SQL_PRUNE_RUNS] = "DELETE FROM run AS o WHERE" PRUNABLE_RUNS,
	[SQL_PRUNE_RUN_TEXT] = "DELETE FROM run_text AS w WHERE w.run >= ?1 AND w.run <= ?2"
			       " AND NOT EXISTS (SELECT 1 FROM run r WHERE r.run = w.run)",
	[SQL_PRUNE_AVOIDED] = "DELETE FROM avoided WHERE sid = 0 AND since <> -1 AND since < ?1",
	[SQL_PRUNE_MESSAGES] = "DELETE FROM message AS n INDEXED BY message_run"
			       " WHERE n.run > 0 AND n.run >= ?1 AND n.run <= ?2 AND NOT EXISTS (SELECT 1"
			       " FROM run r WHERE r.run = n.run)",
	[SQL_PRUNE_MESSAGES_WITHOUT_RUN] = "DELETE FROM message INDEXED BY message_without_run"
					   " WHERE run = 0 AND state > 0 AND at <= ?1 AND tried_at <= ?1",
	[SQL_PRUNE_RANGES_MARK] = "UPDATE schedule SET pruned_to = max(pruned_to, ifnull((SELECT max(last)"
				  " FROM range WHERE sid = ?1 AND last <= ?2), pruned_to)) WHERE sid = ?1",
	[SQL_PRUNE_RANGES] = "DELETE FROM range WHERE sid = ?1 AND last <= ?2",
	/* Deletes the version with rev ?2 if no run uses it: no run has a rev above the previous version's
	 * and up to ?2. */
	[SQL_PRUNE_VERSION] =
		"DELETE FROM version AS v WHERE sid = ?1 AND rev = ?2 AND at <= ?3"
		" AND NOT EXISTS (SELECT 1 FROM run r WHERE r.sid = ?1 AND kind <> 4"
		" AND nominal <= v.upto AND r.rev <= ?2  AND r.rev > (SELECT ifnull(max(b.rev), 0)"
		" FROM version b WHERE b.sid = ?1 AND b.rev < ?2)) AND NOT EXISTS (SELECT 1"
		" FROM run r WHERE r.sid = ?1 AND kind = 4 AND nominal <= v.upto"
		" AND r.rev <= ?2  AND r.rev > (SELECT ifnull(max(b.rev), 0)"
		" FROM version b WHERE b.sid = ?1 AND b.rev < ?2))",
	[SQL_PRUNE_SCHED] = "DELETE FROM schedule WHERE sid = ?1 AND dropped <= ?2 AND NOT EXISTS (SELECT 1"
			    " FROM run r WHERE r.sid = ?1 AND kind <> 4) AND NOT EXISTS (SELECT 1"
			    " FROM run r WHERE r.sid = ?1 AND kind = 4)",
	[SQL_PRUNE_SCHED_DOCUMENT] = "DELETE FROM document WHERE sid = ?1",
	[SQL_PRUNE_SCHED_VERSIONS] = "DELETE FROM version WHERE sid = ?1",
	[SQL_PRUNE_SCHED_RANGES] = "DELETE FROM range WHERE sid = ?1",
	[SQL_PRUNE_SCHED_AVOIDED] = "DELETE FROM avoided WHERE sid = ?1",
	[SQL_PRUNE_PROBLEM] = "DELETE FROM problem WHERE number = ?1 AND closed <= ?2"
			      " AND closed < 9223372036854775807",
	[SQL_PRUNE_EVENTS] = "DELETE FROM event WHERE number <= ?1 AND number < ?2",

	[SQL_MEMORY_LAST] = "SELECT value FROM meta WHERE key = 'last_memory'",
	[SQL_MEMORY_SET_LAST] = "UPDATE meta SET value = ?1 WHERE key = 'last_memory'",
	[SQL_MEMORY_FIND] = "SELECT number FROM memory INDEXED BY memory_at WHERE at = ?1 AND run = ?2"
			    " AND agent = ?3 AND text = ?4 LIMIT 1",
	/* Whether agent ?2 has more than ?1 notes. */
	[SQL_MEMORY_HAS_MORE_THAN] =
		"SELECT 1 FROM memory INDEXED BY memory_agent WHERE agent = ?2 LIMIT 1 OFFSET ?1",
	[SQL_MEMORY_ADD] = "INSERT INTO memory (number, run, at, agent, text, tags)"
			   " VALUES (?1, ?2, ?3, ?4, ?5, ifnull(?6, ''))",
	[SQL_MEMORY_INDEX] = "INSERT INTO memory_words (rowid, owner, text, tags)"
			     " SELECT number, owner, text, tags FROM memory WHERE number = ?1",
	[SQL_MEMORY_UNINDEX] = REMOVE_WORDS NOTE_OF_AGENT,
	[SQL_MEMORY_REMOVE] = "DELETE" NOTE_OF_AGENT,
	[SQL_MEMORY_UNINDEX_RUN] = REMOVE_WORDS NOTES_OF_RUN,
	[SQL_MEMORY_REMOVE_RUN] = "DELETE" NOTES_OF_RUN,

	[SQL_PROBLEM_LAST] = "SELECT value FROM meta WHERE key = 'last_problem'",
	[SQL_PROBLEM_SET_LAST] = "UPDATE meta SET value = ?1 WHERE key = 'last_problem'",
	[SQL_PROBLEM_GET] =
		"SELECT number, count, last_reported, acked, closed FROM problem WHERE number = ?1",
	[SQL_PROBLEM_LAST_OF] = "SELECT number, count, last_reported, acked, closed"
				" FROM problem WHERE key = ?1 ORDER BY number DESC LIMIT 1",
	[SQL_PROBLEM_ADD] = "INSERT INTO problem (number, count, opened, last_reported, acked, closed, key,"
			    " subject, text) VALUES (?1, 1, ?2, ?2, 9223372036854775807, 9223372036854775807,"
			    " ?3, ?4, ?5)",
	[SQL_PROBLEM_REPEAT] = "UPDATE problem SET count = ?2, last_reported = ?3, text = ifnull(?4, text)"
			       " WHERE number = ?1",
	[SQL_PROBLEM_ACK] = "UPDATE problem SET acked = ?2, by = ?3, note = ?4 WHERE number = ?1",
	[SQL_PROBLEM_CLOSE] = "UPDATE problem SET closed = ?2 WHERE number = ?1",
};
static_assert(ARRAY_LEN(text) == WRITE_STATEMENTS, "every statement has a text");

int write_statements_prepare(struct write_statements *w, sqlite3 *db)
{
	*w = (struct write_statements){ .db = db };
	for (unsigned i = 0; i < WRITE_STATEMENTS; i++) {
		int rc = sqlite3_prepare_v3(db, text[i], -1, SQLITE_PREPARE_PERSISTENT, &w->stmt[i], NULL);
		if (rc != SQLITE_OK)
			return rc;
	}
	return SQLITE_OK;
}

void write_statements_finalize(struct write_statements *w)
{
	for (unsigned i = 0; i < WRITE_STATEMENTS; i++)
		sqlite3_finalize(w->stmt[i]);
	*w = (struct write_statements){ 0 };
}
