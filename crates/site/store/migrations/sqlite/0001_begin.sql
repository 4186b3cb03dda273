-- The same tables as in ../postgres, where they are partitioned by the id of the record.
create table records (
    id blob not null,
    state integer not null,
    level text not null,
    area integer not null,
    origin text not null,
    revision integer not null,
    received_ms integer not null,
    tag blob,
    card blob not null,
    token_hash blob,
    record_digest blob not null,
    evidence text,
    seed text,
    -- The seed, if this record was the first to use it in time.
    used_seed text,
    product_key text,
    product_name text,
    model text,
    board text,
    suite text,
    bus text,
    command_queue text,
    size_bytes integer,
    day text,
    -- Twelve times the year of the run, and its month from 0.
    month integer,
    storage text,
    context_key integer not null,
    context text not null,
    checks text not null,
    -- Figures: a list of metric, value, and 1 if low figures are better.
    figures text not null,
    -- Verdict and the figures that matter most, for lists.
    result text not null,
    is_fake integer not null,
    -- The product, if the record is shared storage.
    shared_product text,
    -- The card, if summaries count the record.
    counted_card blob,
    -- The record's own product, if an act of a moderator put the record under another one.
    own_product text,
    own_product_name text,
    -- The act that decides the state; null if the checks do.
    decided_by integer,
    -- The act by which new records were quarantined when this one arrived.
    quarantined_by integer,
    primary key (id)
) strict;

create table bodies (
    id blob not null,
    packed blob not null,
    digest blob not null,
    primary key (id)
) strict;

create table tombstones (
    id blob not null,
    at_ms integer not null,
    primary key (id)
) strict, without rowid;

-- Records by the figures of each metric.
create table figures (
    area integer not null,
    metric text not null,
    -- Quarter of an octave.
    quarter integer not null,
    received_ms integer not null,
    id blob not null,
    primary key (area, metric, quarter, received_ms, id)
) strict, without rowid;

create table facets (
    facet integer not null,
    received_ms integer not null,
    id blob not null,
    primary key (facet, received_ms, id)
) strict, without rowid;

create table changes (
    sequence integer not null,
    id blob not null,
    kind integer not null,
    at_ms integer not null,
    primary key (id, sequence)
) strict, without rowid;

create table tag_cards (
    product text not null,
    context_key integer not null,
    tag blob not null,
    card blob not null,
    runs integer not null,
    -- Medians of the runs by metric, if summaries count the card.
    figures text,
    primary key (product, context_key, tag, card)
) strict, without rowid;

-- Submitters of counted records, with their voice in all summaries.
create table submitters (
    tag blob not null,
    weight integer not null,
    is_older integer not null,
    -- When it is to be looked at again.
    due_ms integer not null,
    primary key (tag)
) strict, without rowid;

create table summaries (
    product text not null,
    context_key integer not null,
    metric text not null,
    lowest_first integer not null,
    cards integer not null,
    submitters integer not null,
    median real not null,
    is_ranked integer not null,
    -- Place in a ranking: the median, negative if high figures are better.
    place real not null,
    -- Buckets of new submitters and their numbers, each 4 bytes, little-endian.
    buckets blob not null,
    -- Older submitters: buckets and their weights, in the same form; their number; the sum of the squares of their weights.
    older blob not null,
    older_submitters integer not null,
    older_squares integer not null,
    primary key (product, context_key, metric)
) strict, without rowid;

create table product_contexts (
    product text not null,
    context_key integer not null,
    context text not null,
    primary key (product, context_key)
) strict, without rowid;

create table product_cards (
    product text not null,
    tag blob not null,
    card blob not null,
    runs integer not null,
    fakes integer not null,
    primary key (product, tag, card)
) strict, without rowid;

create table products (
    key text not null,
    name text not null,
    name_small text not null,
    -- Shared records, whether summaries count them or not.
    members integer not null,
    runs integer not null,
    cards integer not null,
    fakes integer not null,
    primary key (key)
) strict, without rowid;

create table boards (
    board text not null,
    records integer not null,
    primary key (board)
) strict, without rowid;

create table seeds (
    seed text not null,
    issued_ms integer not null,
    primary key (seed)
) strict, without rowid;

create table limits (
    key blob not null,
    tokens real not null,
    at_ms integer not null,
    primary key (key)
) strict, without rowid;

create table totals (
    name text not null,
    count integer not null,
    primary key (name)
) strict, without rowid;

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

create table answers (
    id blob not null,
    answer text not null,
    at_ms integer not null,
    primary key (id)
) strict, without rowid;

-- The first migration that a program has to know to use this database. A migration that only adds leaves it as it is.
create table compatibility (
    oldest_migration integer not null
) strict;
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
