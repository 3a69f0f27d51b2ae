import type pg from 'pg';
import { one } from '../../store/one.ts';
import type { Severity } from '../../vocabulary/severities.ts';
import { readStreamLags, type StreamLag } from '../log-streams/stream-lag.ts';

/** The figures of notifications in the whole store, without the copies of accounts that live in another cell. */
export interface NotificationFigures {
  /** Deliveries that have not ended. */
  queued: number;
  /** How long the delivery that is due longest has been waiting for an enabled destination, in seconds; 0 = none. */
  oldestDueSeconds: number;
  /** Events that got no delivery because too many were queued. */
  dropped: number;
  /** Destinations by state. `failing` are those among the enabled whose last attempt failed. */
  destinations: Readonly<Record<'enabled' | 'failing' | 'disabled' | 'paused', number>>;
  /** Open alerts by severity. */
  alerts: Readonly<Record<Severity, number>>;
  /** Of the enabled log streams. */
  streams: readonly StreamLag[];
}

const select = `
  select coalesce(sum(q.queued), 0)::int as queued,
         coalesce(max(extract(epoch from now() - q.due_at)) filter (where d.state = 'enabled' and q.due_at <= now()), 0)::float8
           as "oldestDueSeconds",
         coalesce(sum(q.dropped), 0)::float8 as dropped,
         jsonb_build_object('enabled', count(*) filter (where d.state = 'enabled' and q.failing_since is null),
                            'failing', count(*) filter (where d.state = 'enabled' and q.failing_since is not null),
                            'disabled', count(*) filter (where d.state = 'disabled'),
                            'paused', count(*) filter (where d.state = 'paused')) as destinations,
         (select jsonb_build_object('critical', count(*) filter (where severity = 'critical'),
                                    'warning', count(*) filter (where severity = 'warning'),
                                    'info', count(*) filter (where severity = 'info'))
            from alert
            join account a using (account_id)
           where state = 'open' and a.is_here) as alerts
    from destination d
    join destination_queue q using (account_id, destination_id)
    join account a using (account_id)
   where d.removed_at is null and a.is_here`;

/** Reads the figures of notifications, for metrics. */
export async function readFigures(writer: pg.Pool): Promise<NotificationFigures> {
  const { rows } = await writer.query<Omit<NotificationFigures, 'streams'>>(select);
  return { ...one(rows, 'read the figures of notifications'), streams: await readStreamLags(writer) };
}
