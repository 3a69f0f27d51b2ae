-- Finds a page of the log's entries of several types at the same cost at any depth.

-- How many entries up to an id are chosen: API requests if `requests`; of the others, all but those of `types` if `others`, else those
-- of `types`. What was pruned counts.
create function activity_chosen_count(of_account bigint, bound bigint, requests boolean, others boolean, types text[])
returns bigint language sql stable parallel safe as $$
  with floor as (
    select coalesce(max(first_id), 1) as first_id, coalesce(max(events), 0) as events
      from activity_floor where account_id = of_account
  ), event as (
    select first_id,
           coalesce((select event_number from activity
                      where account_id = of_account and event_number is not null and id between first_id and bound
                      order by id desc limit 1), events) as number
      from floor
  ), listed as (
    select coalesce(sum(coalesce(
             (select type_number from activity
               where account_id = of_account and event_number is not null and action_type = t.action_type
                 and id between first_id and bound
               order by id desc limit 1),
             (select type_number - 1 from activity
               where account_id = of_account and event_number is not null and action_type = t.action_type and id >= first_id
               order by id limit 1),
             (select last_number from activity_type_head where account_id = of_account and action_type = t.action_type),
             0)), 0) as number
      from event left join lateral unnest(types) as t (action_type) on true
  )
  select (case when requests then bound - event.number else 0 end
          + case when others then event.number - listed.number else listed.number end)::bigint
    from event, listed
$$;

-- The first id above `low`, at most `high`, up to which at least `rank` entries are chosen.
create function activity_chosen_id(of_account bigint, low bigint, high bigint, rank bigint, requests boolean, others boolean, types text[])
returns bigint language plpgsql stable parallel safe as $$
declare
  below  bigint := low;
  upto   bigint := high;
  middle bigint;
begin
  while upto - below > 1 loop
    middle := (below + upto) / 2;
    if activity_chosen_count(of_account, middle, requests, others, types) >= rank then upto := middle; else below := middle; end if;
  end loop;
  return upto;
end $$;
