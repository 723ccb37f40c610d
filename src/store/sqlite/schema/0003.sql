-- Room for several nodes that share a store; with SQLite, one node owns everything.

-- Schedules belong to parts, and each part to one node, which decides for its schedules since `epoch`.
ALTER TABLE schedule ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
CREATE TABLE part (
	part  INTEGER PRIMARY KEY,
	epoch INTEGER NOT NULL,
	node  INTEGER NOT NULL
) STRICT;
INSERT INTO part VALUES (0, 0, 1);
DROP TABLE lease;

-- The node that executes a run; 0: finished before nodes had numbers.
ALTER TABLE run RENAME COLUMN lease TO node;
UPDATE run SET node = 1 WHERE state < 3;

-- The ends of each schedule are numbered on their own. The numbers so far stay, and rise within each schedule.
-- `seen` was a number of all ends; it becomes that of the leader's last end up to it.
UPDATE schedule SET seen = ifnull((SELECT max("end") FROM run INDEXED BY run_end
	WHERE run.sid = schedule.after AND state = 3 AND "end" <= schedule.seen), 0) WHERE after <> 0;
UPDATE schedule SET seen = 0 WHERE after = 0 AND seen <> 0;
DELETE FROM meta WHERE key = 'last_end';

-- The key of run tokens (name 'run_tokens').
CREATE TABLE secret (
	name  TEXT PRIMARY KEY,
	value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
