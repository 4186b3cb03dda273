-- The last look at each target of other boards, as they exported it.
CREATE TABLE looks (
    host TEXT NOT NULL, -- name of the board; it stays in the store
    target TEXT NOT NULL,
    at INTEGER NOT NULL, -- seconds since 1970; 0 if the clock of the board was not set
    document TEXT NOT NULL, -- JSON
    PRIMARY KEY (host, target)
) WITHOUT ROWID, STRICT;
