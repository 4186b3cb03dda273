-- Jobs of which one instance at a time does each.
create table leases (
    name text not null,
    holder text not null,
    until_ms integer not null,
    primary key (name)
) strict, without rowid;
