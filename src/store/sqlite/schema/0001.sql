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
-- The number of the last end. It never decreases, even if runs are removed.
INSERT INTO meta VALUES ('last_end', 0);
-- The number of the last problem.
INSERT INTO meta VALUES ('last_problem', 0);
-- The number of the last note.
INSERT INTO meta VALUES ('last_memory', 0);
-- How often a daemon has opened the database; a file beside the database has the same number. When the database was last
-- restored from a copy, its last run then, and whether runs that are newer than the copy may still be alive.
INSERT INTO meta VALUES ('generation', 0), ('restored', 0), ('restored_run', 0), ('strays', 0);

-- The part of a schedule that the engine keeps in memory. The row is small, because every claim rewrites it.
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
	checked      INTEGER NOT NULL, -- when a run set "next"; 0: "next" comes from the rule
	put_at       INTEGER NOT NULL, -- when the last change was decided
	dropped      INTEGER,          -- when it was removed; NULL: it was not removed
	rules        BLOB NOT NULL
) STRICT;
CREATE INDEX schedule_follower ON schedule (sid) WHERE after <> 0;
CREATE INDEX schedule_dropped ON schedule (sid) WHERE dropped IS NOT NULL;

-- Documents. They are large, so they have their own table, which a claim does not read.
CREATE TABLE document (
	sid     INTEGER PRIMARY KEY,
	id      TEXT,
	body    TEXT,
	source  TEXT,    -- the file, or the run that made it; NULL or empty: the command line
	line    INTEGER, -- of that file
	note    TEXT, -- of its pause
	dropped INTEGER NOT NULL DEFAULT 0 -- 1: the schedule was removed; its runs still need the document
) STRICT;
-- Replaced documents, each with the last rev that had it: runs keep the version under which they were claimed.
-- `upto`: no run of the version has a later nominal time, which limits the search for runs that are left.
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

-- Ids are unique among schedules that are not removed. Removed schedules may have the id of any other schedule.
CREATE UNIQUE INDEX document_id ON document (id) WHERE dropped = 0;
CREATE INDEX document_dropped ON document (id) WHERE dropped = 1;
CREATE INDEX document_note ON document (id) WHERE note IS NOT NULL AND dropped = 0;

-- The schedules that came from a file or a directory, for the next apply.
CREATE INDEX document_source ON document (source, id) WHERE dropped = 0 AND source > '';

-- The states of agents, and the user's profile (key '').
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
	run    INTEGER NOT NULL, -- the run that wrote it, which may have been pruned; 0: a person
	at     INTEGER NOT NULL,
	text   TEXT NOT NULL,
	tags   TEXT NOT NULL,    -- one per line
	-- The name of the agent as one word that the stemmer does not change.
	owner  TEXT NOT NULL GENERATED ALWAYS AS ('x' || hex(agent) || 'x') VIRTUAL
) STRICT;
CREATE INDEX memory_agent ON memory (agent);
CREATE INDEX memory_at ON memory (at); -- finds a repeated request
CREATE INDEX memory_run ON memory (run) WHERE run <> 0;
-- The index of the words of notes, without a copy of the texts. Only the triggers write to it.
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
-- Definitions of agents.
CREATE TABLE agent (
	name   TEXT PRIMARY KEY,
	rev    INTEGER NOT NULL,
	at     INTEGER NOT NULL, -- when it was decided
	body   TEXT,             -- NULL: the agent was removed
	source TEXT,             -- the file of the definition; NULL or empty: none
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
	"end"      INTEGER NOT NULL, -- the number of its end, in the order of recording; 0: not ended
	fence      INTEGER NOT NULL,
	cost       INTEGER NOT NULL, -- micro-dollars; -1: not known
	tokens_in  INTEGER NOT NULL,
	tokens_out INTEGER NOT NULL,
	exit_code  INTEGER NOT NULL, -- -1: not known
	lease      INTEGER NOT NULL DEFAULT 0 -- with several nodes: until when the run is held
) STRICT;
-- An occurrence is recorded once (G1). Manual runs (kind 4) are not occurrences. The two indices together give the history
-- of one schedule. The history of all schedules is the table itself, in the order of numbers: an index by time would make
-- every claim more expensive.
CREATE UNIQUE INDEX run_occurrence ON run (sid, nominal) WHERE kind <> 4;
CREATE INDEX run_manual ON run (sid, nominal) WHERE kind = 4;
-- For lists of failed and killed runs, and of skipped and missed times. Other runs do not pay for these indices.
CREATE INDEX run_failed ON run (run) WHERE state = 3 AND outcome IN (2, 3);
CREATE INDEX run_failed_of ON run (sid, nominal) WHERE state = 3 AND outcome IN (2, 3);
CREATE INDEX run_idle ON run (run) WHERE state > 3;
CREATE INDEX run_idle_of ON run (sid, nominal) WHERE state > 3;
-- For the load of an engine: runs that are not over, and ends on which followers may have to act.
CREATE INDEX run_open ON run (run) WHERE state < 3;
CREATE INDEX run_end ON run (sid, "end") WHERE state = 3;

-- Texts about runs, if there are any.
CREATE TABLE words (
	run  INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (run, kind)
) STRICT, WITHOUT ROWID;

-- Counts of model calls that checks avoided: by schedule or in all (sid 0), in a quarter of an hour or ever (since -1).
CREATE TABLE avoided (
	sid   INTEGER NOT NULL,
	since INTEGER NOT NULL, -- seconds
	n     INTEGER NOT NULL,
	PRIMARY KEY (sid, since)
) STRICT, WITHOUT ROWID;

-- Ranges of skipped or missed occurrences.
CREATE TABLE range (
	sid    INTEGER NOT NULL,
	first  INTEGER NOT NULL,
	last   INTEGER NOT NULL,
	state  INTEGER NOT NULL,
	reason INTEGER NOT NULL
) STRICT;
CREATE INDEX range_last ON range (sid, last);
-- A schedule has at most one open range. The engine loads these.
CREATE UNIQUE INDEX range_open ON range (sid) WHERE last = 9223372036854775807;

CREATE TABLE hold (
	key    INTEGER PRIMARY KEY,
	reason INTEGER NOT NULL,
	until  INTEGER NOT NULL,
	note   TEXT
) STRICT;

-- Problems. Their numbers are shown to people and never used again.
CREATE TABLE problem (
	number  INTEGER PRIMARY KEY,
	key     TEXT NOT NULL,    -- the cause
	subject TEXT,
	text    TEXT,
	count   INTEGER NOT NULL, -- how often it was reported
	opened  INTEGER NOT NULL, -- first reported
	said    INTEGER NOT NULL, -- last reported
	acked   INTEGER NOT NULL, -- 9223372036854775807: not acknowledged
	closed  INTEGER NOT NULL, -- 9223372036854775807: open
	by      TEXT,             -- who acknowledged it
	note    TEXT              -- of the acknowledgement
) STRICT;
CREATE INDEX problem_key ON problem (key);
CREATE UNIQUE INDEX problem_open ON problem (key) WHERE closed = 9223372036854775807;

-- News: events to be reported, written in the transaction of their cause, and removed when they have become messages.
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
	line     INTEGER NOT NULL, -- a number for each receiver
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

-- For several nodes: which node decides for a part, and until when. With one node the table is empty.
CREATE TABLE lease (
	part  INTEGER PRIMARY KEY,
	owner BLOB NOT NULL,
	epoch INTEGER NOT NULL,
	until INTEGER NOT NULL
) STRICT;
