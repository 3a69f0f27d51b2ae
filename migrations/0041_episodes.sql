-- Blocking episodes: from the first to the last pulse in which one session blocked others. Nothing here is shown by the API, so nothing
-- here raises a generation.

create table blocking_episode (
  account_id      bigint not null,
  connection_id   bigint not null,
  began_at        timestamptz not null,   -- when the first wait for it began
  root            text not null,          -- the session that blocks: its pid and its start; 0 = it has no session, or is not shown
  seen_at         timestamptz not null,   -- by the last pulse that is stored
  ended_at        timestamptz,            -- null = it goes on, or the monitor died
  database        text not null,          -- of the session that blocks, as are the next two; '' = unknown
  role            text not null,
  application     text not null,
  most_sessions   integer not null,       -- how many it blocked at once, at most
  longest_seconds double precision not null,  -- the longest wait
  lost_seconds    double precision not null,  -- the time that all blocked sessions lost together
  trees           jsonb not null,         -- at the start, at each growth and at the peak: at most 20 of 8 KiB
  primary key (account_id, connection_id, began_at, root),
  foreign key (account_id, connection_id) references connection
) with (autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02);
create index blocking_episode_seen_at on blocking_episode (seen_at);  -- for retention

alter table blocking_episode enable row level security;
alter table blocking_episode force row level security;
create policy service on blocking_episode to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on blocking_episode for select to dbvitals_reader, dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update, delete on blocking_episode to dbvitals_writer;
grant select on blocking_episode to dbvitals_console;
