-- The monitor in full: settings of a connection, silences, what counters were at the last run, what a run cost.

alter table connection
  add column thresholds         jsonb not null default '{}',  -- check id to {name: number}
  add column expected_standbys  integer not null default 0 check (expected_standbys between 0 and 1000),
  add column password_exposable boolean not null default false, -- may go out in clear text or as MD5
  add column ca_certificate     text,                         -- PEM; beside the system's own
  add column ssh_host           text,
  add column ssh_port           integer check (ssh_port between 1 and 65535),
  add column ssh_username       text,
  add column ssh_credential     bytea,                        -- the private key, sealed; null = the agent's
  add column ssh_host_key       text;                         -- SHA-256 of it, pinned at the first use

alter table health_check
  add column cost jsonb;  -- of the watched server: {milliseconds, statements, bytes}; null for older runs

-- What a counter was: a check that measures between two runs finds its rows of the one before here.
create table counter_sample (
  account_id    bigint not null,
  connection_id bigint not null,
  check_id      text not null,
  database      text not null,
  taken_at      timestamptz not null,
  rows          jsonb not null,
  primary key (account_id, connection_id, check_id, database),
  foreign key (account_id, connection_id) references connection
);

-- A finding that somebody decided to live with for a while: listed, but it weighs nothing and opens no ticket.
create table silence (
  account_id    bigint not null,
  silence_id    bigint generated always as identity,
  connection_id bigint not null,
  check_id      text not null,
  object        text,                 -- null = every object of the check
  reason        text not null check (reason in ('accepted_risk', 'false_positive', 'wont_fix', 'maintenance')),
  note          text not null check (note <> ''),
  created_at    timestamptz not null,
  ends_at       timestamptz,          -- null = until somebody ends it
  primary key (account_id, silence_id),
  foreign key (account_id, connection_id) references connection
);
create index silence_connection on silence (account_id, connection_id);
create index silence_id on silence (silence_id);

do $$
declare
  tenant text;
begin
  foreach tenant in array array['counter_sample', 'silence'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format('create policy service on %I to dbvitals_writer, current_role using (true) with check (true)', tenant);
    execute format($policy$create policy own_account on %I for select to dbvitals_reader
      using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint)$policy$, tenant);
  end loop;
end $$;
grant select, insert, update, delete on counter_sample to dbvitals_writer;
grant select, insert, update on silence to dbvitals_writer;
