-- Any page of an account's tickets at the same cost: each ticket has its place, and classes are counted by blocks of
-- places (docs/decisions/0017-ticket-places.md).
-- Takes 22 µs a row of ticket.

-- 1, 2, 3 … in the account and in its connection, in the order of (first_seen_at, ticket_id). No ticket is ever
-- deleted, nor seen first before one that is there, so a place never changes.
alter table ticket
  add column number            bigint,
  add column connection_number bigint;

drop index ticket_first_seen;
drop index ticket_connection;
drop index ticket_resolved;

update ticket t
   set number = place.number, connection_number = place.connection_number
  from (select account_id, ticket_id,
               row_number() over (partition by account_id order by first_seen_at, ticket_id) as number,
               row_number() over (partition by account_id, connection_id order by first_seen_at, ticket_id)
                 as connection_number
          from ticket) place
 where t.account_id = place.account_id and t.ticket_id = place.ticket_id;

alter table ticket
  alter column number            set not null,
  alter column connection_number set not null;

create unique index ticket_number on ticket (account_id, number);
create unique index ticket_connection_number on ticket (account_id, connection_id, connection_number);
create index ticket_class on ticket (account_id, status, severity, number);
create index ticket_connection_class on ticket (account_id, connection_id, status, severity, connection_number);
-- What a run looks at: its own connection's tickets of the last day.
create index ticket_resolved on ticket (account_id, connection_id, resolved_at) where status = 'resolved';

-- Whoever inserts many tickets gives their places; for others they are the next ones.
create function next_ticket_place() returns trigger language plpgsql as $$
begin
  new.number := 1 + coalesce((
    select number from ticket where account_id = new.account_id order by number desc limit 1), 0);
  new.connection_number := 1 + coalesce((
    select connection_number from ticket
     where account_id = new.account_id and connection_id = new.connection_id
     order by connection_number desc limit 1), 0);
  return new;
end $$;
create trigger next_ticket_place before insert on ticket
  for each row when (new.number is null) execute function next_ticket_place();

-- The place of the account's (or the connection's, unless 0) first ticket that was first seen at or after the instant;
-- one past the last when none was.
create function ticket_place_at(account bigint, of_connection bigint, instant timestamptz) returns bigint
language plpgsql stable parallel safe as $$
declare
  low    bigint := 1;
  high   bigint;
  middle bigint;
  seen   timestamptz;
begin
  if of_connection = 0 then
    select number + 1 into high from ticket where account_id = account order by number desc limit 1;
  else
    select connection_number + 1 into high from ticket
     where account_id = account and connection_id = of_connection order by connection_number desc limit 1;
  end if;
  if instant = 'infinity' then return coalesce(high, 1); end if;
  while low < high loop
    middle := (low + high) / 2;
    if of_connection = 0 then
      select first_seen_at into seen from ticket where account_id = account and number = middle;
    else
      select first_seen_at into seen from ticket
       where account_id = account and connection_id = of_connection and connection_number = middle;
    end if;
    if seen < instant then low := middle + 1; else high := middle; end if;
  end loop;
  return low;
end $$;

-- How many tickets of each class have their place in a block. A block of level 1 holds 256 places, one of level 2
-- 256 blocks of level 1, one of level 3 256 of level 2: the block of a place is place >> (8 * level).
create table ticket_tally (
  account_id        bigint not null,
  connection_id     bigint not null,  -- 0: places in the account; else in that connection
  level             smallint not null check (level between 1 and 3),
  block             bigint not null,
  open_critical     integer not null,
  open_warning      integer not null,
  open_info         integer not null,
  resolved_critical integer not null,
  resolved_warning  integer not null,
  resolved_info     integer not null,
  primary key (account_id, connection_id, level, block)
) with (fillfactor = 70);

-- Resolved tickets by the week of their resolution (Monday, UTC), and the time that they took, in seconds.
create table ticket_week (
  account_id bigint not null,
  week       date not null,
  resolved   bigint not null,
  seconds    numeric not null,
  primary key (account_id, week)
) with (fillfactor = 70);

