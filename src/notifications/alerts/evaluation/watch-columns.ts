import { watchedRuleColumns } from '../alert-rule.ts';

/** The columns of a {@link import('../alert-row.ts').StandingAlert}. */
export const standingColumns = `
  alert_id, rule_id, state, since, runs, metric, operator, threshold, value, details, severity, triggered_at,
  announced_at, reminded_at, acknowledged_at, acknowledged_until, reopened_at, resolved_at, resolution`;

/**
 * The columns `rules`, `alerts`, `forecasts`, `pulse` and `previous_run_at` of an `AlertWatch`, as scalar subqueries of the account
 * $1 and its connection $2 at the time $3 (`Change.at`). Resolved alerts are only looked at if the connection has any.
 */
export const alertWatchColumns = `
  (select coalesce(jsonb_agg(to_jsonb(r) order by r.id), '[]')
     from (select ${watchedRuleColumns} from alert_rule
            where account_id = $1 and is_enabled and removed_at is null) r) as rules,
  (select coalesce(jsonb_agg(to_jsonb(a) order by a.alert_id), '[]')
     from (select ${standingColumns} from alert
            where account_id = $1 and connection_id = $2 and state <> 'resolved'
           union all
           (select distinct on (rule_id) ${standingColumns} from alert
             where account_id = $1 and connection_id = $2 and state = 'resolved'
               and resolved_at > $3::timestamptz - interval '24 h'
             order by rule_id, resolved_at desc, alert_id desc)) a) as alerts,
  (select coalesce(jsonb_agg(jsonb_build_object('check_id', s.check_id, 'metric', s.metric, 'database', s.database,
                                                'object', s.object, 'full_at', f.full_at)), '[]')
     from measure_forecast f
     join measure_series s
       on s.account_id = f.account_id and s.connection_id = f.connection_id and s.series_id = f.series_id
    where f.account_id = $1 and f.connection_id = $2 and f.full_at is not null
      and exists (select from alert_rule
                   where account_id = $1 and is_enabled and removed_at is null and metric = 'days_left')) as forecasts,
  (select jsonb_build_object('ended_at', l.at + interval '1 min', 'blocked_seconds', l.end_blocked_seconds,
                             'blocked_sessions', l.end_blocked_sessions, 'load_active_sessions', l.active)
     from session_load l
    where l.account_id = $1 and l.connection_id = $2 and l.minutes = 1 and l.end_blocked_seconds is not null
      and l.at > $3::timestamptz - interval '3 min' and l.at < $3
    order by l.at desc limit 1) as pulse,
  (select to_jsonb(h.created_at)
     from health_check h
    where h.account_id = $1 and h.connection_id = $2 and h.created_at < $3
    order by h.created_at desc, h.health_check_id desc limit 1) as previous_run_at`;
