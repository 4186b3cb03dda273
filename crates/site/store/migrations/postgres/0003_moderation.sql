create table acts (
    number bigint not null,
    at_ms bigint not null,
    account text collate "C" not null,
    -- Kind and target, as JSON.
    deed text collate "C" not null,
    reason text collate "C" not null,
    -- The act that this one undoes.
    undoes bigint,
    primary key (number)
);
create unique index acts_undoes on acts (undoes) where undoes is not null;

-- Acts that are not applied to all records yet: where their records are, and the last one that was read.
create table tasks (
    act bigint not null,
    place text collate "C" not null,
    received_ms bigint not null,
    record bytea not null,
    primary key (act, place)
);

create table accounts (
    name text collate "C" not null,
    -- argon2id of the password, with its salt and costs.
    password bytea not null,
    salt bytea not null,
    memory_kib bigint not null,
    passes bigint not null,
    totp bytea not null,
    -- The last step whose code was accepted.
    totp_step bigint not null,
    created_ms bigint not null,
    primary key (name)
);

create table sessions (
    -- SHA-256 of the token.
    hash bytea not null,
    account text collate "C" not null,
    created_ms bigint not null,
    used_ms bigint not null,
    primary key (hash)
);
create index sessions_created on sessions (created_ms);

create table answers (
    id bytea not null,
    answer text collate "C" not null,
    at_ms bigint not null,
    primary key (id)
) partition by hash (id);

do $$
begin
    for part in 0..7 loop
        execute format('create table %I partition of answers for values with (modulus 8, remainder %s)',
            'answers_' || part, part);
    end loop;
end
$$;
