-- Submitters of counted records, with their voice in all summaries.
create table submitters (
    tag bytea not null,
    weight bigint not null,
    is_older bigint not null,
    -- When it is to be looked at again.
    due_ms bigint not null,
    primary key (tag)
);

insert into submitters (tag, weight, is_older, due_ms)
    select distinct tag, 1, 0, 0 from tag_cards where runs > 0;

create index submitters_due on submitters (due_ms, tag);
