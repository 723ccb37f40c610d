-- The newest ranges of all schedules, for lists; range_last has those of one schedule.
CREATE INDEX range_newest ON range (last);
