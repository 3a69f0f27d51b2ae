import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeDeliveries } from '../../../test/support/console-deliveries.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';

let store: TestStore;
let console: TestConsole;

beforeAll(async () => {
  store = await startTestStore();
  console = await openTestConsole(store);
});
afterAll(async () => {
  await console.close();
  await store.stop();
});

test('a range is compared with the times that deliveries are shown with', async () => {
  const ada = await console.owner();
  const { destination } = await writeDeliveries(store.writer, ada.accountId);
  await store.writer.query(
    `update delivery set state = 'cancelled', ended_at = now(), queued_at = '2026-03-01T10:00:00.899123Z'
      where account_id = $1`,
    [ada.accountId],
  );
  const queued = async (from: string, to: string) => {
    const body = { from: `2026-03-01T10:00:${from}Z`, to: `2026-03-01T10:00:${to}Z`, states: ['cancelled'] };
    return ada.send('POST', `/destinations/${destination}/resend`, body);
  };
  expect(await queued('00.000', '00.898')).toEqual([200, { queued: 0 }]);
  expect(await queued('00.900', '01.000')).toEqual([200, { queued: 0 }]);
  expect(await queued('00.899', '00.899')).toEqual([200, { queued: 1 }]);
});
