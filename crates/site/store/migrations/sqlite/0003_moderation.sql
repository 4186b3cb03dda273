create table acts (
    number integer not null,
    at_ms integer not null,
    account text not null,
    -- Kind and target, as JSON.
    deed text not null,
    reason text not null,
    -- The act that this one undoes.
    undoes integer,
    primary key (number)
) strict;
create unique index acts_undoes on acts (undoes) where undoes is not null;

-- Acts that are not applied to all records yet: where their records are, and the last one that was read.
create table tasks (
    act integer not null,
    place text not null,
    received_ms integer not null,
    record blob not null,
    primary key (act, place)
) strict, without rowid;

create table accounts (
    name text not null,
    -- argon2id of the password, with its salt and costs.
    password blob not null,
    salt blob not null,
    memory_kib integer not null,
    passes integer not null,
    totp blob not null,
    -- The last step whose code was accepted.
    totp_step integer not null,
    created_ms integer not null,
    primary key (name)
) strict, without rowid;

create table sessions (
    -- SHA-256 of the token.
    hash blob not null,
    account text not null,
    created_ms integer not null,
    used_ms integer not null,
    primary key (hash)
) strict, without rowid;
create index sessions_created on sessions (created_ms);

create table answers (
    id blob not null,
    answer text not null,
    at_ms integer not null,
    primary key (id)
) strict, without rowid;
