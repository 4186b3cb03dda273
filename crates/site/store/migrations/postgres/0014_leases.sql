-- Jobs of which one instance at a time does each.
create table leases (
    name text collate "C" not null,
    holder text collate "C" not null,
    until_ms bigint not null,
    primary key (name)
);
