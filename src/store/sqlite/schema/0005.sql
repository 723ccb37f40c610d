-- The writer itself keeps memory_words, the index of the notes, in the transaction that changes them. A trigger that writes
-- to FTS5 would need trusted_schema.
DROP TRIGGER memory_added;
DROP TRIGGER memory_removed;
