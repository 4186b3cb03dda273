-- One row. `preparations` names cards by a hash with this secret: no serial number is kept, and
-- in another store the same card has another name.
CREATE TABLE secret (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    bytes BLOB NOT NULL
);
INSERT INTO secret (only_row, bytes) VALUES (1, randomblob(32));

-- How cards were brought into a known state. The one of a card that began last says what is on it.
CREATE TABLE preparations (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    card_key BLOB NOT NULL,
    fill TEXT NOT NULL,
    seed TEXT,
    started_at TEXT NOT NULL,
    finished_at TEXT, -- absent: not finished
    size_bytes INTEGER NOT NULL,
    done_bytes INTEGER NOT NULL -- durable from the start of the device on
);
CREATE INDEX preparations_of_card ON preparations (card_key, sequence);
