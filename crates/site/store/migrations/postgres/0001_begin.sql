-- The same tables as in ../sqlite, where they are strict.
create table records (
    id bytea not null,
    state bigint not null,
    level text collate "C" not null,
    area bigint not null,
    origin text collate "C" not null,
    revision bigint not null,
    received_ms bigint not null,
    tag bytea,
    card bytea not null,
    token_hash bytea,
    record_digest bytea not null,
    evidence text collate "C",
    seed text collate "C",
    -- The seed, if this record was the first to use it in time.
    used_seed text collate "C",
    product_key text collate "C",
    product_name text collate "C",
    model text collate "C",
    board text collate "C",
    suite text collate "C",
    bus text collate "C",
    command_queue text collate "C",
    size_bytes bigint,
    day text collate "C",
    -- Twelve times the year of the run, and its month from 0.
    month bigint,
    storage text collate "C",
    context_key bigint not null,
    context text collate "C" not null,
    checks text collate "C" not null,
    -- Figures: a list of metric, value, and 1 if low figures are better.
    figures text collate "C" not null,
    -- Verdict and the figures that matter most, for lists.
    result text collate "C" not null,
    is_fake bigint not null,
    -- The product, if the record is shared storage.
    shared_product text collate "C",
    -- The card, if summaries count the record.
    counted_card bytea,
    -- The record's own product, if an act of a moderator put the record under another one.
    own_product text collate "C",
    own_product_name text collate "C",
    -- The act that decides the state; null if the checks do.
    decided_by bigint,
    -- The act by which new records were quarantined when this one arrived.
    quarantined_by bigint,
    primary key (id)
) partition by hash (id);

create table bodies (
    id bytea not null,
    packed bytea not null,
    digest bytea not null,
    primary key (id)
) partition by hash (id);

create table tombstones (
    id bytea not null,
    at_ms bigint not null,
    primary key (id)
) partition by hash (id);

-- Records by the figures of each metric.
create table figures (
    area bigint not null,
    metric text collate "C" not null,
    -- Quarter of an octave.
    quarter bigint not null,
    received_ms bigint not null,
    id bytea not null,
    primary key (area, metric, quarter, received_ms, id)
) partition by hash (id);

create table facets (
    facet bigint not null,
    received_ms bigint not null,
    id bytea not null,
    primary key (facet, received_ms, id)
) partition by hash (id);

create table changes (
    sequence bigint not null,
    id bytea not null,
    kind bigint not null,
    at_ms bigint not null,
    primary key (id, sequence)
) partition by hash (id);

create table tag_cards (
    product text collate "C" not null,
    context_key bigint not null,
    tag bytea not null,
    card bytea not null,
    runs bigint not null,
    -- Medians of the runs by metric, if summaries count the card.
    figures text collate "C",
    primary key (product, context_key, tag, card)
);

-- Submitters of counted records, with their voice in all summaries.
create table submitters (
    tag bytea not null,
    weight bigint not null,
    is_older bigint not null,
    -- When it is to be looked at again.
    due_ms bigint not null,
    primary key (tag)
);

create table summaries (
    product text collate "C" not null,
    context_key bigint not null,
    metric text collate "C" not null,
    lowest_first bigint not null,
    cards bigint not null,
    submitters bigint not null,
    median double precision not null,
    is_ranked bigint not null,
    -- Place in a ranking: the median, negative if high figures are better.
    place double precision not null,
    -- Buckets of new submitters and their numbers, each 4 bytes, little-endian.
    buckets bytea not null,
    -- Older submitters: buckets and their weights, in the same form; their number; the sum of the squares of their weights.
    older bytea not null,
    older_submitters bigint not null,
    older_squares bigint not null,
    primary key (product, context_key, metric)
);

create table product_contexts (
    product text collate "C" not null,
    context_key bigint not null,
    context text collate "C" not null,
    primary key (product, context_key)
);

create table product_cards (
    product text collate "C" not null,
    tag bytea not null,
    card bytea not null,
    runs bigint not null,
    fakes bigint not null,
    primary key (product, tag, card)
);

create table products (
    key text collate "C" not null,
    name text collate "C" not null,
    name_small text collate "C" not null,
    -- Shared records, whether summaries count them or not.
    members bigint not null,
    runs bigint not null,
    cards bigint not null,
    fakes bigint not null,
    primary key (key)
);

create table boards (
    board text collate "C" not null,
    records bigint not null,
    primary key (board)
);

create table seeds (
    seed text collate "C" not null,
    issued_ms bigint not null,
    primary key (seed)
);

create table limits (
    key bytea not null,
    tokens double precision not null,
    at_ms bigint not null,
    primary key (key)
);

create table totals (
    name text collate "C" not null,
    count bigint not null,
    primary key (name)
);

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

create table answers (
    id bytea not null,
    answer text collate "C" not null,
    at_ms bigint not null,
    primary key (id)
) partition by hash (id);

do $$
declare
    name text;
begin
    foreach name in array array['records', 'bodies', 'tombstones', 'figures', 'facets', 'changes', 'answers'] loop
        for part in 0..7 loop
            execute format('create table %I partition of %I for values with (modulus 8, remainder %s)',
                name || '_' || part, name, part);
        end loop;
    end loop;
end
$$;

alter table bodies alter column packed set storage external;

-- The first migration that a program has to know to use this database. A migration that only adds leaves it as it is.
create table compatibility (
    oldest_migration bigint not null
);
insert into compatibility (oldest_migration) values (1);

create index records_evidence on records (evidence, received_ms, id) where evidence is not null;
create index records_seed on records (used_seed) where used_seed is not null;
create index records_product on records (shared_product, received_ms, id) where shared_product is not null;
create index records_card on records (counted_card, shared_product, context_key, received_ms, id)
    where counted_card is not null;
create index records_month on records (area, month, received_ms, id);
create index records_tag on records (tag, received_ms, id) where tag is not null;
create index records_quarantined_by on records (quarantined_by, received_ms, id) where quarantined_by is not null;
create index records_waiting on records (received_ms, id)
    where (state = 1 or checks like '%"marked"%') and (decided_by is null or decided_by = quarantined_by);
create index records_decided on records (received_ms, id) where decided_by is not null;
create index changes_sequence on changes (sequence);
create index summaries_place on summaries (metric, is_ranked, context_key, place, product);
-- A product's page reads a limited number of summaries, those of most submitters first.
create index summaries_most on summaries (product, submitters, context_key, metric);
create index product_contexts_context on product_contexts (context_key);
create index products_name on products (name_small, key);
create index seeds_issued on seeds (issued_ms);
create index limits_at on limits (at_ms);
create unique index acts_undoes on acts (undoes) where undoes is not null;
create index sessions_created on sessions (created_ms);

create index submitters_due on submitters (due_ms, tag);
-- Places of a submitter in summaries.
create index tag_cards_tag on tag_cards (tag, product, context_key);
