-- The record's own product, if an act of a moderator put the record under another one.
alter table records add column own_product text;
alter table records add column own_product_name text;
-- The act that decides the state; null if the checks do.
alter table records add column decided_by integer;
-- The act by which new records were quarantined when this one arrived.
alter table records add column quarantined_by integer;

create index records_tag on records (tag, received_ms, id) where tag is not null;
create index records_quarantined_by on records (quarantined_by, received_ms, id) where quarantined_by is not null;
create index records_waiting on records (received_ms, id)
    where (state = 1 or checks like '%"marked"%') and (decided_by is null or decided_by = quarantined_by);
create index records_decided on records (received_ms, id) where decided_by is not null;
