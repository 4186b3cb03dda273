-- "cmrk": identifies a database of cardmark.
PRAGMA application_id = 1668117099;

-- `document` is the record: JSON in UTF-8, never changed. The other columns, `heads` and `metrics`
-- are extracts and can be rebuilt from it, except `sequence`, `stored_at` and `is_imported`.
CREATE TABLE records (
    sequence INTEGER PRIMARY KEY, -- order of storing
    id TEXT NOT NULL UNIQUE,
    started_at TEXT,
    stored_at INTEGER NOT NULL, -- seconds since 1970
    suite TEXT,
    suite_version INTEGER,
    target_kind TEXT,
    origin_kind TEXT NOT NULL,
    metrics_count INTEGER NOT NULL,
    document BLOB NOT NULL,
    is_imported INTEGER NOT NULL DEFAULT 0 -- 1 if the document came from elsewhere
) STRICT;

-- Extracts for queries over many records. A table of their own: a document fills many pages, and a
-- scan of `records` would walk through them.
CREATE TABLE heads (
    sequence INTEGER PRIMARY KEY, -- same as in `records`
    record_id TEXT NOT NULL UNIQUE REFERENCES records (id) ON DELETE CASCADE,
    suite TEXT,
    origin_kind TEXT NOT NULL,
    board TEXT,
    model TEXT, -- of the first device
    card TEXT, -- sample id of the first device
    context TEXT NOT NULL, -- JSON: conditions that must match before two runs are compared
    brief TEXT NOT NULL, -- JSON: the head with its rates alone, without their details; for readings of all records
    head TEXT NOT NULL, -- JSON: the record without trials and sensor readings
    evidence TEXT -- digest of what was measured; copies have one digest. NULL if nothing was measured
) STRICT;
CREATE INDEX heads_of_evidence ON heads (evidence, record_id);

CREATE TABLE metrics (
    record_id TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- in the record, from 0
    id TEXT NOT NULL,
    quantity TEXT NOT NULL,
    value REAL NOT NULL,
    half_width REAL, -- of its interval, relative to the middle. NULL without an interval
    is_voided INTEGER NOT NULL, -- 1 if the device is unknown, or a cache may have answered for it
    PRIMARY KEY (record_id, position)
) WITHOUT ROWID, STRICT;
-- Covers every column that a ranking reads.
CREATE INDEX metrics_of_id ON metrics (id, is_voided, record_id, quantity, value, half_width);

-- Labels start as a copy of the record's own. Users change them here; the record stays.
CREATE TABLE labels (
    record_id TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    set_at INTEGER NOT NULL, -- seconds since 1970
    PRIMARY KEY (record_id, key)
) WITHOUT ROWID, STRICT;

-- The statement of a record as it was written or came from elsewhere. The labels of the record are what this version
-- reads from it.
CREATE TABLE statements (
    record_id TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    revision INTEGER NOT NULL, -- number of changes
    document TEXT, -- JSON
    PRIMARY KEY (record_id)
) WITHOUT ROWID, STRICT;

-- A single row. `preparations` identifies cards by a hash with this secret: the store holds no
-- serial number, and a card has a different key in every store.
CREATE TABLE secret (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    bytes BLOB NOT NULL
) STRICT;
INSERT INTO secret (only_row, bytes) VALUES (1, randomblob(32));

-- How cards were brought into a known state. The last row of a card describes its present content.
CREATE TABLE preparations (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    card_key BLOB NOT NULL,
    fill TEXT NOT NULL,
    seed TEXT,
    started_at TEXT NOT NULL,
    finished_at TEXT, -- NULL until finished
    size_bytes INTEGER NOT NULL,
    done_bytes INTEGER NOT NULL -- durable, from the start of the device
) STRICT;
CREATE INDEX preparations_of_card ON preparations (card_key, sequence);

-- Runs that were sent to a results site, or wait for the next attempt. A run can be here without its
-- record: the store that sent it may be lost, and only its secret restored.
CREATE TABLE submissions (
    record_id TEXT NOT NULL,
    server TEXT NOT NULL, -- origin, such as 'https://cards.example'
    state TEXT NOT NULL, -- 'waiting', 'sent' or 'withdrawn'
    changed_at INTEGER NOT NULL, -- seconds since 1970
    keep TEXT NOT NULL, -- JSON: names of fields that their owner kept in the public form
    body BLOB, -- while it waits: the body of the request, so that a retry is the same request
    PRIMARY KEY (record_id, server)
) STRICT;

-- The last look at each target of other boards, as they exported it.
CREATE TABLE looks (
    host TEXT NOT NULL, -- name of the board; it stays in the store
    target TEXT NOT NULL,
    at INTEGER NOT NULL, -- seconds since 1970; 0 if the clock of the board was not set
    document TEXT NOT NULL, -- JSON
    PRIMARY KEY (host, target)
) WITHOUT ROWID, STRICT;
