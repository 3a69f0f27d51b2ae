import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertDestination } from '../../src/notifications/destination-fixture.ts';
import { digestRound } from '../../src/notifications/digest/digest-rounds.ts';
import { moveAccount } from '../../src/store/directory/move/move-account.ts';
import {
  addSmallAccount,
  startTwoCells,
  type TwoCells,
} from '../../src/store/directory/move/move-fixture.ts';

let cells: TwoCells;
beforeAll(async () => {
  cells = await startTwoCells();
});
afterAll(() => cells?.stop());

test('the digest of an account that moved is sent once, by the cell that has it', async () => {
  const { one, two } = cells;
  const accountId = await addSmallAccount(cells, 10);
  const id = await insertDestination(one.writer, accountId, { channel: 'slack' });
  await one.root.query(`
    update destination set digest = '{"every": "mon", "at": "07:00", "time_zone": "UTC"}' where destination_id = ${id};
    update destination_queue set digest_due_at = date_trunc('second', now()) where destination_id = ${id}`);
  await moveAccount(cells.parts, accountId, 2);
  for (const { writer } of [one, two, one, two]) await digestRound(writer);
  const digests = `select count(*)::int as digests from event where account_id = ${accountId} and kind = 'digest'`;
  const counts = await Promise.all([one, two].map(async ({ root }) => (await root.query(digests)).rows[0]));
  expect(counts).toEqual([{ digests: 0 }, { digests: 1 }]);
  const { rows } = await two.root.query(
    `select digest_due_at > now() as later from destination_queue where destination_id = ${id}`,
  );
  expect(rows).toEqual([{ later: true }]);
});
