-- Attempts with API keys that are refused, until the log has them: one entry a minute for a key and an address. Services add their counts every second.
create table refused_key (
  account_id bigint not null,
  api_key_id bigint not null,
  by_address boolean not null,      -- whether only the client's address is refused
  source_ip  text not null,         -- '' = all addresses beyond the limit
  attempts   integer not null,      -- since the last entry
  due_at     timestamptz not null,  -- when the next entry may be written
  primary key (account_id, api_key_id, by_address, source_ip),
  foreign key (account_id, api_key_id) references api_key on delete cascade
);
alter table refused_key enable row level security;
alter table refused_key force row level security;
create policy service on refused_key to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on refused_key for select to dbvitals_reader, dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update, delete on refused_key to dbvitals_writer;
