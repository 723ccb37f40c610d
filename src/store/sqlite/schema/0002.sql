-- Tables and columns get the names that the program uses for them. No row changes.

-- When a run set "next"; 0: "next" comes from the rule.
ALTER TABLE schedule RENAME COLUMN checked TO next_set_at;
-- Records up to this nominal time were pruned: at or below it nothing is claimed.
ALTER TABLE schedule RENAME COLUMN kept TO pruned_to;
-- Attempts that do not count: they ended rate-limited, or could not be started.
ALTER TABLE run RENAME COLUMN limited TO uncounted;
-- The state, plus one, of the record that a backfill replaced; 0: none.
ALTER TABLE run RENAME COLUMN was TO replaced;
ALTER TABLE problem RENAME COLUMN said TO last_reported;
ALTER TABLE state RENAME COLUMN body TO text;
ALTER TABLE agent RENAME COLUMN body TO text;
-- Texts about runs: details of the reason, and the provenance.
ALTER TABLE words RENAME TO run_text;

-- Messages to receivers, and the results of their delivery. SQLite cannot rename an index: each is made again.
ALTER TABLE notice RENAME TO message;
ALTER TABLE message RENAME COLUMN line TO receiver;
ALTER TABLE message RENAME COLUMN tried TO tried_at;
ALTER TABLE message RENAME COLUMN said TO result;
DROP INDEX notice_next;
DROP INDEX notice_run;
DROP INDEX notice_loose;
DROP INDEX notice_sid;
DROP INDEX notice_gone;
CREATE INDEX message_next ON message (next, receiver) WHERE state = 0;
CREATE INDEX message_run ON message (run) WHERE run > 0;
-- Finished messages that belong to no run.
CREATE INDEX message_without_run ON message (at) WHERE run = 0 AND state > 0;
CREATE INDEX message_sid ON message (sid, kind, number) WHERE sid > 0;
-- Receivers that asked for no more messages.
CREATE INDEX message_receiver_gone ON message (origin) WHERE state = 3;
