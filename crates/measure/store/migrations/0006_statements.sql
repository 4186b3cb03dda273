-- The labels of a record are its statement. The revision counts their changes.
CREATE TABLE statements (
    record_id TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    revision INTEGER NOT NULL,
    PRIMARY KEY (record_id)
) WITHOUT ROWID, STRICT;
INSERT INTO statements SELECT DISTINCT record_id, 1 FROM labels
    WHERE EXISTS (SELECT 1 FROM records WHERE id = labels.record_id);
