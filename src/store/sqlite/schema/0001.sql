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
-- The number of the last end. It never decreases, even if runs are pruned.
INSERT INTO meta VALUES ('last_end', 0);
-- The number of the last problem.
INSERT INTO meta VALUES ('last_problem', 0);
-- The number of the last note.
INSERT INTO meta VALUES ('last_memory', 0);
-- How often a daemon has opened the database; a file beside it has the same number. When it was last restored from a
-- copy, its last run then, and whether runs that were started after the copy was made may still be alive.
INSERT INTO meta VALUES ('generation', 0), ('restored', 0), ('restored_run', 0), ('strays', 0);

-- The part of a schedule that the engine has in memory. The row is small, because every claim rewrites it.
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

-- The documents of schedules. They are large and no claim reads them, so they have a table of their own.
CREATE TABLE document (
	sid     INTEGER PRIMARY KEY,
	id      TEXT,
	body    TEXT,
	source  TEXT,    -- the file it was written in, or who made it; NULL or empty: the command line
	line    INTEGER, -- of that file
	note    TEXT, -- of its pause
	dropped INTEGER NOT NULL DEFAULT 0 -- 1: of a removed schedule; its runs are still read with it
) STRICT;
-- Documents that were replaced, with the last rev that used them: runs keep the version they were claimed under.
-- `upto`: no run of this version has a later nominal time, so that few runs are searched to see whether one is left.
CREATE TABLE version (
	number INTEGER PRIMARY KEY, -- in the order of replacement
	sid    INTEGER NOT NULL,
	rev    INTEGER NOT NULL,
	at     INTEGER NOT NULL,
	upto   INTEGER NOT NULL,
	body   TEXT,
	UNIQUE (sid, rev)
) STRICT;

-- The names to which numbers in rules refer.
CREATE TABLE name (
	kind   INTEGER NOT NULL,
	number INTEGER NOT NULL,
	text   TEXT NOT NULL,
	PRIMARY KEY (kind, number)
) STRICT, WITHOUT ROWID;

-- Among schedules that are not removed an id is unique. Removed schedules may have any id.
CREATE UNIQUE INDEX document_id ON document (id) WHERE dropped = 0;
CREATE INDEX document_dropped ON document (id) WHERE dropped = 1;
CREATE INDEX document_note ON document (id) WHERE note IS NOT NULL AND dropped = 0;

-- Finds all schedules that came from a file or directory when it is applied again.
CREATE INDEX document_source ON document (source, id) WHERE dropped = 0 AND source > '';

-- The state texts of agents, and the user's profile (key '').
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
	run    INTEGER NOT NULL, -- the run that wrote it, which may be pruned; 0: a person
	at     INTEGER NOT NULL,
	text   TEXT NOT NULL,
	tags   TEXT NOT NULL,    -- one per line
	-- The agent's name as one word that no stemmer changes.
	owner  TEXT NOT NULL GENERATED ALWAYS AS ('x' || hex(agent) || 'x') VIRTUAL
) STRICT;
CREATE INDEX memory_agent ON memory (agent);
CREATE INDEX memory_at ON memory (at); -- finds a repeated request
CREATE INDEX memory_run ON memory (run) WHERE run <> 0;
-- The full-text index of the notes. It has no copy of the texts. Only the triggers write to it, so that it always
-- agrees with the notes.
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
-- The definitions of agents.
CREATE TABLE agent (
	name   TEXT PRIMARY KEY,
	rev    INTEGER NOT NULL,
	at     INTEGER NOT NULL, -- when that was decided
	body   TEXT,             -- NULL: removed
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
	"end"      INTEGER NOT NULL, -- ends are numbered in the order in which they are recorded; 0: not ended
	fence      INTEGER NOT NULL,
	cost       INTEGER NOT NULL, -- micro-dollars; -1: not known
	tokens_in  INTEGER NOT NULL,
	tokens_out INTEGER NOT NULL,
	exit_code  INTEGER NOT NULL, -- -1: not known
	lease      INTEGER NOT NULL DEFAULT 0 -- several nodes: held until
) STRICT;
-- An occurrence is recorded once (G1). Manual runs (kind 4) are no occurrences. Both indices together list the runs of
-- one schedule. The runs of all schedules are listed by number: another index by time would make every claim slower.
CREATE UNIQUE INDEX run_occurrence ON run (sid, nominal) WHERE kind <> 4;
CREATE INDEX run_manual ON run (sid, nominal) WHERE kind = 4;
-- Runs that people search for among very many: failed or killed, skipped or missed. Other runs are not in the index.
CREATE INDEX run_failed ON run (run) WHERE state = 3 AND outcome IN (2, 3);
CREATE INDEX run_failed_of ON run (sid, nominal) WHERE state = 3 AND outcome IN (2, 3);
CREATE INDEX run_idle ON run (run) WHERE state > 3;
CREATE INDEX run_idle_of ON run (sid, nominal) WHERE state > 3;
-- What a new engine loads: the runs that have not ended, and the ends that followers may have to act on.
CREATE INDEX run_open ON run (run) WHERE state < 3;
CREATE INDEX run_end ON run (sid, "end") WHERE state = 3;

