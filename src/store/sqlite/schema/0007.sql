-- While records of a clock that was set back are being corrected: the instant from which it was set back, which `until` takes into
-- account already. 0: no records lie ahead.
ALTER TABLE hold ADD COLUMN set_back_from INTEGER NOT NULL DEFAULT 0;

-- How a run is retried, by the version of its schedule under which it was claimed. 0: not known.
ALTER TABLE run ADD COLUMN retry INTEGER NOT NULL DEFAULT 0;
