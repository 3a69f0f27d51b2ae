-- What the fleet shows of a connection's checks, beside each other: a page of 10,000 connections reads no check.

create table connection_trend (
  account_id      bigint not null,
  connection_id   bigint not null,
  last_day        date not null,           -- of the latest check, UTC
  scores          smallint[] not null,     -- the last score of each of 90 days, that of last_day first; null = no check
  last_checked_at timestamptz not null,
  worst           jsonb,                   -- {check_id, title, severity} of the latest check's worst fault; null = none
  primary key (account_id, connection_id),
  foreign key (account_id, connection_id) references connection
) with (fillfactor = 50);                  -- each check writes its row anew, and finds room on its page

-- By a trigger, so that it is kept whoever writes the check, older processes too. A statement may bring many checks, and of
-- other days than the last.
create function keep_connection_trend() returns trigger language plpgsql as $$
begin
  insert into connection_trend (account_id, connection_id, last_day, scores, last_checked_at, worst)
  with of_day as (
    select distinct on (account_id, connection_id, day) account_id, connection_id, day, score
      from (select *, (created_at at time zone 'UTC')::date as day from changed) c
     order by account_id, connection_id, day, created_at desc, health_check_id desc
  ), latest as (
    select distinct on (account_id, connection_id) account_id, connection_id, created_at, findings -> 0 as first
      from changed
     order by account_id, connection_id, created_at desc, health_check_id desc
  ), joined as (
    select l.account_id, l.connection_id, t.last_day as known_day, t.scores as known_scores,
           greatest((l.created_at at time zone 'UTC')::date, t.last_day) as last_day,
           greatest(l.created_at, t.last_checked_at) as last_checked_at,
           case when t.last_checked_at > l.created_at then t.worst
                when first ->> 'status' in ('critical', 'warning', 'info')
                then jsonb_build_object('check_id', first -> 'check_id', 'title', first -> 'title',
                                        'severity', first -> 'severity') end as worst
      from latest l
      left join connection_trend t on t.account_id = l.account_id and t.connection_id = l.connection_id
  )
  select j.account_id, j.connection_id, j.last_day,
         array_agg(coalesce(d.score, j.known_scores[j.known_day - j.last_day + n])::smallint order by n),
         j.last_checked_at, j.worst
    from joined j
   cross join generate_series(1, 90) n
    left join of_day d on d.account_id = j.account_id and d.connection_id = j.connection_id and d.day = j.last_day - n + 1
   group by j.account_id, j.connection_id, j.last_day, j.last_checked_at, j.worst
  on conflict (account_id, connection_id) do update
     set last_day = excluded.last_day, scores = excluded.scores,
         last_checked_at = excluded.last_checked_at, worst = excluded.worst;
  return null;
end $$;
create trigger keep_connection_trend after insert on health_check
  referencing new table as changed for each statement execute function keep_connection_trend();

alter table connection_trend enable row level security;
alter table connection_trend force row level security;
create policy service on connection_trend to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on connection_trend for select to dbvitals_reader
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);

-- What was checked before, by the same trigger: of the latest checks alone with their findings.
create table checked_before (
  account_id bigint, connection_id bigint, health_check_id bigint, created_at timestamptz, score integer, findings jsonb
);
create trigger keep_connection_trend after insert on checked_before
  referencing new table as changed for each statement execute function keep_connection_trend();
insert into checked_before
select h.account_id, h.connection_id, h.health_check_id, h.created_at, h.score,
       case when c.latest_check_id = h.health_check_id then h.findings end
  from health_check h
  join connection c using (account_id, connection_id);
drop table checked_before;

grant select, insert, update on connection_trend to dbvitals_writer;
grant select on connection_trend to dbvitals_reader;
grant select (account_id, connection_id, every, due_at, claimed_until) on connection_schedule to dbvitals_reader;
grant select on silence to dbvitals_reader;
