-- What the queries of a watched server do: calls, time and reads by hour, for 14 days. Texts only where a member switched them on. Nothing
-- here is shown by the API, so nothing here raises a generation.

-- Of an hour the queries with the most time: 200 while it lasts, 50 after it. Each array has one element per query, most time first.
create table query_hour (
  account_id    bigint not null,
  connection_id bigint not null,
  hour          timestamptz not null,           -- when it begins; a run counts in the hour in which it is stored
  all_calls     double precision not null,      -- of all queries, listed or not
  all_seconds   double precision not null,
  query         text[] not null,                -- queryid of PostgreSQL, digest of MySQL
  database      text[] not null,                -- '' = none
  role          text[] not null,                -- '' = none: MySQL does not tell
  calls         double precision[] not null,
  seconds       double precision[] not null,
  rows          double precision[] not null,    -- returned and changed
  read          double precision[] not null,    -- PostgreSQL: blocks not in shared buffers; MySQL: rows examined
  hit           double precision[] not null,    -- PostgreSQL: blocks in shared buffers
  temporary     double precision[] not null,    -- PostgreSQL: bytes written; MySQL: tables on disk
  primary key (account_id, connection_id, hour),
  foreign key (account_id, connection_id) references connection
) with (autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02);
create index query_hour_hour on query_hour (hour);  -- for retention

-- What the last run read, to compare the next one with. See src/queries/query-state.ts.
create table query_state (
  account_id    bigint not null,
  connection_id bigint not null,
  read_at       timestamptz not null,
  state         bytea not null,                 -- counters of all entries, compressed
  usual         jsonb,                          -- the means of the two weeks before, computed once an hour; null = not yet
  usual_hour    timestamptz,                    -- the hour of `usual`
  primary key (account_id, connection_id),
  foreign key (account_id, connection_id) references connection
) with (autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02);
alter table query_state alter state set storage external;  -- it is compressed already

-- The normalized texts of queries.
create table query_text (
  account_id    bigint not null,
  connection_id bigint not null,
  query         text not null,
  text          text not null check (length(text) <= 4000),
  read_at       timestamptz not null,
  primary key (account_id, connection_id, query),
  foreign key (account_id, connection_id) references connection
);
create index query_text_read_at on query_text (read_at);  -- for retention

alter table connection add column query_texts boolean not null default false;  -- whether texts of queries are read and stored

drop trigger raise_version on connection;
create trigger raise_version before update of name, engine, connection_type, host, port, database, username, tls,
    credential, thresholds, expected_standbys, password_exposable, ca_certificate, ssh_host, ssh_port, ssh_username,
    ssh_credential, token_source, query_texts, removed_at on connection
  for each row execute function raise_version();

do $$
declare
  tenant text;
begin
  foreach tenant in array array['query_hour', 'query_state', 'query_text'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format('create policy service on %I to dbvitals_writer, current_role using (true) with check (true)', tenant);
    execute format($policy$create policy own_account on %I for select to dbvitals_reader, dbvitals_console
      using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint)$policy$, tenant);
  end loop;
end $$;
grant select, insert, update, delete on query_hour, query_state, query_text to dbvitals_writer;
grant select on query_hour to dbvitals_console;
grant select (query_texts) on connection to dbvitals_console;