-- A ticket that is new counts once; one that changed counts once less as it was and once more as it is, which comes to
-- nothing unless its class or its resolution changed. Joining the two would be slower: the plan is made once a session,
-- maybe for one row, then used for thousands. Rows are taken in the order of their keys, so that no two statements
-- wait for each other.
do $do$
declare
  name   text;
  source text;
begin
  for name, source in values
    ('tally_added_tickets', 'select *, 1 as sign from added'),
    ('tally_changed_tickets', 'select *, -1 as sign from former union all select *, 1 from changed')
  loop
    execute format($create$
create function %I() returns trigger language plpgsql as $$
begin
  with turned as (
    select account_id, connection_id, number, connection_number, status, severity, first_seen_at, resolved_at,
           sum(sign) as sign
      from (%s) t
     group by account_id, connection_id, number, connection_number, status, severity, first_seen_at, resolved_at
    having sum(sign) <> 0
  ), tallied as (
    insert into ticket_tally as y
    select account_id, p.connection_id, level, p.place >> (8 * level),
           coalesce(sum(sign) filter (where status = 'open' and severity = 'critical'), 0),
           coalesce(sum(sign) filter (where status = 'open' and severity = 'warning'), 0),
           coalesce(sum(sign) filter (where status = 'open' and severity = 'info'), 0),
           coalesce(sum(sign) filter (where status = 'resolved' and severity = 'critical'), 0),
           coalesce(sum(sign) filter (where status = 'resolved' and severity = 'warning'), 0),
           coalesce(sum(sign) filter (where status = 'resolved' and severity = 'info'), 0)
      from turned t,
           lateral (values (0::bigint, t.number), (t.connection_id, t.connection_number)) as p (connection_id, place),
           generate_series(1, 3) as level
     group by 1, 2, 3, 4
     order by 1, 2, 3, 4
    on conflict (account_id, connection_id, level, block) do update
       set open_critical     = y.open_critical + excluded.open_critical,
           open_warning      = y.open_warning + excluded.open_warning,
           open_info         = y.open_info + excluded.open_info,
           resolved_critical = y.resolved_critical + excluded.resolved_critical,
           resolved_warning  = y.resolved_warning + excluded.resolved_warning,
           resolved_info     = y.resolved_info + excluded.resolved_info
  )
  insert into ticket_week as y
  select account_id, date_trunc('week', resolved_at at time zone 'UTC')::date, sum(sign),
         sum(sign * extract(epoch from resolved_at - first_seen_at))
    from turned
   where status = 'resolved'
   group by 1, 2
   order by 1, 2
  on conflict (account_id, week) do update
     set resolved = y.resolved + excluded.resolved, seconds = y.seconds + excluded.seconds;
  return null;
end $$ $create$, name, source);
  end loop;
end $do$;

do $$
declare
  tenant text;
begin
  foreach tenant in array array['ticket_tally', 'ticket_week'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format('create policy service on %I to dbvitals_writer, current_role using (true) with check (true)', tenant);
    execute format($policy$create policy own_account on %I for select to dbvitals_reader
      using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint)$policy$, tenant);
  end loop;
end $$;
-- They change with ticket alone, whose triggers raise the generation.
grant select, insert, update on ticket_tally, ticket_week to dbvitals_writer;
grant select on ticket_tally, ticket_week to dbvitals_reader;

-- The tickets that are there are counted by the trigger that counts new ones.
create temp table counted on commit drop as
  select account_id, connection_id, number, connection_number, status, severity, first_seen_at, resolved_at
    from ticket with no data;
create trigger tally_added_tickets after insert on counted
  referencing new table as added for each statement execute function tally_added_tickets();
insert into counted
  select account_id, connection_id, number, connection_number, status, severity, first_seen_at, resolved_at
    from ticket;
drop table counted;

create trigger tally_added_tickets after insert on ticket
  referencing new table as added for each statement execute function tally_added_tickets();
create trigger tally_changed_tickets after update on ticket
  referencing old table as former new table as changed for each statement execute function tally_changed_tickets();

-- A place and what it stands on stay as they are.
revoke update on ticket from dbvitals_writer;
grant update (category, title, severity, status, metric_line, remediation, last_seen_at, resolved_at, resolution,
              clean_runs, reopened_at) on ticket to dbvitals_writer;
