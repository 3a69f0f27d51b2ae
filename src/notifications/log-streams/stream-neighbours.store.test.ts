import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import type { Rounds } from '../../platform/rounds.ts';
import { FORMATS } from '../channels/formats.ts';
import { createAccessTokens } from '../dispatch/access-tokens.ts';
import { addTo, firstRow, runDispatcher, startReceiver } from '../dispatch/dispatcher-fixture.ts';
import { createBatchSender } from '../dispatch/send-batches.ts';
import { failedAttempt } from '../sending/failed-attempt.ts';
import { writeEntries } from './stream-fixture.ts';
import { SLOW_MS as TROUBLED_MS } from './stream-room.ts';

// The 20 destinations that an account may have: streams whose receivers are dead, silent or slow, beside others.
const DEAD = 5;
const SILENT = 5;
const SLOW = 4;
const GOOD = 6;

/** How long a slow receiver takes. */
const SLOW_MS = 12_000;

/** A dead receiver holds its batch for 15 s. Others take a second, or some on a busy machine. */
const SOON_MS = 9_000;

let store: TestStore;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let silent: Server;
let dispatcher: Rounds | null = null;
/** When each good stream got each entry, by path. */
const arrived = new Map<string, Map<number, number>>();

beforeAll(async () => {
  store = await startTestStore();
  receiver = await startReceiver(async ({ path, body }) => {
    if (path.startsWith('/dead')) return 0;
    if (path.startsWith('/slow')) await wait(SLOW_MS, undefined, { ref: false });
    const times = arrived.get(path) ?? new Map<number, number>();
    arrived.set(path, times);
    for (const line of body.trim().split('\n')) times.set(JSON.parse(line).id, Date.now());
    return 200;
  });
  // Takes connections and reads nothing.
  silent = createServer((socket) => socket.pause().on('error', () => {})).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  dispatcher = runDispatcher(store);
});

afterAll(async () => {
  await dispatcher?.stop();
  await receiver.stop();
  silent.close();
  await store.stop();
});

async function addStreams(
  accountId: number,
  name: string,
  count: number,
  url = receiver.url,
): Promise<string[]> {
  const paths = Array.from({ length: count }, (_, n) => `/${name}-${n}`);
  for (const path of paths)
    await addTo(store, accountId, {
      name: path,
      channel: 'log_http',
      url: `${url}${path}`,
      stream: { fromId: 1 },
    });
  return paths;
}

/** Writes entries of about 2 kB, and returns the id of the last one. */
const write = (accountId: number, count: number) =>
  writeEntries(store, accountId, count, { name: 'x'.repeat(2_000) });

/** Writes an entry several times, and returns how long the slowest of the good streams took, in milliseconds. */
async function slowestOf(accountId: number, paths: readonly string[], entries: number): Promise<number> {
  const lags: number[] = [];
  for (let n = 0; n < entries; n += 1) {
    const id = await write(accountId, 1);
    const written = Date.now();
    const got = () => paths.map((path) => arrived.get(path)?.get(id));
    await expect.poll(() => got().every((at) => at !== undefined), { interval: 20 }).toBe(true);
    lags.push(...got().map((at) => (at ?? Number.NaN) - written));
  }
  return Math.max(...lags);
}

test('dead, silent and slow receivers, each with more than a batch to send, delay no other stream', async () => {
  const accountId = await store.account();
  const other = await store.account();
  await write(accountId, 600);
  const good = await addStreams(accountId, 'good', GOOD);
  const neighbour = await addStreams(other, 'neighbour', 1);
  await slowestOf(accountId, good, 1); // they have caught up
  const { port } = silent.address() as { port: number };
  await addStreams(accountId, 'dead', DEAD);
  await addStreams(accountId, 'silent', SILENT, `http://127.0.0.1:${port}`);
  await addStreams(accountId, 'slow', SLOW);
  // From the first moment, in which none has failed yet, and until all the dead ones have failed.
  expect(await slowestOf(accountId, good, 12)).toBeLessThan(SOON_MS);
  expect(await slowestOf(other, neighbour, 2)).toBeLessThan(SOON_MS);
  const failing = `select 1 as there from log_stream where account_id = $1 and attempts > 0 having count(*) = $2`;
  await firstRow(store, failing, [accountId, DEAD + SILENT]);
  expect(await slowestOf(accountId, good, 3)).toBeLessThan(SOON_MS);
  expect([...arrived.keys()].filter((path) => path.startsWith('/slow'))).toHaveLength(SLOW);
});

test('a receiver that is slow with every second batch stays in the room of those in trouble', async () => {
  await dispatcher?.stop();
  dispatcher = null;
  const accountId = await store.account();
  await write(accountId, 1);
  await addStreams(accountId, 'alternating', 1);
  const { writer } = store;
  let pause = TROUBLED_MS + 100;
  const send = async () => {
    await wait(pause);
    return { ...failedAttempt('', performance.now()), accepted: true };
  };
  const sender = createBatchSender(
    {
      writer,
      secret: store.deps.secret,
      log: store.deps.log,
      formats: FORMATS,
      consoleUrl: () => 'https://dbvitals.example.com',
      measure: { attempted: () => {} },
      send,
      tokens: createAccessTokens(send),
    },
    new AbortController().signal,
  );
  const errors: unknown[] = [];
  const troubled: boolean[] = [];
  for (let batch = 0; batch < 3; batch += 1) {
    await write(accountId, 1);
    await writer.query(
      `update log_stream set due_at = case when account_id = $1 then now() else 'infinity' end`,
      [accountId],
    );
    await expect.poll(() => sender.start((error) => errors.push(error))).toBe(1);
    const [[sending, held] = []] = [...sender.running];
    troubled.push(held?.isTroubled ?? false);
    await sending;
    pause = 0;
  }
  expect(errors).toEqual([]);
  expect(troubled).toEqual([false, true, true]);
});
