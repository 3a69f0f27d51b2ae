import type pg from 'pg';
import type { Channel } from '../../vocabulary/channels.ts';
import type { Lease } from './lease-deliveries.ts';

/** The channels that open an incident, and keep it open until they get its end. */
const INCIDENT_CHANNELS: readonly Channel[] = ['pagerduty', 'alertmanager'];

const cancel = `
  with queue as materialized (
    select account_id, destination_id
      from destination_queue
     where account_id = $1 and destination_id = $2
       for update
  ), cancelled as (
    update delivery v
       set state = 'cancelled', ended_at = clock_timestamp(), reason = 'Its end was accepted before.'
      from queue, event e, unnest($3::bigint[], $4::bigint[], $5::bigint[]) as over (alert_id, ticket_id, sequence)
     where v.account_id = queue.account_id
       and v.destination_id = queue.destination_id
       and v.state = 'queued'
       and v.sequence < over.sequence
       and e.account_id = v.account_id
       and e.event_id = v.event_id
       and (e.alert_id = over.alert_id or e.ticket_id = over.ticket_id)
    returning 1
  )
  update destination_queue q
     set queued = greatest(q.queued - (select count(*) from cancelled), 0)
    from queue
   where q.account_id = queue.account_id and q.destination_id = queue.destination_id`;

/**
 * After the end of an alert or ticket was accepted: cancels its earlier events that are still tried. A late one would open
 * the incident again, and nothing would close it.
 */
export async function cancelOvertaken(
  writer: pg.Pool,
  { destination: { accountId, destinationId, channel }, deliveries }: Lease,
): Promise<void> {
  if (!INCIDENT_CHANNELS.includes(channel)) return;
  const ends = deliveries.filter(({ kind }) => kind === 'alert.resolved' || kind === 'ops.ticket_resolved');
  if (ends.length === 0) return;
  await writer.query(cancel, [
    accountId,
    destinationId,
    ends.map(({ alert_id }) => alert_id),
    ends.map(({ ticket_id }) => ticket_id),
    ends.map(({ sequence }) => sequence),
  ]);
}
