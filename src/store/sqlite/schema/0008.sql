-- The log of events: one row for each request that caused events, with the number of the first. `cause` says which events
-- (store/event_cause.h); the others of the same row have the next numbers. Narrow and without an index: every claim adds
-- a row. The columns are those of struct event_row.
CREATE TABLE event (
	number  INTEGER PRIMARY KEY,
	cause   INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	sid     INTEGER NOT NULL,
	rev     INTEGER NOT NULL,
	run     INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	reason  INTEGER NOT NULL,
	outcome INTEGER NOT NULL,
	first   INTEGER NOT NULL,
	last    INTEGER NOT NULL,
	subject INTEGER NOT NULL,
	text    TEXT
) STRICT;
-- The largest number of all events whose row is gone.
INSERT INTO meta VALUES ('last_event', 0);
-- When the last report of a run about itself was decided; 0: it has made none.
ALTER TABLE run ADD COLUMN reported INTEGER NOT NULL DEFAULT 0;
