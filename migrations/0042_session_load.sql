-- The load of each server: which sessions were active or idle in a transaction, minute by minute. Nothing here is shown by the API, so
-- nothing here raises a generation.

-- What sessions do and who they are, once per connection: at most 1,500, those that were seen last.
create table session_load_source (
  account_id    bigint not null,
  connection_id bigint not null,
  source_id     bigint not null,        -- a hash of the columns from state to database
  state         text not null,          -- 'active' or 'idle in transaction'
  wait          text not null,          -- '' = they run
  event         text not null,
  query         text not null,          -- a query id or digest; '' = unknown
  role          text not null,
  application   text not null,
  database      text not null,
  seen_at       timestamptz not null,   -- to about an hour
  primary key (account_id, connection_id, source_id),
  foreign key (account_id, connection_id) references connection
);
create index session_load_source_seen_at on session_load_source (seen_at);  -- for retention

-- A minute of a connection, later five minutes: averages, if nothing else is said. The arrays are parallel, the largest first.
create table session_load (
  account_id          bigint not null,
  connection_id       bigint not null,
  at                  timestamptz not null,   -- when it began
  minutes             smallint not null check (minutes in (1, 5)),
  active              real not null,          -- active sessions
  idle_in_transaction real not null,
  blocked_sessions    real not null,          -- the most at once
  blocked_seconds     real not null,          -- the longest wait
  commits             real,                   -- a second; null = not read, as are the next two
  rollbacks           real,
  replica_lag         real,                   -- seconds, the most
  sources             bigint[] not null,      -- source_id of the 40 largest
  sessions            real[] not null,
  primary key (account_id, connection_id, at)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index session_load_at on session_load (at);                             -- for retention
create index session_load_minute_at on session_load (at) where minutes = 1;    -- for what becomes five minutes

do $$
declare
  tenant text;
begin
  foreach tenant in array array['session_load_source', 'session_load'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format('create policy service on %I to dbvitals_writer, current_role using (true) with check (true)', tenant);
    execute format($policy$create policy own_account on %I for select to dbvitals_reader, dbvitals_console
      using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint)$policy$, tenant);
  end loop;
end $$;
grant select, insert, update, delete on session_load_source, session_load to dbvitals_writer;
grant select on session_load_source, session_load to dbvitals_console;
