-- Thresholds of a whole account and of its tags, apart from connection, because a change of connection raises the generation. A
-- connection's own are in connection.thresholds. Nothing here is shown by the API.
create table threshold (
  account_id bigint not null references account,
  tag        text not null,                      -- '' = every connection of the account
  check_id   text not null,
  name       text not null,                      -- such as warning, as in the check's thresholds
  value      double precision not null check (value >= 0 and value <= 1e15),
  changed_at timestamptz not null,
  changed_by text not null,                      -- a member's name, or "command line"
  primary key (account_id, tag, check_id, name)
);

alter table threshold enable row level security;
alter table threshold force row level security;
create policy service on threshold to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on threshold for select to dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update, delete on threshold to dbvitals_writer;
grant select on threshold to dbvitals_console;
