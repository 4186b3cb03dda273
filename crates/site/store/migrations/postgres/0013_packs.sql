-- Packs that places name, and those that are deleted from the storage.
create table packs (
    pack bytea not null,
    documents bigint not null,
    bytes bigint not null,
    -- Time after which no place may name it.
    dropped_ms bigint,
    primary key (pack)
);
