-- Time of arrival, or of the amendment: the oldest rows are packed first.
alter table bodies add column arrived_ms integer not null default 0;
create index bodies_arrival on bodies (arrived_ms, id);
