-- Retention: the log may be cut at its low end, and an old health check shrinks to its score.
-- Takes 2.6 µs a row of activity.
-- Takes 0.9 µs a row of health_check.

-- Where an account's log begins, once it was cut. Told by a row, for min(id) reads every index entry that a cut left
-- dead; and not in activity_head, which every request of the account waits for.
create table activity_floor (
  account_id bigint primary key references account,
  first_id   bigint not null,            -- the smallest id that is kept
  events     bigint not null,            -- how many of the entries before it were not API requests
  told_id    bigint not null default 0,  -- the entries up to it were told of by activity_pruned
  told_at    timestamptz                 -- and when; null before the first time
);
alter table activity_floor enable row level security;
alter table activity_floor force row level security;
do $$
begin
  execute 'create policy service on activity_floor to dbvitals_writer, current_role using (true) with check (true)';
end $$;
create policy own_account on activity_floor for select to dbvitals_reader
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
-- Only the owner cuts: for the service the log stays append-only.
grant select on activity_floor to dbvitals_writer, dbvitals_reader;

-- A column, for behind row-level security no expression's index is searched: minus is not leakproof. Measured on
-- 300,000 entries: a page of API requests read 559,310 buffers before.
drop index activity_requests_before;
alter table activity
  add column requests_before bigint generated always as (id - event_number) stored;  -- null in an API request
create index activity_requests_before on activity (account_id, requests_before, event_number)
  where event_number is not null;

-- Smallest id of the account's log whose entry occurred at or after the instant; one past the last when none did.
create or replace function activity_id_at(account bigint, instant timestamptz) returns bigint
language plpgsql stable parallel safe as $$
declare
  low    bigint;
  high   bigint;
  middle bigint;
  seen   timestamptz;
begin
  select last_id + 1 into high from activity_head where account_id = account;
  select first_id into low from activity_floor where account_id = account;
  low := coalesce(low, 1);
  while low < high loop
    middle := (low + high) / 2;
    select occurred_at into seen from activity where account_id = account and id = middle;
    if seen < instant then low := middle + 1; else high := middle; end if;
  end loop;
  return low;
end $$;

-- What is left of an old health check: its time, score and summary. findings and cost are null then.
alter table health_check alter findings drop not null;
create index health_check_whole on health_check (created_at, health_check_id) where findings is not null;

-- An answer shows a connection's latest check alone, which is never shrunk and never deleted; nothing else of a check
-- changes. With this trigger each step of the shrinking would make the account's kept answers worthless.
drop trigger raise_generation_update on health_check;
drop trigger raise_generation_delete on health_check;
