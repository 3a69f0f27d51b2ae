-- Adds log streams: destinations that get the entries of an account's log, in order.

-- What a log stream sends, and how far it is. Its backlog is the log itself.
create table log_stream (
  account_id     bigint not null,
  destination_id bigint not null,
  format         text not null check (format in ('native', 'ocsf', 'ecs', 'sealed')),
  action_types   text[],                          -- null = all
  excluded_types text[] not null default '{}',
  actors         text[],                          -- types of actors; null = all
  next_id        bigint not null check (next_id > 0),  -- the first entry that no accepted batch covers
  scanned_id     bigint not null,                 -- the filter lets none of the entries from next_id to this one pass
  batch_id       bigint,                          -- the last entry of the batch that is being sent: every attempt sends the same; null = none
  attempts       integer not null default 0,      -- failed ones since the last success
  due_at         timestamptz not null,            -- of the next attempt; while one runs, when another process may try
  entries        bigint not null default 0,       -- that were accepted
  delivered_at   timestamptz,                     -- when the last batch was accepted
  warned_at      timestamptz,                     -- when the log said that retention will delete entries that were not delivered
  primary key (account_id, destination_id),
  foreign key (account_id, destination_id) references destination
) with (fillfactor = 50);

alter table log_stream enable row level security;
alter table log_stream force row level security;
create policy service on log_stream to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on log_stream for select to dbvitals_reader, dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update, delete on log_stream to dbvitals_writer;
grant select on log_stream to dbvitals_console;
