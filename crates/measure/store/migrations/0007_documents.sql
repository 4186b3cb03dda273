-- The statement as it was written or came from elsewhere, JSON. The labels of a record are what this
-- version reads from it.
ALTER TABLE statements ADD COLUMN document TEXT;

-- Digest of what was measured; copies have one digest. NULL if nothing was measured.
ALTER TABLE heads ADD COLUMN evidence TEXT;
CREATE INDEX heads_of_evidence ON heads (evidence, record_id);
