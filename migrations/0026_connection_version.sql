-- The version of a connection's server, as a run measured it last. Apart from connection, because a change of connection raises the
-- generation and discards kept answers. Nothing here is shown by the API.
create table connection_version (
  account_id    bigint not null,
  connection_id bigint not null,
  version       integer not null check (version > 0),  -- 180004 = PostgreSQL 18.4; 80036 = MySQL 8.0.36; 101106 = MariaDB 10.11.6
  since         timestamptz not null,                  -- the run that found it first
  primary key (account_id, connection_id),
  foreign key (account_id, connection_id) references connection
);

alter table connection_version enable row level security;
alter table connection_version force row level security;
create policy service on connection_version to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on connection_version for select to dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update on connection_version to dbvitals_writer;
grant select on connection_version to dbvitals_console;
