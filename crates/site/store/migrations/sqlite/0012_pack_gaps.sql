-- Documents in a pack that are withdrawn or amended: the pack is to be replaced.
create table pack_gaps (
    id blob not null,
    pack blob not null,
    at_ms integer not null,
    primary key (id, pack)
) strict, without rowid;
create index pack_gaps_pack on pack_gaps (pack);
