-- Tags of connections, apart from connection, so that a change of tags raises no generation: nothing here is shown by the API.
create table connection_tags (
  account_id    bigint not null,
  connection_id bigint not null,
  tags          text[] not null check (tags <> '{}'),  -- sorted, each once; as normalised by src/vocabulary/values/tags.ts
  primary key (account_id, connection_id),
  foreign key (account_id, connection_id) references connection
);

alter table connection_tags enable row level security;
alter table connection_tags force row level security;
create policy service on connection_tags to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on connection_tags for select to dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update, delete on connection_tags to dbvitals_writer;
grant select on connection_tags to dbvitals_console;
