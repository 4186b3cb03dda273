-- Packs that places name, and those that are deleted from the storage.
create table packs (
    pack blob not null,
    documents integer not null,
    bytes integer not null,
    -- Time after which no place may name it.
    dropped_ms integer,
    primary key (pack)
) strict, without rowid;
