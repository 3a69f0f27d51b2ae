import { inTransaction } from '../../../store/connect.ts';
import { isSqlEngine } from '../../../vocabulary/engines.ts';
import type { SampleFleet } from '../sample-connection.ts';
import { type SampleTarget, toTimestamp } from '../sample-target.ts';

const CONNECTIONS_A_TRANSACTION = 1_000;

const expect = `
  update connection
     set backup_expected_seconds = 93600, backup_expected_since = $3::timestamptz - interval '7 days'
   where account_id = $1 and connection_id = any($2::bigint[])`;

// As the line of the sample's runs has it: 6 h 12 min ago, 38.2 GB after 38.1.
const insert = `
  insert into backup_report (account_id, connection_id, source, at, label, succeeded, started_at, bytes)
  select $1, connection_id, 'heartbeat', ended, '', true, ended - interval '41 min', (38.2 - 0.1 * day) * 1024 ^ 3
    from unnest($2::bigint[]) connection_id,
         generate_series(0, 6) day,
         lateral (select $3::timestamptz - interval '6 h 12 min' - day * interval '1 day' as ended) backup`;

/** Writes a week of nightly backups of each database. */
export async function writeBackups(
  { writer, accountId, history }: SampleTarget,
  { connections, connectionIds: ids }: SampleFleet & { connectionIds: readonly number[] },
): Promise<void> {
  const connectionIds = ids.filter((_, place) => isSqlEngine(connections[place]?.engine ?? 'postgres'));
  const end = toTimestamp(history.end);
  for (let first = 0; first < connectionIds.length; first += CONNECTIONS_A_TRANSACTION) {
    const values = [accountId, connectionIds.slice(first, first + CONNECTIONS_A_TRANSACTION), end];
    await inTransaction(writer, async (client) => {
      await client.query(expect, values);
      await client.query(insert, values);
    });
  }
}
