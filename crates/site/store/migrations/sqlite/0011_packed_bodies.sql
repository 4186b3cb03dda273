-- Places of documents in packs. A document has a row in `bodies` or one here.
create table packed_bodies (
    id blob not null,
    -- SHA-256 of the pack.
    pack blob not null,
    first_byte integer not null,
    length integer not null,
    -- SHA-256 of the unpacked document.
    digest blob not null,
    primary key (id)
) strict, without rowid;
create index packed_bodies_pack on packed_bodies (pack, first_byte);