-- Texts about runs.
CREATE TABLE words (
	run  INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (run, kind)
) STRICT, WITHOUT ROWID;

-- Model calls that checks avoided: by a schedule or by all (sid 0), in a quarter of an hour or in total (since -1).
CREATE TABLE avoided (
	sid   INTEGER NOT NULL,
	since INTEGER NOT NULL, -- seconds
	n     INTEGER NOT NULL,
	PRIMARY KEY (sid, since)
) STRICT, WITHOUT ROWID;

-- Ranges of skipped or missed occurrences, one row each.
CREATE TABLE range (
	sid    INTEGER NOT NULL,
	first  INTEGER NOT NULL,
	last   INTEGER NOT NULL,
	state  INTEGER NOT NULL,
	reason INTEGER NOT NULL
) STRICT;
CREATE INDEX range_last ON range (sid, last);
-- A schedule has at most one open range; a new engine loads whether it has one.
CREATE UNIQUE INDEX range_open ON range (sid) WHERE last = 9223372036854775807;

CREATE TABLE hold (
	key    INTEGER PRIMARY KEY,
	reason INTEGER NOT NULL,
	until  INTEGER NOT NULL,
	note   TEXT
) STRICT;

-- Problems that need a person. People use the number, so it is never used again.
CREATE TABLE problem (
	number  INTEGER PRIMARY KEY,
	key     TEXT NOT NULL,    -- the cause
	subject TEXT,
	text    TEXT,
	count   INTEGER NOT NULL, -- how often it was reported …
	opened  INTEGER NOT NULL, -- … the first time …
	said    INTEGER NOT NULL, -- … and the last
	acked   INTEGER NOT NULL, -- 9223372036854775807: not yet; also for `closed`
	closed  INTEGER NOT NULL,
	by      TEXT,             -- who acknowledged it …
	note    TEXT              -- … and what they wrote
) STRICT;
CREATE INDEX problem_key ON problem (key);
CREATE UNIQUE INDEX problem_open ON problem (key) WHERE closed = 9223372036854775807;

-- News: events that people want messages about, written with their cause and deleted when messages are made of them.
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

-- Messages to receivers, and the results of their delivery.
CREATE TABLE notice (
	number   INTEGER PRIMARY KEY AUTOINCREMENT,
	kind     INTEGER NOT NULL,
	state    INTEGER NOT NULL,
	attempts INTEGER NOT NULL,
	sid      INTEGER NOT NULL,
	run      INTEGER NOT NULL,
	problem  INTEGER NOT NULL,
	joined   INTEGER NOT NULL, -- the message that it is part of; 0: none
	line     INTEGER NOT NULL, -- the same number for all messages to one receiver
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

-- With several nodes: which node claims for a partition, and until when. With one node the table stays empty.
CREATE TABLE lease (
	part  INTEGER PRIMARY KEY,
	owner BLOB NOT NULL,
	epoch INTEGER NOT NULL,
	until INTEGER NOT NULL
) STRICT;
