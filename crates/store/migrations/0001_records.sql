-- "cmrk": marks the file as one of ours.
PRAGMA application_id = 1668117099;

-- The records, as they were stored. `document` is the truth; the other columns and the table
-- `metrics` are extracts that can be rebuilt from it.
CREATE TABLE records (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    started_at TEXT,
    stored_at INTEGER NOT NULL, -- seconds since 1970
    suite TEXT,
    suite_version INTEGER,
    target_kind TEXT,
    origin_kind TEXT NOT NULL,
    document TEXT NOT NULL
);

CREATE TABLE metrics (
    record_id TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- in the record, from 0
    id TEXT NOT NULL,
    quantity TEXT NOT NULL,
    value REAL NOT NULL,
    low REAL,
    high REAL,
    PRIMARY KEY (record_id, position)
) WITHOUT ROWID;

-- What the user says of a record. Begins with the record's own labels; the record never changes.
CREATE TABLE labels (
    record_id TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    set_at INTEGER NOT NULL, -- seconds since 1970
    PRIMARY KEY (record_id, key)
) WITHOUT ROWID;
