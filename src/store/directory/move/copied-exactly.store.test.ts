import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sealEntries } from '../../../activity/seals/record-seals.ts';
import { openSealKeys } from '../../../activity/seals/seal-key.ts';
import { verifyStore } from '../../../activity/seals/verify-store.ts';
import { readSecrets, storeSecrets } from '../../../connections/credentials.ts';
import type { SecretKeys } from '../../../platform/encryption.ts';
import { openPool } from '../../connect.ts';
import { within } from '../../read.ts';
import { moveAccount } from './move-account.ts';
import {
  addSmallAccount,
  type CellStore,
  moveKilledAt,
  rowsOf,
  startTwoCells,
  type TwoCells,
  withoutMoved,
} from './move-fixture.ts';

let cells: TwoCells;
const secret: SecretKeys = [randomBytes(32)];
beforeAll(async () => {
  cells = await startTwoCells();
});
afterAll(() => cells.stop());

test('what changed, came or went while the account was copied is in the copy', async () => {
  const { one, two, filled } = cells;
  moveKilledAt(cells, filled, 'caught up', 1);
  await one.root.query(`
    update ticket set title = 'Changed', status = 'resolved', resolved_at = now() where account_id = ${filled} and status = 'open' and number % 3 = 0;
    delete from measure_run where account_id = ${filled} and measured_at = (select min(measured_at) from measure_run where account_id = ${filled});
    delete from delivery_attempt where account_id = ${filled};
    update health_check set findings = null, cost = null where account_id = ${filled} and health_check_id % 2 = 0;
    update connection set name = name || ' é', port = 6000 where account_id = ${filled};
    update account set name = 'Changed' where account_id = ${filled};
    update api_key set scopes = '{health}' where account_id = ${filled};
    insert into connection_change (account_id, connection_id, at, kind, subject)
      select account_id, min(connection_id), '2025-01-01Z', 'setting', 'before all others' from connection where account_id = ${filled} group by 1;
    delete from activity where account_id = ${filled} and id <= 40;
    insert into activity_floor (account_id, first_id, events) values (${filled}, 41, 8)
      on conflict (account_id) do update set first_id = 41, events = 8`);
  // A row that goes leaves its place to one that comes.
  await one.root.query(`
    with gone as (delete from measure_forecast where account_id = ${filled}),
         freed as (delete from measure_series where account_id = ${filled} and slot is not null returning *)
    select count(*) from freed`);
  await one.root.query(`
    insert into measure_series (account_id, connection_id, series_id, slot, check_id, metric, database, last_seen_at)
      select account_id, min(connection_id), 299, 1, '', 'came', '', now() from connection where account_id = ${filled} group by 1`);
  const before = withoutMoved(await rowsOf(one.root, filled));
  await moveAccount(cells.parts, filled, 2);
  const after = withoutMoved(await rowsOf(two.root, filled));
  for (const table of Object.keys(before))
    expect({ table, rows: after[table] }).toEqual({ table, rows: before[table] });
  expect(after).toEqual(before);
});

async function verdict({ writer }: CellStore, owner: pg.Pool, accountId: number) {
  const keys = await openSealKeys(owner, secret, accountId);
  const client = await writer.connect();
  return verifyStore(within(client), accountId, new Set(keys.keys()), null).finally(() => client.release());
}

test('seals verify in the new cell, and the log is sealed on with the same key', async () => {
  const { one, two } = cells;
  const [ownerOne, ownerTwo] = [one, two].map(({ address }) => openPool(address, 'owner', { max: 1 }));
  if (!ownerOne || !ownerTwo) throw new Error('no pools');
  try {
    const id = await addSmallAccount(cells, 9_000);
    for await (const _ of sealEntries({ owner: ownerOne, secret, activityDays: null }, id));
    const before = await verdict(one, ownerOne, id);
    expect(before).toMatchObject({ verified: true, first_id: 1, last_id: 9_000 });
    await moveAccount(cells.parts, id, 2);
    expect(await verdict(two, ownerTwo, id)).toEqual(before);
    await two.root.query(
      `with head as (update activity_head set last_id = last_id + 1, last_at = now() where account_id = $1 returning last_id, last_at)
       insert into activity (account_id, id, occurred_at, action_type, page_path) select $1, last_id, last_at, 'api_request', '/' from head`,
      [id],
    );
    const keysBefore = [...(await openSealKeys(ownerOne, secret, id)).keys()];
    for await (const _ of sealEntries({ owner: ownerTwo, secret, activityDays: null }, id));
    expect(await verdict(two, ownerTwo, id)).toMatchObject({ verified: true, first_id: 1, last_id: 9_001 });
    expect([...(await openSealKeys(ownerTwo, secret, id)).keys()]).toEqual(keysBefore);
  } finally {
    await Promise.all([ownerOne.end(), ownerTwo.end()]);
  }
});

test('passwords open in the new cell, for the same settings only', async () => {
  const { one, two } = cells;
  const id = await addSmallAccount(cells, 10);
  const { rows } = await one.root.query('select connection_id as id from connection where account_id = $1', [
    id,
  ]);
  const key = { accountId: id, connectionId: Number(rows[0].id) };
  const secrets = { password: 'unspoken-moved', sshKey: null };
  await storeSecrets(one.root, secret, key, secrets);
  await moveAccount(cells.parts, id, 2);
  expect(await readSecrets(two.root, secret, key)).toEqual(secrets);
  await two.root.query(`update connection set host = 'evil.example.com' where account_id = $1`, [id]);
  await expect(readSecrets(two.root, secret, key)).rejects.toThrow();
});
