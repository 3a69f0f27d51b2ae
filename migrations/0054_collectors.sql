-- Adds collectors: processes beside the watched databases, which run their health checks and keep their logins.

create table collector (
  account_id       bigint not null references account,
  collector_id     bigint generated always as identity,
  name             text not null check (name <> ''),
  public_key       bytea check (length(public_key) = 32),  -- Ed25519; null = it was never enrolled
  version          text,                                   -- of the program, as it said last
  created_at       timestamptz not null,
  enrolled_at      timestamptz,
  last_contact_at  timestamptz,
  revoked_at       timestamptz,
  silent_at        timestamptz,                            -- since when the log says that it is silent; null = it does not
  token_hash       bytea,                                  -- SHA-256 of the enrolment token that was not used yet; null = none
  token_expires_at timestamptz,
  token_by         bigint,                                 -- the member who made the token; null = the command line
  nonces           bigint[] not null default '{}',         -- of its latest requests, in microseconds since 1970
  primary key (account_id, collector_id)
) with (fillfactor = 50);
create unique index collector_name on collector (account_id, lower(name));

-- The connections that a collector measures. Their connection has no address and no secrets.
create table collected_connection (
  account_id    bigint not null,
  connection_id bigint not null,
  collector_id  bigint not null,
  name          text not null check (name <> ''),          -- in the collector's file
  primary key (account_id, connection_id),
  foreign key (account_id, connection_id) references connection,
  foreign key (account_id, collector_id) references collector
);
create unique index collected_connection_name on collected_connection (account_id, collector_id, name);

alter table collector enable row level security;
alter table collector force row level security;
create policy service on collector to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on collector for select to dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update, delete on collector to dbvitals_writer;
grant select (account_id, collector_id, name, public_key, version, created_at, enrolled_at, last_contact_at, revoked_at,
              token_expires_at)
  on collector to dbvitals_console;

alter table collected_connection enable row level security;
alter table collected_connection force row level security;
create policy service on collected_connection to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on collected_connection for select to dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update, delete on collected_connection to dbvitals_writer;
grant select on collected_connection to dbvitals_console;
