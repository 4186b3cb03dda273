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

-- 1 if the document came from elsewhere. Of earlier imports only those are known that were given the name of a computer: the
-- label `host`.
ALTER TABLE records ADD COLUMN is_imported INTEGER NOT NULL DEFAULT 0;
