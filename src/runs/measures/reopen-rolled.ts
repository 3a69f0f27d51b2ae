import type pg from 'pg';
import type { MeasuredConnection } from './store-measures.ts';

const reopen = `
  update measure_rolled
     set hours_to = least(hours_to, date_trunc('hour', $3::timestamptz)),
         days_to = least(days_to, ($3::timestamptz at time zone 'UTC')::date)
   where account_id = $1 and connection_id = $2`;

/**
 * Lets the next roll-up begin with the hour of `at`, for a run that is stored late. A roll-up of these hours that is under way ends
 * before, and one that begins later reads the run: both lock this row.
 */
export async function reopenRolled(
  client: pg.ClientBase,
  { accountId, connectionId, at }: MeasuredConnection & { at: string },
): Promise<void> {
  await client.query(reopen, [accountId, connectionId, at]);
}
