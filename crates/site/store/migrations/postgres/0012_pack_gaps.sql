-- Documents in a pack that are withdrawn or amended: the pack is to be replaced.
create table pack_gaps (
    id bytea not null,
    pack bytea not null,
    at_ms bigint not null,
    primary key (id, pack)
) partition by hash (id);
do $$
begin
    for part in 0..7 loop
        execute format('create table pack_gaps_%s partition of pack_gaps for values with (modulus 8, remainder %s)',
            part, part);
    end loop;
end
$$;
create index pack_gaps_pack on pack_gaps (pack);
