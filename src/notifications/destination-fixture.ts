import type pg from 'pg';
import { one } from '../store/one.ts';

const insert = `
  with added as (
    insert into destination (account_id, name, channel, target, settings, encrypted, kinds, minimum_severity, connection_ids,
                             connection_names, requests_per_second, quiet_hours, state, state_since, created_at)
    values ($1, $2, $3, 'https://hooks.example.com', '{}', null, $4, $5, $6, $7, 50, $8, $9, now(), now())
    returning account_id, destination_id
  )
  insert into destination_queue (account_id, destination_id, epoch) select account_id, destination_id, 'first' from added
  returning destination_id`;

/** Inserts a destination without secrets, for tests of what is queued for it. Default: a webhook that gets all alerts and tickets. */
export async function insertDestination(
  pool: pg.Pool,
  accountId: number,
  given: Record<string, unknown> = {},
): Promise<number> {
  const destination = {
    name: 'Receiver',
    channel: 'webhook',
    minimum_severity: null,
    connection_ids: null,
    connection_names: null,
    kinds: ['ops.ticket_created', 'ops.ticket_resolved', 'alert.triggered', 'alert.resolved'],
    quiet_hours: null,
    state: 'enabled',
    ...given,
  };
  const { rows } = await pool.query<{ destination_id: number }>(insert, [
    accountId,
    destination.name,
    destination.channel,
    destination.kinds,
    destination.minimum_severity,
    destination.connection_ids,
    destination.connection_names,
    destination.quiet_hours,
    destination.state,
  ]);
  return one(rows, 'insert a destination').destination_id;
}
