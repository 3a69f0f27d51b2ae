-- Adds backups of watched databases: how often one is expected, what backup jobs report, and the token that they report with.

-- Seconds within which a backup is expected to succeed; 0 = none is expected.
alter table connection
  add column backup_expected_seconds integer not null default 0 check (backup_expected_seconds between 0 and 31536000),
  add column backup_expected_since timestamptz;  -- when a backup was first expected; null = never

drop trigger raise_version on connection;
create trigger raise_version before update of name, engine, connection_type, host, port, database, username, tls,
    credential, thresholds, expected_standbys, password_exposable, ca_certificate, ssh_host, ssh_port, ssh_username,
    ssh_credential, token_source, query_texts, pulse_seconds, backup_expected_seconds, removed_at on connection
  for each row execute function raise_version();

grant select (backup_expected_seconds, backup_expected_since) on connection to dbvitals_console;

-- The token of a connection's heartbeat URL. Only its hash is stored.
create table backup_heartbeat (
  account_id    bigint not null,
  connection_id bigint not null,
  token_hash    bytea not null unique,
  created_at    timestamptz not null,
  started_at    timestamptz,  -- when the job said that it began; null once it ended
  called_at     timestamptz,  -- the last call; null = none yet
  primary key (account_id, connection_id),
  foreign key (account_id, connection_id) references connection
);

-- Backups that ended, as their jobs or the tools reported them. The oldest are deleted when others come.
create table backup_report (
  account_id    bigint not null,
  connection_id bigint not null,
  source        text not null check (source in ('heartbeat', 'pgbackrest', 'barman', 'walg', 'mariabackup')),
  at            timestamptz not null,  -- when it ended
  label         text not null,         -- the tool's name for it; '' = it has none
  succeeded     boolean not null,
  started_at    timestamptz,
  bytes         bigint check (bytes >= 0),
  primary key (account_id, connection_id, source, at, label),
  foreign key (account_id, connection_id) references connection
);

alter table backup_heartbeat enable row level security;
alter table backup_heartbeat force row level security;
create policy service on backup_heartbeat to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on backup_heartbeat for select to dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update, delete on backup_heartbeat to dbvitals_writer;
grant select (account_id, connection_id, created_at, called_at) on backup_heartbeat to dbvitals_console;

alter table backup_report enable row level security;
alter table backup_report force row level security;
create policy service on backup_report to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on backup_report for select to dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update, delete on backup_report to dbvitals_writer;
grant select on backup_report to dbvitals_console;
