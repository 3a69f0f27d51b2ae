-- What changed on a watched server: settings, versions, schema and so on, run by run. Nothing here is shown by the API, so nothing
-- here raises a generation.

create table connection_change (
  account_id    bigint not null,
  connection_id bigint not null,
  at            timestamptz not null,           -- of the run that found it, or when the member changed it
  change_id     bigint generated always as identity,
  kind          text not null,                  -- an open set: setting, version, restart, failover, extension, standby, …
  database      text not null default '',       -- '' = the whole server
  subject       text not null,                  -- the setting, table, index or check
  before        text,                           -- null = it came
  after         text,                           -- null = it went
  source        text,                           -- of a setting: file, ALTER SYSTEM, database, role; of a member's change: who
  primary key (account_id, connection_id, at, change_id),
  foreign key (account_id, connection_id) references connection
);
create index connection_change_at on connection_change (at);  -- for retention

-- What the last run read, to compare the next one with: settings, server, extensions, standbys, and each database's schema.
-- What is sensitive in it is hashed. See src/changes/facts.ts.
create table fact_snapshot (
  account_id    bigint not null,
  connection_id bigint not null,
  kind          text not null,
  database      text not null default '',
  read_at       timestamptz not null,           -- to the day; of a schema, when it was read
  digest        text not null,                  -- SHA-256 of the facts, so that a run sends only what differs
  facts         jsonb not null,
  primary key (account_id, connection_id, kind, database),
  foreign key (account_id, connection_id) references connection
);

-- The key by which the values of sensitive settings are hashed: random, of one connection, and encrypted like its password.
create table redaction_key (
  account_id    bigint not null,
  connection_id bigint not null,
  encrypted     bytea not null,
  primary key (account_id, connection_id),
  foreign key (account_id, connection_id) references connection
);

do $$
declare
  tenant text;
begin
  foreach tenant in array array['connection_change', 'fact_snapshot', 'redaction_key'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format('create policy service on %I to dbvitals_writer, current_role using (true) with check (true)', tenant);
    execute format($policy$create policy own_account on %I for select to dbvitals_reader, dbvitals_console
      using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint)$policy$, tenant);
  end loop;
end $$;
grant select, insert, update, delete on connection_change, fact_snapshot, redaction_key to dbvitals_writer;
grant select on connection_change to dbvitals_console;
