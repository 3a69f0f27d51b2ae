-- What an API key may do: its endpoint groups and the addresses that may use it; and its requests by day, endpoint and status. The first two are
-- columns of the key, because the gate reads its row anyway.
alter table api_key
  add column scopes            text[] check (cardinality(scopes) > 0),             -- src/vocabulary/plans.ts; null = all groups
  add column allowed_addresses text[] check (cardinality(allowed_addresses) > 0),  -- addresses and networks; null = any
  -- A request names the version that it was judged by, and the gate compares it. Also for members who change a key at the same time.
  add column version           integer not null default 1;
create trigger raise_version before update of scopes, allowed_addresses on api_key
  for each row execute function raise_version();
grant select (scopes, allowed_addresses, version) on api_key to dbvitals_console;

-- Requests of a key by the day (UTC), counted from the log together with key_hour.
create table key_day (
  account_id bigint not null,
  api_key_id bigint not null,
  day        date not null,
  endpoint   text not null,     -- as in src/vocabulary/values/endpoint-paths.ts; '' = no endpoint
  status     smallint not null,
  requests   bigint not null,
  primary key (account_id, api_key_id, day, endpoint, status),
  foreign key (account_id, api_key_id) references api_key
);
alter table key_day enable row level security;
alter table key_day force row level security;
create policy service on key_day to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on key_day for select to dbvitals_reader, dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update on key_day to dbvitals_writer;
grant select on key_day to dbvitals_console;
