-- The deadlocks that InnoDB ended, as pulses saw them. They are read afresh, so nothing here raises a generation.

create table deadlock (
  account_id    bigint not null,
  connection_id bigint not null,
  at            timestamptz not null,   -- to a second
  transactions  jsonb not null,         -- [{digest, command, tables, is_victim}], at most 8
  primary key (account_id, connection_id, at),
  foreign key (account_id, connection_id) references connection
);
create index deadlock_at on deadlock (at);  -- for retention

alter table deadlock enable row level security;
alter table deadlock force row level security;
create policy service on deadlock to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on deadlock for select to dbvitals_reader, dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update, delete on deadlock to dbvitals_writer;
grant select on deadlock to dbvitals_console;
