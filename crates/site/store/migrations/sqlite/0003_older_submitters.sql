-- Older submitters: buckets and their weights, each 4 bytes, little-endian; their number; the sum of the squares of their weights.
-- Those in `buckets` are new.
alter table summaries add column older blob not null default x'';
alter table summaries add column older_submitters integer not null default 0;
alter table summaries add column older_squares integer not null default 0;

-- The version before would count the figures of older submitters a second time.
update compatibility set oldest_migration = 3;
