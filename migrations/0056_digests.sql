-- Destinations that get a digest each day or each week.

alter table destination add digest jsonb;                   -- {every: "mon", at: "07:00", time_zone}; null = none
alter table destination_queue add digest_due_at timestamptz; -- null = no digest is scheduled
create index destination_queue_digest on destination_queue (digest_due_at) where digest_due_at is not null;

grant select (digest) on destination to dbvitals_console;
