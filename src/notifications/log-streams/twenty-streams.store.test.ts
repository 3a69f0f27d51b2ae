import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import type { Rounds } from '../../platform/rounds.ts';
import { addTo, type ReceivedRequest, runDispatcher, startReceiver } from '../dispatch/dispatcher-fixture.ts';
import { idsUpTo, readNewestId, waitForDelivery, writeEntries } from './stream-fixture.ts';

/** The streams of each account. */
const STREAMS = [12, 5, 3];
/** The entries of each account before its streams begin, and so many more while they run. */
const ENTRIES = 1_200;

let store: TestStore;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let services: Rounds[] = [];
/** How many answers are left until a path is answered 503 once. */
const untilFailure = new Map<string, number>();

beforeAll(async () => {
  store = await startTestStore();
  receiver = await startReceiver(({ path }) => {
    const left = untilFailure.get(path) ?? 0;
    untilFailure.set(path, left - 1);
    return left === 1 ? 503 : 200;
  });
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await receiver.stop();
  await store.stop();
});

async function write(accountId: number, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 100)
    await writeEntries(store, accountId, Math.min(left, 100), { connection_id: accountId });
}

const readRange = ({ headers }: ReceivedRequest) =>
  [Number(headers['dbvitals-first-id']), Number(headers['dbvitals-last-id'])] as const;

test('twenty streams of three accounts at once, by two services: each whole, in order, and of its account only', async () => {
  const accounts = await Promise.all(STREAMS.map(() => store.account()));
  for (const accountId of accounts) await write(accountId, ENTRIES);
  const streams: { path: string; accountId: number; id: number; refusals: number }[] = [];
  for (const [at, accountId] of accounts.entries())
    for (let n = 0; n < (STREAMS[at] ?? 0); n += 1) {
      const path = `/${accountId}-${n}`;
      const refusals = n % 3 === 2 ? 1 : 0; // amid the log
      if (refusals > 0) untilFailure.set(path, 2);
      const wanted = { name: path, channel: 'log_http', url: `${receiver.url}${path}` } as const;
      const id = await addTo(store, accountId, { ...wanted, stream: { fromId: 1 } });
      streams.push({ path, accountId, id, refusals });
    }
  services = [runDispatcher(store), runDispatcher(store)];
  await Promise.all(accounts.map((accountId) => write(accountId, ENTRIES)));
  for (const { path, accountId, id, refusals } of streams) {
    const last = await readNewestId(store, accountId);
    expect(last).toBeGreaterThanOrEqual(2 * ENTRIES);
    await waitForDelivery(store, id, last);
    const requests = receiver.got.filter((request) => request.path === path);
    const batches = new Map(requests.map((request) => [readRange(request).join('-'), request]));
    // Each batch begins where the one before ended, and only one that was refused came again.
    const inOrder = [...batches.values()];
    expect(inOrder.map((request) => readRange(request)[0])).toEqual([
      1,
      ...inOrder.slice(0, -1).map((request) => readRange(request)[1] + 1),
    ]);
    const lines = inOrder.flatMap(({ body }) =>
      body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
    expect(lines.map((line) => line.id).slice(0, last)).toEqual(idsUpTo(last));
    expect(requests.length - batches.size).toBe(refusals);
    const others = lines.filter(
      ({ action_type, properties }) =>
        action_type === 'connection_tagged' && properties.connection_id !== accountId,
    );
    expect(others).toEqual([]);
    expect(new Set(requests.map(({ headers }) => headers['dbvitals-account']))).toEqual(
      new Set([String(accountId)]),
    );
  }
});
