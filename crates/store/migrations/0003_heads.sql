-- What is needed of many records at once, apart from `records`: a document fills many pages, and
-- SQLite would walk through them to whatever stands after it. Extracts, like `metrics`.
CREATE TABLE heads (
    sequence INTEGER PRIMARY KEY, -- that of the record
    record_id TEXT NOT NULL UNIQUE REFERENCES records (id) ON DELETE CASCADE,
    started_at TEXT,
    suite TEXT,
    origin_kind TEXT NOT NULL,
    board TEXT,
    model TEXT, -- of the first device
    card TEXT, -- the sample id of the first device
    context TEXT, -- what must match where figures are compared
    head TEXT -- the record without its trials and readings
);

INSERT INTO heads
SELECT
    sequence,
    id,
    started_at,
    suite,
    origin_kind,
    json_extract(document, '$.board.model'),
    json_extract(document, '$.devices[0].model'),
    json_extract(document, '$.devices[0].sample_id'),
    json_extract(document, '$.context.must'),
    json_remove(document, '$.trials', '$.sensors')
FROM records WHERE json_valid(document);

-- Holds all that a ranking reads.
CREATE INDEX metrics_of_id ON metrics (id, record_id, quantity, value);
CREATE INDEX labels_of_value ON labels (key, value, record_id);
