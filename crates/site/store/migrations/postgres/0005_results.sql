-- Verdict and the figures that matter most, for lists; empty until the record is derived again.
alter table records add column result text collate "C" not null default '';
