-- Tables and columns get the names that the program uses for them. No row changes.

-- When a run set "next"; 0: "next" comes from the rule.
ALTER TABLE schedule RENAME COLUMN checked TO next_set_at;
ALTER TABLE state RENAME COLUMN body TO text;
ALTER TABLE agent RENAME COLUMN body TO text;

-- Messages to receivers, and the result of their delivery. SQLite cannot rename an index: each is made again.
ALTER TABLE notice RENAME TO message;
DROP INDEX notice_next;
DROP INDEX notice_run;
DROP INDEX notice_loose;
DROP INDEX notice_sid;
DROP INDEX notice_gone;
CREATE INDEX message_next ON message (next, line) WHERE state = 0;
CREATE INDEX message_run ON message (run) WHERE run > 0;
-- Finished messages that belong to no run.
CREATE INDEX message_without_run ON message (at) WHERE run = 0 AND state > 0;
CREATE INDEX message_sid ON message (sid, kind, number) WHERE sid > 0;
-- Receivers that asked for no more messages.
CREATE INDEX message_receiver_gone ON message (origin) WHERE state = 3;
