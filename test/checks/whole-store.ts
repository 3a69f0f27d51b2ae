import type pg from 'pg';
import { expect } from 'vitest';

/** Invariants of an account's rows, as queries that return violations. */
const BREACHES = {
  'ids, instants and numbers of the log': `
    select count(*) filter (where id <> n)                 as gaps,
           count(*) filter (where occurred_at <= before)   as unordered,
           count(*) filter (where event_number <> event_n) as event_gaps,
           count(*) filter (where type_number <> type_n)   as type_gaps,
           count(*) filter (where (action_type = 'api_request') <> (event_number is null)) as mistaken
      from (select a.*,
                   row_number() over (order by id) as n,
                   lag(occurred_at) over (order by id) as before,
                   row_number() over (partition by event_number is null order by id) as event_n,
                   row_number() over (partition by action_type order by id) as type_n
              from activity a where account_id = $1) a
    having count(*) filter (where id <> n or occurred_at <= before or event_number <> event_n
                               or type_number <> type_n
                               or (action_type = 'api_request') <> (event_number is null)) > 0`,
  'heads of the log': `
    select * from (select last_id, events, last_at from activity_head where account_id = $1) head
    except
    select count(*), count(event_number), coalesce(max(occurred_at), '-infinity') from activity where account_id = $1`,
  'numbers of the action types': `
    select * from (
      select action_type, last_number from activity_type_head where account_id = $1
       union all
      select action_type, -count(*) from activity
       where account_id = $1 and event_number is not null group by action_type) each
     where (select sum(last_number) from (
              select action_type, last_number from activity_type_head where account_id = $1
               union all
              select action_type, -count(*) from activity
               where account_id = $1 and event_number is not null group by action_type) other
             where other.action_type = each.action_type) <> 0`,
  'places of the tickets': `
    select * from (
      select ticket_id, number, connection_number, first_seen_at,
             row_number() over (order by first_seen_at, ticket_id) as place,
             row_number() over (partition by connection_id order by first_seen_at, ticket_id) as connection_place
        from ticket where account_id = $1) t
     where number <> place or connection_number <> connection_place`,
  'instants of the tickets': `
    select ticket_id, first_seen_at, last_seen_at, resolved_at from ticket
     where account_id = $1 and (last_seen_at < first_seen_at or resolved_at <= last_seen_at)`,
  'counts of the tickets by blocks': `
    (select connection_id, level, block, open_critical, open_warning, open_info, resolved_critical, resolved_warning,
            resolved_info
       from ticket_tally where account_id = $1)
    except
    select p.connection_id, level, p.place >> (8 * level),
           count(*) filter (where status = 'open' and severity = 'critical'),
           count(*) filter (where status = 'open' and severity = 'warning'),
           count(*) filter (where status = 'open' and severity = 'info'),
           count(*) filter (where status = 'resolved' and severity = 'critical'),
           count(*) filter (where status = 'resolved' and severity = 'warning'),
           count(*) filter (where status = 'resolved' and severity = 'info')
      from ticket t,
           lateral (values (0::bigint, number), (t.connection_id, connection_number)) as p (connection_id, place),
           generate_series(1, 3) as level
     where account_id = $1
     group by 1, 2, 3`,
  'counted tickets': `
    select counted, tickets
      from (select coalesce(sum(open_critical + open_warning + open_info
                                + resolved_critical + resolved_warning + resolved_info), 0) as counted
              from ticket_tally where account_id = $1 and connection_id = 0 and level = 1) c,
           (select count(*) as tickets from ticket where account_id = $1) t
     where counted <> tickets`,
  'the latest health check, which is whole': `
    select connection_id, latest_check_id
      from connection c
     where account_id = $1
       and (latest_check_id is distinct from (select max(health_check_id) from health_check h
                                               where h.account_id = $1 and h.connection_id = c.connection_id)
            or exists (select from health_check h
                        where h.account_id = $1 and h.health_check_id = c.latest_check_id
                          and (h.findings is null or h.score is distinct from c.latest_score)))`,
  'keys that nobody holds': `
    select api_key_id, name from api_key
     where account_id = $1 and name in ('Grafana', 'SIEM collector') and valid_until > clock_timestamp()`,
};

/** Expects that all rows of an account are consistent: ids, places, counts, latest checks, keys. */
export async function expectWholeStore(store: pg.Pool | pg.ClientBase, accountId: number): Promise<void> {
  for (const [what, breaches] of Object.entries(BREACHES)) {
    const { rows } = await store.query(`select * from (${breaches}) breach limit 5`, [accountId]);
    expect({ what, rows }).toEqual({ what, rows: [] });
  }
}
