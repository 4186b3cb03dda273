-- Places of documents in packs. A document has a row in `bodies` or one here.
create table packed_bodies (
    id bytea not null,
    -- SHA-256 of the pack.
    pack bytea not null,
    first_byte bigint not null,
    length bigint not null,
    -- SHA-256 of the unpacked document.
    digest bytea not null,
    primary key (id)
) partition by hash (id);
do $$
begin
    for part in 0..7 loop
        execute format('create table packed_bodies_%s partition of packed_bodies for values with (modulus 8, remainder %s)',
            part, part);
    end loop;
end
$$;
create index packed_bodies_pack on packed_bodies (pack, first_byte);
