-- Checks that members write: a statement, and what its numbers mean. Runs read them afresh, so nothing here raises a generation.

create table own_check (
  account_id  bigint not null references account,
  id          text not null,             -- as a member writes it; findings have OWN_ in front
  title       text not null,
  engine      text not null,
  database    text,                      -- null = that of the connection
  sql         text not null,
  unit        text not null,
  operator    text not null check (operator in ('>=', '<=')),
  warning     float8,                    -- null = no such level
  critical    float8,
  remediation text not null,
  every       integer,                   -- seconds between two readings at least; null = in each run
  timeout     integer not null,          -- seconds
  tags        text[] not null,           -- that a connection must all have
  changed_at  timestamptz not null,
  changed_by  text not null,
  primary key (account_id, id)
);

alter table own_check enable row level security;
alter table own_check force row level security;
create policy service on own_check to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on own_check for select to dbvitals_reader, dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update, delete on own_check to dbvitals_writer;
grant select on own_check to dbvitals_console;
