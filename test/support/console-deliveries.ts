import type pg from 'pg';
import { changeAccount } from '../../src/activity/record-entry.ts';
import { insertDestination } from '../../src/notifications/destination-fixture.ts';
import { testDestination } from '../../src/notifications/destinations/test-destination.ts';

/** Adds a destination with a delivery to an account. */
export async function writeDeliveries(
  writer: pg.Pool,
  accountId: number,
): Promise<{ destination: number; delivery: number }> {
  const destination = await insertDestination(writer, accountId);
  await testDestination((work) => changeAccount(writer, accountId, work), writer, destination, {
    patience: 0,
  });
  const { rows } = await writer.query<{ delivery: number }>(
    'select delivery_id as delivery from delivery where account_id = $1',
    [accountId],
  );
  return { destination, delivery: rows[0]?.delivery ?? 0 };
}
