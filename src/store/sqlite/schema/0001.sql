-- Times are microseconds since 1970 in UTC; 9223372036854775807 is never. Numbers of states, kinds, outcomes and
-- reasons are those of port/store.h and core/model.h.

CREATE TABLE meta (
	key   TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- The largest number of all runs whose record is gone; see also max(run.run).
INSERT INTO meta VALUES ('last_run', 0);
-- The largest number of all schedules whose row is gone; see also max(schedule.sid).
INSERT INTO meta VALUES ('last_sid', 0);
-- The number of the last end. It counts on whatever becomes of the runs.
INSERT INTO meta VALUES ('last_end', 0);
-- The number of the last problem.
INSERT INTO meta VALUES ('last_problem', 0);
-- The number of the last note.
INSERT INTO meta VALUES ('last_memory', 0);
-- How often a daemon has opened it; a file beside the database says the same. When it was last brought back from a
-- copy, its last run before that, and whether runs that are younger than the copy may still be alive.
INSERT INTO meta VALUES ('generation', 0), ('restored', 0), ('restored_run', 0), ('strays', 0);

-- What an engine holds in memory of a schedule. Narrow: a claim rewrites this row.
CREATE TABLE schedule (
	sid          INTEGER PRIMARY KEY,
	after        INTEGER NOT NULL,
	seen         INTEGER NOT NULL, -- ends up to this number have been acted on
	rev          INTEGER NOT NULL,
	flags        INTEGER NOT NULL,
	left         INTEGER NOT NULL,
	failures     INTEGER NOT NULL,
	owed         INTEGER NOT NULL,
	owed_since   INTEGER NOT NULL,
	next         INTEGER NOT NULL,
	high         INTEGER NOT NULL,
	kept         INTEGER NOT NULL,
	changed      INTEGER NOT NULL,
	paused_until INTEGER NOT NULL,
	checked      INTEGER NOT NULL, -- when a run set "next"; 0: it is the rule's
	put_at       INTEGER NOT NULL, -- when the last change was decided
	dropped      INTEGER,          -- when it was removed; NULL: it is alive
	rules        BLOB NOT NULL
) STRICT;
CREATE INDEX schedule_follower ON schedule (sid) WHERE after <> 0;
CREATE INDEX schedule_dropped ON schedule (sid) WHERE dropped IS NOT NULL;

-- What people wrote. Wide, hence apart: nothing on the way of a claim reads it.
CREATE TABLE document (
	sid     INTEGER PRIMARY KEY,
	id      TEXT,
	body    TEXT,
	source  TEXT,    -- the file it was written in, or who made it; NULL or empty: the command line
	line    INTEGER, -- of that file
	note    TEXT, -- of its pause
	dropped INTEGER NOT NULL DEFAULT 0 -- 1: of a removed schedule; its runs are still read with it
) STRICT;
-- Documents that were replaced, with the last rev they stood for: runs keep the version they were claimed under.
-- `upto`: no run of theirs has a later nominal time, so that few are looked at to see whether one is left.
CREATE TABLE version (
	number INTEGER PRIMARY KEY, -- in the order of replacement
	sid    INTEGER NOT NULL,
	rev    INTEGER NOT NULL,
	at     INTEGER NOT NULL,
	upto   INTEGER NOT NULL,
	body   TEXT,
	UNIQUE (sid, rev)
) STRICT;

-- What the numbers in rules stand for.
CREATE TABLE name (
	kind   INTEGER NOT NULL,
	number INTEGER NOT NULL,
	text   TEXT NOT NULL,
	PRIMARY KEY (kind, number)
) STRICT, WITHOUT ROWID;

-- Of the living an id names one. Removed ones may share theirs, with a living one as well.
CREATE UNIQUE INDEX document_id ON document (id) WHERE dropped = 0;
CREATE INDEX document_dropped ON document (id) WHERE dropped = 1;
CREATE INDEX document_note ON document (id) WHERE note IS NOT NULL AND dropped = 0;

-- Whatever came out of a file or a directory, when it is applied again.
CREATE INDEX document_source ON document (source, id) WHERE dropped = 0 AND source > '';

-- What agents know, and the user's profile (key '').
CREATE TABLE state (
	key  TEXT PRIMARY KEY,
	rev  INTEGER NOT NULL,
	at   INTEGER NOT NULL, -- when it was decided
	body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Notes of agents.
CREATE TABLE memory (
	number INTEGER PRIMARY KEY,
	agent  TEXT NOT NULL,
	run    INTEGER NOT NULL, -- that wrote it, be it pruned by now; 0: a person
	at     INTEGER NOT NULL,
	text   TEXT NOT NULL,
	tags   TEXT NOT NULL,    -- a line each
	-- The agent as one word, however it is written, that no stemmer changes.
	owner  TEXT NOT NULL GENERATED ALWAYS AS ('x' || hex(agent) || 'x') VIRTUAL
) STRICT;
CREATE INDEX memory_agent ON memory (agent);
CREATE INDEX memory_at ON memory (at); -- whether it is there already
CREATE INDEX memory_run ON memory (run) WHERE run <> 0;
-- Their words. Without a copy of the texts, and never apart from them: the triggers are the only ones to write here.
CREATE VIRTUAL TABLE memory_words USING fts5 (
	owner, text, tags, content = 'memory', content_rowid = 'number', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN
	INSERT INTO memory_words (rowid, owner, text, tags) VALUES (new.number, new.owner, new.text, new.tags);
END;
CREATE TRIGGER memory_removed AFTER DELETE ON memory BEGIN
	INSERT INTO memory_words (memory_words, rowid, owner, text, tags)
	VALUES ('delete', old.number, old.owner, old.text, old.tags);
END;
-- Agents as they are defined.
CREATE TABLE agent (
	name   TEXT PRIMARY KEY,
	rev    INTEGER NOT NULL,
	at     INTEGER NOT NULL, -- when that was decided
	body   TEXT,             -- NULL: it has gone
	source TEXT,             -- the file it is written in; NULL or empty: none
	line   INTEGER           -- of that file
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
	run        INTEGER PRIMARY KEY,
	sid        INTEGER NOT NULL,
	rev        INTEGER NOT NULL,
	attempt    INTEGER NOT NULL,
	reason     INTEGER NOT NULL,
	kind       INTEGER NOT NULL,
	state      INTEGER NOT NULL,
	outcome    INTEGER NOT NULL,
	limited    INTEGER NOT NULL,
	was        INTEGER NOT NULL,
	missed     INTEGER NOT NULL,
	nominal    INTEGER NOT NULL,
	due        INTEGER NOT NULL,
	claimed    INTEGER NOT NULL,
	started    INTEGER NOT NULL,
	ended      INTEGER NOT NULL,
	retry_at   INTEGER NOT NULL,
	"end"      INTEGER NOT NULL, -- ends are numbered in the order in which they came; 0: not ended
	fence      INTEGER NOT NULL,
	cost       INTEGER NOT NULL, -- micro-dollars; -1: not known
	tokens_in  INTEGER NOT NULL,
	tokens_out INTEGER NOT NULL,
	exit_code  INTEGER NOT NULL, -- -1: not known
	lease      INTEGER NOT NULL DEFAULT 0 -- several nodes: held until
) STRICT;
-- An occurrence is recorded once (G1). Manual runs (kind 4) are no occurrences. Both indices together are the history
-- of a schedule; that of all of them is the table itself, in the order of numbers: an index more by time would cost
-- every claim.
CREATE UNIQUE INDEX run_occurrence ON run (sid, nominal) WHERE kind <> 4;
CREATE INDEX run_manual ON run (sid, nominal) WHERE kind = 4;
-- What people look for among very many: what failed or was killed, what was skipped or missed. Only such runs pay.
CREATE INDEX run_failed ON run (run) WHERE state = 3 AND outcome IN (2, 3);
CREATE INDEX run_failed_of ON run (sid, nominal) WHERE state = 3 AND outcome IN (2, 3);
CREATE INDEX run_idle ON run (run) WHERE state > 3;
CREATE INDEX run_idle_of ON run (sid, nominal) WHERE state > 3;
-- What a fresh engine must know: the runs that are not over, and the ends that followers may have to act on.
CREATE INDEX run_open ON run (run) WHERE state < 3;
CREATE INDEX run_end ON run (sid, "end") WHERE state = 3;

-- What is said of runs in words, where there is something to say.
CREATE TABLE words (
	run  INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (run, kind)
) STRICT, WITHOUT ROWID;

-- Model calls that a check made needless: of a schedule, or of all (sid 0) in a quarter of an hour, or ever (since -1).
CREATE TABLE avoided (
	sid   INTEGER NOT NULL,
	since INTEGER NOT NULL, -- seconds
	n     INTEGER NOT NULL,
	PRIMARY KEY (sid, since)
) STRICT, WITHOUT ROWID;

-- Stretches of skipped or missed occurrences, one row each.
CREATE TABLE range (
	sid    INTEGER NOT NULL,
	first  INTEGER NOT NULL,
	last   INTEGER NOT NULL,
	state  INTEGER NOT NULL,
	reason INTEGER NOT NULL
) STRICT;
CREATE INDEX range_last ON range (sid, last);
-- At most one of them is open; an engine is told of which schedules.
CREATE UNIQUE INDEX range_open ON range (sid) WHERE last = 9223372036854775807;

CREATE TABLE hold (
	key    INTEGER PRIMARY KEY,
	reason INTEGER NOT NULL,
	until  INTEGER NOT NULL,
	note   TEXT
) STRICT;

-- What needs a person. Its number is known to people and never given again.
CREATE TABLE problem (
	number  INTEGER PRIMARY KEY,
	key     TEXT NOT NULL,    -- the cause
	subject TEXT,
	text    TEXT,
	count   INTEGER NOT NULL, -- how often it was said …
	opened  INTEGER NOT NULL, -- … the first time …
	said    INTEGER NOT NULL, -- … and the last
	acked   INTEGER NOT NULL, -- 9223372036854775807: not yet; so with the next
	closed  INTEGER NOT NULL,
	by      TEXT,             -- who acknowledged it …
	note    TEXT              -- … and what they wrote
) STRICT;
CREATE INDEX problem_key ON problem (key);
CREATE UNIQUE INDEX problem_open ON problem (key) WHERE closed = 9223372036854775807;

-- What somebody wants to be told of: written with its cause, and gone when it is a notice.
CREATE TABLE news (
	number  INTEGER PRIMARY KEY AUTOINCREMENT,
	what    INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	sid     INTEGER NOT NULL,
	run     INTEGER NOT NULL,
	problem INTEGER NOT NULL,
	first   INTEGER NOT NULL,
	last    INTEGER NOT NULL
) STRICT;

-- Messages to receivers, and what came of them.
CREATE TABLE notice (
	number   INTEGER PRIMARY KEY AUTOINCREMENT,
	kind     INTEGER NOT NULL,
	state    INTEGER NOT NULL,
	attempts INTEGER NOT NULL,
	sid      INTEGER NOT NULL,
	run      INTEGER NOT NULL,
	problem  INTEGER NOT NULL,
	joined   INTEGER NOT NULL, -- the notice that it is part of; 0: none
	line     INTEGER NOT NULL, -- one for each receiver
	at       INTEGER NOT NULL,
	tried    INTEGER NOT NULL,
	next     INTEGER NOT NULL,
	origin   TEXT NOT NULL,
	target   TEXT NOT NULL,
	body     TEXT NOT NULL,
	said     TEXT
) STRICT;
CREATE INDEX notice_next ON notice (next, line) WHERE state = 0;
CREATE INDEX notice_run ON notice (run) WHERE run > 0;
CREATE INDEX notice_loose ON notice (at) WHERE run = 0 AND state > 0;
CREATE INDEX notice_sid ON notice (sid, kind, number) WHERE sid > 0;
CREATE INDEX notice_gone ON notice (origin) WHERE state = 3;

-- Several nodes: who claims for a partition, and until when. With one node it stays empty.
CREATE TABLE lease (
	part  INTEGER PRIMARY KEY,
	owner BLOB NOT NULL,
	epoch INTEGER NOT NULL,
	until INTEGER NOT NULL
) STRICT;
