import type pg from 'pg';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import { EVENTLESS_CHANNELS } from '../../vocabulary/channels.ts';
import type { EventConnection } from '../event.ts';
import type { StandingAlert } from './alert-row.ts';
import { type WatchedRule, watchedRuleColumns } from './alert-rule.ts';
import { standingColumns } from './evaluation/watch-columns.ts';

/** An alert or a connection that a round has to look at. */
export interface DueAlert {
  /** `said` = announce it, or remind of it; `unreachable` = its time is over; `stale` = no check for too long. */
  due: 'said' | 'unreachable' | 'stale';
  rule: WatchedRule;
  connection: EventConnection;
  /** Null for `stale`. */
  alert: StandingAlert | null;
  /** The latest alert of the rule and connection that was resolved within 24 h. */
  recent: StandingAlert | null;
  /** Seconds between checks; null without a schedule. */
  every_seconds: number | null;
  /** The latest check, or else when the connection was added: RFC 3339. */
  checked_at: string;
  /** The collector that measures the connection; null = the service itself. */
  collector: string | null;
  /** Whether an alert says or will say that the server is not reached, so that others of the connection are silent. */
  is_unreachable: boolean;
}

// An acknowledged alert is not said again. One that is only held open, because it flaps, never is.
const said = (account: string, at: string) => `
  select a.account_id, a.connection_id, a.rule_id, a.alert_id, 'said' as due
    from alert a
    join alert_rule r using (account_id, rule_id)
   where a.state = 'open' and ${account}
     and (a.acknowledged_at is null or a.acknowledged_until <= ${at})
     and not a.details ? 'is_clear'
     and (a.announced_at is null
          or greatest(a.reminded_at, a.announced_at) <= ${at} - make_interval(secs => r.reminder_seconds))
     and exists (select from destination d
                  where d.account_id = a.account_id and d.removed_at is null and d.channel <> all ('{${EVENTLESS_CHANNELS}}'))`;

// Only where checks are made on time: otherwise nobody knows.
const unreachable = (account: string, at: string) => `
  select a.account_id, a.connection_id, a.rule_id, a.alert_id, 'unreachable' as due
    from alert a
    join alert_rule r using (account_id, rule_id)
    join connection_schedule s using (account_id, connection_id)
   where a.state = 'pending' and ${account}
     and r.metric = 'unreachable_seconds' and r.is_enabled and r.removed_at is null
     and a.since <= ${at} - make_interval(secs => r.threshold)
     and s.due_at > ${at} - interval '1 min'`;

// The silence of a collector is said once (watch-collectors.ts), and its connections are not late before it had time to catch up. A
// collector asks at least every 35 s, so one that is about to be silent is not said of each connection either.
const isSaidOfCollector = (schedule: string, at: string) => `
  exists (select from collected_connection m
            join collector o using (account_id, collector_id)
           where m.account_id = ${schedule}.account_id and m.connection_id = ${schedule}.connection_id
             and o.revoked_at is null and o.enrolled_at is not null
             and (o.silent_at is not null
                  or o.last_contact_at < ${at} - interval '35 s'
                  or o.returned_at > ${at} - interval '5 min'))`;

const stale = (account: string, at: string) => `
  select a.account_id, s.connection_id, a.rule_id, null::bigint as alert_id, 'stale' as due
    from alert_rule a
    join connection_schedule s using (account_id)
    join connection c using (account_id, connection_id)
    left join health_check h on h.account_id = a.account_id and h.health_check_id = c.latest_check_id
   where a.metric = 'intervals_since_check' and a.is_enabled and a.removed_at is null and ${account}
     and c.removed_at is null
     and not ${isSaidOfCollector('s', at)}
     and coalesce(h.created_at, c.created_at) < ${at} - a.threshold * s.every
     and not exists (select from alert x
                      where x.account_id = a.account_id and x.connection_id = s.connection_id
                        and x.rule_id = a.rule_id and x.state <> 'resolved')`;

// Without stale connections ($1 = false) while the service has not run long enough to judge.
const selectAccounts = `
  select distinct account_id
    from (${said('true', 'now()')}
          union all ${unreachable('true', 'now()')}
          union all select * from (${stale('true', 'now()')}) late where $1) due
   where ${mayStartWork('due.account_id')}
   order by account_id`;

/** The accounts whose alerts a round has to look at, by id. */
export async function accountsWithDueAlerts(writer: pg.Pool, judgesStale: boolean): Promise<number[]> {
  const { rows } = await writer.query<{ account_id: number }>(selectAccounts, [judgesStale]);
  return rows.map(({ account_id }) => account_id);
}

/** How many alerts of an account a round handles in one transaction: it holds the lock of the account's log. */
export const PAGE = 200;

const selectDue = `
  with due as (
    select *
      from (${said('a.account_id = $1', '$2::timestamptz')}
            union all ${unreachable('a.account_id = $1', '$2::timestamptz')}
            union all select * from (${stale('a.account_id = $1', '$2::timestamptz')}) late where $3) each
     where (connection_id, rule_id) > ($4, $5)
     order by connection_id, rule_id
     limit ${PAGE})
  select due.due, to_jsonb(r) as rule,
         jsonb_build_object('id', c.connection_id, 'name', c.name, 'host', c.host, 'port', c.port,
                            'connection_type', c.connection_type, 'tags', ${tagsOfConnection}) as connection,
         (select to_jsonb(x) from (select ${standingColumns} from alert
                                    where account_id = $1 and alert_id = due.alert_id) x) as alert,
         (select to_jsonb(x) from (select ${standingColumns} from alert
                                    where account_id = $1 and connection_id = due.connection_id
                                      and rule_id = due.rule_id and state = 'resolved'
                                      and resolved_at > $2::timestamptz - interval '24 h'
                                    order by resolved_at desc, alert_id desc limit 1) x) as recent,
         extract(epoch from s.every)::float8 as every_seconds,
         to_jsonb(coalesce(h.created_at, c.created_at)) as checked_at,
         (select o.name
            from collected_connection m
            join collector o using (account_id, collector_id)
           where m.account_id = $1 and m.connection_id = due.connection_id) as collector,
         exists (select from alert u
                   join alert_rule ur using (account_id, rule_id)
                  where u.account_id = $1 and u.connection_id = due.connection_id and u.state <> 'resolved'
                    and ur.metric = 'unreachable_seconds' and not u.details ? 'is_clear') as is_unreachable
    from due
    join (select account_id, ${watchedRuleColumns} from alert_rule where account_id = $1) r on r.id = due.rule_id
    join connection c on c.account_id = $1 and c.connection_id = due.connection_id
    left join connection_schedule s on s.account_id = $1 and s.connection_id = due.connection_id
    left join health_check h on h.account_id = $1 and h.health_check_id = c.latest_check_id
   order by due.connection_id, due.rule_id`;

/** A page of what is due of an account at `at` (`Change.at`), after the last one of the page before. */
export async function dueAlertsOf(
  client: pg.ClientBase,
  { accountId, at }: { accountId: number; at: string },
  { judgesStale, after }: { judgesStale: boolean; after: Pick<DueAlert, 'connection' | 'rule'> | null },
): Promise<DueAlert[]> {
  const place = [after?.connection.id ?? 0, after?.rule.id ?? 0];
  return (await client.query<DueAlert>(selectDue, [accountId, at, judgesStale, ...place])).rows;
}
