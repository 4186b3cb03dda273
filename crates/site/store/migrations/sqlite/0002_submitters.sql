-- Submitters of counted records, with their voice in all summaries.
create table submitters (
    tag blob not null,
    weight integer not null,
    is_older integer not null,
    -- When it is to be looked at again.
    due_ms integer not null,
    primary key (tag)
) strict, without rowid;

insert into submitters (tag, weight, is_older, due_ms)
    select distinct tag, 1, 0, 0 from tag_cards where runs > 0;

create index submitters_due on submitters (due_ms, tag);
