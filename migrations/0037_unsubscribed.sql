-- Who wants no more messages, whichever account sends them, and how often an inbox was asked to confirm. Both are in the control store.

create table unsubscribed (
  email_hash bytea primary key check (octet_length(email_hash) = 32),  -- SHA-256 of the address in lower case
  since      timestamptz not null default clock_timestamp()
);

insert into unsubscribed (email_hash)
select distinct sha256(convert_to(email, 'UTF8')) from destination_recipient where state = 'unsubscribed';

-- Kept for a day.
create table asked_inbox (
  asked_id   bigint generated always as identity primary key,
  at         timestamptz not null default clock_timestamp(),
  inbox_hash bytea not null              -- SHA-256 of the address in lower case, without a +tag
);
create index asked_inbox_at on asked_inbox (inbox_hash, at);

-- Finds the other destinations of who unsubscribes.
create index destination_recipient_email on destination_recipient (email);

alter table unsubscribed enable row level security;
alter table unsubscribed force row level security;
create policy service on unsubscribed to dbvitals_writer, current_role using (true) with check (true);

grant select, insert, update on unsubscribed to dbvitals_writer;
grant select, insert on asked_inbox to dbvitals_writer;
