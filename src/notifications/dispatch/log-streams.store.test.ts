import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { pruneEntries } from '../../activity/prune-entries.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { sealEntries } from '../../activity/seals/record-seals.ts';
import { storedSeals } from '../../activity/seals/stored-seals.ts';
import { verifyDelivered } from '../../activity/seals/verify-delivered.ts';
import { checkNotifications } from '../../cli/doctor/check-notifications.ts';
import type { Rounds } from '../../platform/rounds.ts';
import { notificationMetrics } from '../../platform/telemetry/notification-metrics.ts';
import { openPool } from '../../store/connect.ts';
import { within } from '../../store/read.ts';
import { enableDestination } from '../deliveries/enable-destination.ts';
import { addDestination } from '../destinations/add-destination.ts';
import { changeDestination } from '../destinations/change-destination.ts';
import type { NewDestination } from '../destinations/destination-input.ts';
import { disableDestination } from '../destinations/disable-destination.ts';
import { leaseStreams } from '../log-streams/lease-streams.ts';
import { readNewestId, writeEntries } from '../log-streams/stream-fixture.ts';
import { recordMissed, warnOfUndelivered } from '../log-streams/stream-retention.ts';
import { type HeldBatch, streamRoom } from '../log-streams/stream-room.ts';
import {
  firstRow,
  type ReceivedRequest,
  rowsOf,
  runDispatcher,
  startReceiver,
} from './dispatcher-fixture.ts';
import { readFigures } from './read-figures.ts';

let store: TestStore;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
/** The statuses that the next requests of a path get; 200 without. */
const statuses = new Map<string, number[]>();
const running: Rounds[] = [];

beforeAll(async () => {
  store = await startTestStore();
  receiver = await startReceiver(({ path }) => statuses.get(path)?.shift() ?? 200);
  running.push(runDispatcher(store), runDispatcher(store));
});

afterAll(async () => {
  await Promise.all(running.map((rounds) => rounds.stop()));
  await receiver.stop();
  await store.stop();
});

async function addStream(accountId: number, path: string, more: Partial<NewDestination> = {}) {
  const wanted = { name: path, channel: 'log_http' as const, url: `${receiver.url}${path}`, ...more };
  return changeAccount(store.writer, accountId, (change) =>
    addDestination(change, store.deps.secret, { allowPrivate: true }, wanted),
  );
}

/** Writes so many entries in transactions of at most 250. */
async function write(accountId: number, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 250) await writeEntries(store, accountId, Math.min(left, 250));
}

const newest = (accountId: number) => readNewestId(store, accountId);

/** Waits until a stream's next entry is this one. */
const reaches = (id: number, nextId: number) =>
  firstRow(store, 'select 1 as there from log_stream where destination_id = $1 and next_id >= $2', [
    id,
    nextId,
  ]);

const idsIn = ({ body }: ReceivedRequest) =>
  body
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).id as number);
const range = ({ headers }: ReceivedRequest) =>
  [Number(headers['dbvitals-first-id']), Number(headers['dbvitals-last-id'])] as const;
const requestsOf = (path: string) => receiver.got.filter((request) => request.path === path);

test('a stream sends the log in order, in batches whose ranges adjoin, signed, through failures', async () => {
  const accountId = await store.account();
  statuses.set('/all', [500, 200, 503]);
  await write(accountId, 1_300);
  const { destination, signing_secret } = await addStream(accountId, '/all', { stream: { fromId: 1 } });
  const last = await newest(accountId);
  // A failed batch waits 5 s.
  const hasten = setInterval(
    () => store.writer.query('update log_stream set due_at = now() where attempts > 0'),
    50,
  );
  await reaches(destination.id, last + 1);
  clearInterval(hasten);
  const requests = requestsOf('/all');
  const ids = requests.flatMap(idsIn);
  expect([...new Set(ids)].toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: last }, (_, at) => at + 1),
  );
  const ranges = [...new Set(requests.map((request) => range(request).join()))].map((text) =>
    text.split(',').map(Number),
  );
  expect(ranges.every(([first], at) => first === (at === 0 ? 1 : (ranges[at - 1]?.[1] ?? 0) + 1))).toBe(true);
  expect(Math.max(...requests.map((request) => idsIn(request).length))).toBe(500);
  const verifier = new Webhook(signing_secret ?? '');
  for (const { body, headers } of requests) {
    const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
    expect(headers['webhook-signature']).toBe(verifier.sign(String(headers['webhook-id']), at, body));
  }
  // Every attempt of a batch has the same id and the same bytes.
  const byId = Map.groupBy(requests, ({ headers }) => headers['webhook-id']);
  expect(byId.size).toBe(ranges.length);
  for (const attempts of byId.values()) expect(new Set(attempts.map(({ body }) => body)).size).toBe(1);
});

test('a filter leaves entries out, and the ranges still adjoin', async () => {
  const accountId = await store.account();
  const { destination } = await addStream(accountId, '/some', {
    shape: 'array',
    stream: {
      fromId: 1,
      actionTypes: ['destination_added', 'delivery_accepted'],
      actors: ['command_line'],
      format: 'ecs',
    },
  });
  await write(accountId, 20);
  const last = await newest(accountId);
  await addStream(accountId, '/other');
  await reaches(destination.id, last + 1);
  const requests = requestsOf('/some');
  const actions = requests.flatMap(({ body }) => JSON.parse(body)).map(({ event }) => event.action);
  expect(new Set(actions)).toEqual(new Set(['destination_added']));
  expect(range(requests[0] as ReceivedRequest)[0]).toBe(1);
  expect(
    requests
      .slice(1)
      .every((request, at) => range(request)[0] === range(requests[at] as ReceivedRequest)[1] + 1),
  ).toBe(true);
});

test('a stream that was disabled goes on where it was, skips what it missed, or begins again', async () => {
  const accountId = await store.account();
  const { destination } = await addStream(accountId, '/later', { stream: { fromId: 1, format: 'sealed' } });
  const { id } = destination;
  await reaches(id, (await newest(accountId)) + 1);
  await changeAccount(store.writer, accountId, (change) => disableDestination(change, id, 'Test.'));
  await write(accountId, 3);
  const last = await newest(accountId);
  await changeAccount(store.writer, accountId, (change) => enableDestination(change, id, 'send'));
  await reaches(id, last + 1);
  expect(requestsOf('/later').flatMap(idsIn)).toEqual(expect.arrayContaining([last, last - 1, last - 2]));
  await changeAccount(store.writer, accountId, (change) =>
    changeDestination(change, store.deps.secret, { allowPrivate: true }, id, { stream: { fromId: 1 } }),
  );
  await reaches(id, last + 1);
  expect(
    requestsOf('/later')
      .flatMap(idsIn)
      .filter((entry) => entry === 1),
  ).toHaveLength(2);
});

test('the bodies that a stream delivered are proved against the seals', async () => {
  const accountId = await store.account();
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-delivered-'));
  await write(accountId, 1_200);
  const { destination } = await addStream(accountId, '/proof', {
    shape: 'array',
    stream: { fromId: 1, format: 'sealed' },
  });
  const last = await newest(accountId);
  await reaches(destination.id, last + 1);
  const bodies = requestsOf('/proof').map(({ body }) => body);
  for (const [n, body] of bodies.entries()) writeFileSync(join(folder, `${n}.json`), body);
  const owner = openPool(store.address, 'owner', { max: 1 });
  for await (const _ of sealEntries({ owner, secret: store.deps.secret, activityDays: null }, accountId));
  await owner.end();
  const verify = () =>
    verifyDelivered({ directory: folder, accountId, fromId: 1, toId: null }, async () => ({
      seals: storedSeals(within(store.writer), accountId),
      trusts: () => true,
    }));
  expect(await verify()).toMatchObject({ verified: true, first_id: 1, files: bodies.length, doubled: 0 });
  rmSync(join(folder, '1.json'));
  expect(await verify()).toMatchObject({
    verified: false,
    first_bad_id: 501,
    how: 'deleted',
    file: '0.json',
  });
  rmSync(folder, { recursive: true });
});

test('metrics and doctor tell how far a stream is behind, and why', async () => {
  const accountId = await store.account();
  statuses.set('/slow', Array(9).fill(503));
  const { destination } = await addStream(accountId, '/slow', { stream: { fromId: 1 } });
  const { id } = destination;
  await store.writer.query('update destination set name = $2 where destination_id = $1', [id, 'SIEM']);
  await write(accountId, 40);
  await firstRow(
    store,
    'select 1 as there from destination_queue where destination_id = $1 and failing_since is not null',
    [id],
  );
  const owner = openPool(store.address, 'owner', { max: 1 });
  await owner.query(
    `update activity set occurred_at = now() - interval '20 min' where account_id = $1 and id = 1`,
    [accountId],
  );
  await owner.end();
  const entries = await newest(accountId);
  const scraped = async () => {
    const registry = new Registry();
    notificationMetrics(registry).watchStores(() => [{ labels: {}, ask: () => readFigures(store.writer) }]);
    return registry.metrics();
  };
  const series = `{account="${accountId}",destination="${id}"}`;
  expect(await scraped()).toContain(`dbvitals_log_stream_behind_entries${series} ${entries}\n`);
  expect(await scraped()).toMatch(new RegExp(`dbvitals_log_stream_behind_seconds${series} 120\\d\n`));
  const diagnose = async () => (await checkNotifications({ smtpUrl: null }, store.writer)).message;
  expect(await diagnose()).toMatch(
    new RegExp(
      `Destination "SIEM" of account ${accountId} has failed since .*503.* It is ${entries} entries and 20 min behind the log\\.`,
    ),
  );
  statuses.delete('/slow');
  await store.writer.query('update log_stream set due_at = now() where destination_id = $1', [id]);
  await reaches(id, entries + 1);
  expect(await scraped()).toContain(`dbvitals_log_stream_behind_entries${series} 0\n`);
  expect(await diagnose()).not.toContain(`account ${accountId} `);
  await changeAccount(store.writer, accountId, (change) => disableDestination(change, id, 'Test.'));
  expect(await scraped()).not.toContain(series);
});

test('a batch whose answer was lost is one object of S3', async () => {
  const accountId = await store.account();
  const objects = new Map<string, string>();
  const bucket = await startReceiver(({ path, headers, body }) => {
    const isNew = !objects.has(path);
    if (headers['if-none-match'] === '*' && !isNew) return 412;
    objects.set(path, body);
    return objects.size === 1 && isNew ? 503 : 200; // stored, and said to be not
  });
  const { destination } = await addStream(accountId, '/unused', {
    channel: 's3',
    url: `${bucket.url}/logs/audit`,
    authorization: 'ACMEKEY:unspoken-secret',
    region: 'eu-central-1',
    encryption: 'aws:kms',
    stream: { fromId: 1 },
  });
  const { id } = destination;
  expect(JSON.stringify(destination)).not.toContain('unspoken');
  await firstRow(
    store,
    'select 1 as there from destination_queue where destination_id = $1 and last_result like $2',
    [id, '503%'],
  );
  await store.writer.query('update log_stream set due_at = now() where destination_id = $1', [id]);
  await reaches(id, 2);
  const [first, second] = bucket.got;
  expect(second?.path).toBe(first?.path);
  expect(first?.headers).toMatchObject({
    authorization: expect.stringMatching(/Credential=ACMEKEY\/\d{8}\/eu-central-1\/s3\/aws4_request/),
    'x-amz-server-side-encryption': 'aws:kms',
  });
  expect(objects.size).toBe(1);
  await write(accountId, 3);
  await reaches(id, await newest(accountId));
  const ranges = [...objects.keys()].map((path) => /\/(\d{16})-(\d{16})\./.exec(path)?.slice(1).map(Number));
  expect(ranges.every((one, at) => one?.[0] === (at === 0 ? 1 : (ranges[at - 1]?.[1] ?? 0) + 1))).toBe(true);
  await bucket.stop();
});

test('a receiver that takes less than a batch gets smaller ones, in order, and says which entry is too large', async () => {
  const accountId = await store.account();
  const sizes: number[] = [];
  const small = await startReceiver(({ body }) => {
    if (body.length > 20_000) return 413;
    sizes.push(body.length);
    return 200;
  });
  await write(accountId, 250);
  const { destination } = await addStream(accountId, '/unused', {
    url: `${small.url}/small`,
    stream: { fromId: 1 },
  });
  const last = await newest(accountId);
  await reaches(destination.id, last + 1);
  const taken = small.got.filter(({ body }) => body.length <= 20_000);
  expect(taken.flatMap(idsIn)).toEqual(Array.from({ length: last }, (_, at) => at + 1));
  expect(sizes.length).toBeGreaterThan(2);
  await changeAccount(store.writer, accountId, async ({ record }) => {
    record('connection_tagged', '/c', { connection_id: 1, name: 'x'.repeat(30_000), added: [], removed: [] });
  });
  await firstRow(
    store,
    'select 1 as there from destination_queue where destination_id = $1 and last_result like $2',
    [destination.id, '413%'],
  );
  await small.stop();
});

test('a receiver that was down for an hour: few attempts, and all entries afterwards, in order', async () => {
  const accountId = await store.account();
  await write(accountId, 3_000);
  statuses.set('/hour', Array(1_000).fill(503));
  const { destination } = await addStream(accountId, '/hour', { stream: { fromId: 1 } });
  const pauses: number[] = [];
  for (let attempts = 1; pauses.reduce((sum, pause) => sum + pause, 0) < 3_600; attempts += 1) {
    const { pause } = await firstRow<{ pause: number }>(
      store,
      `select extract(epoch from due_at - now())::float8 as pause from log_stream where destination_id = $1 and attempts = $2`,
      [destination.id, attempts],
    );
    pauses.push(pause);
    // Instead of waiting: the pause is over, and the log grows meanwhile.
    await write(accountId, 100);
    await store.writer.query('update log_stream set due_at = now() where destination_id = $1', [
      destination.id,
    ]);
  }
  expect(pauses.length).toBeLessThan(25);
  expect(pauses[0]).toBeLessThan(6);
  expect(Math.max(...pauses)).toBeLessThan(331);
  statuses.delete('/hour');
  const hasten = setInterval(
    () => store.writer.query('update log_stream set due_at = now() where attempts > 0'),
    200,
  );
  const last = await newest(accountId);
  await reaches(destination.id, last + 1);
  clearInterval(hasten);
  const accepted = requestsOf('/hour').slice(pauses.length);
  const ids = accepted.flatMap(idsIn);
  expect([...new Set(ids)]).toEqual(Array.from({ length: last }, (_, at) => at + 1));
});

test('a collector that rejects a record gets the batch again', async () => {
  const accountId = await store.account();
  const answers = ['{"partialSuccess":{"rejectedLogRecords":"1"}}'];
  const collector = await startReceiver(undefined, () => answers.shift() ?? '{}');
  const { destination } = await addStream(accountId, '/unused', {
    channel: 'otlp_logs',
    url: `${collector.url}/v1/logs`,
    stream: { fromId: 1 },
  });
  await collector.requests('/v1/logs', 1);
  await firstRow(
    store,
    'select 1 as there from destination_queue where destination_id = $1 and last_result = $2',
    [destination.id, 'The collector rejected 1 log records.'],
  );
  await store.writer.query('update log_stream set due_at = now() where destination_id = $1', [
    destination.id,
  ]);
  await reaches(destination.id, 2);
  const [first, second] = await collector.requests('/v1/logs', 2);
  expect(second?.body).toBe(first?.body);
  expect(JSON.parse(first?.body ?? '').resourceLogs[0].scopeLogs[0].logRecords).toHaveLength(1);
  await collector.stop();
});

test('dead receivers of an account delay no stream of another, and no change waits for them', async () => {
  const accountId = await store.account();
  const other = await store.account();
  for (let n = 0; n < 20; n += 1) {
    statuses.set(`/dead?${n}`, Array(10).fill(0));
    await addStream(accountId, `/dead?${n}`, { stream: { fromId: 1 } });
  }
  const { destination } = await addStream(other, '/alive', { stream: { fromId: 1 } });
  await write(other, 5);
  await reaches(destination.id, await newest(other));
  expect(requestsOf('/alive').length).toBeGreaterThan(0);
  receiver.breakOff();
});

test('streams in trouble get a part of the room, shared by their accounts, and others the rest', async () => {
  await Promise.all(running.splice(0).map((rounds) => rounds.stop()));
  const accounts = await Promise.all(Array.from({ length: 6 }, () => store.account()));
  for (const accountId of accounts)
    for (let n = 0; n < 10; n += 1) await addStream(accountId, `/placed?${n}`, { stream: { fromId: 1 } });
  const [calm = 0, ...troubled] = accounts;
  await store.writer.query(
    `update log_stream set attempts = case when account_id = $1 then 0 else 3 end,
                           due_at = case when account_id = any($2) then now() else 'infinity' end`,
    [calm, accounts],
  );
  const held: HeldBatch[] = [];
  const count = (accountId: number) => held.filter((batch) => batch.accountId === accountId).length;
  for (let round = 0; round < 6; round += 1) {
    const leases = await leaseStreams(store.writer, streamRoom(held, 0), []);
    held.push(...leases.map((lease) => ({ ...lease, since: 0, bytes: 1_048_576 })));
  }
  expect(count(calm)).toBe(10);
  expect(troubled.map(count).toSorted()).toEqual([4, 5, 5, 5, 5]);
});

test('retention keeps what a stream needs for a week after it said so, and says what was lost', async () => {
  const accountId = await store.account();
  const { destination } = await addStream(accountId, '/kept', { stream: { fromId: 1 } });
  await changeAccount(store.writer, accountId, (change) =>
    disableDestination(change, destination.id, 'Test.'),
  );
  await store.writer.query('update log_stream set next_id = 1, scanned_id = 0 where destination_id = $1', [
    destination.id,
  ]);
  const owner = openPool(store.address, 'owner', { max: 1 });
  await owner.query(
    `insert into activity_seal (account_id, number, first_id, last_id, last_at, cut_to, leaves_sha256, previous, public_key, sealed_at, signature)
     select $1, 1, 1, 2, now(), 2, bytes, bytes, bytes, now(), bytes || bytes from (select decode(repeat('00', 32), 'hex') as bytes) zero`,
    [accountId],
  );
  const said = async () => {
    const rows = await rowsOf<{ type: string; first: number; last: number }>(
      store,
      `select action_type as type, (properties ->> 'first_id')::int as first, (properties ->> 'last_id')::int as last
         from activity where account_id = $1 and action_type like 'log_stream_%' order by id`,
      [accountId],
    );
    return rows.map(({ type, first, last }) => `${type} ${first} ${last}`);
  };
  const prune = async () => {
    let pruned = 0;
    for await (const entries of pruneEntries(owner)) pruned += entries;
    await recordMissed(owner);
    return pruned;
  };
  expect(await prune()).toBe(0);
  await warnOfUndelivered(owner);
  await warnOfUndelivered(owner);
  expect([await prune(), await said()]).toEqual([0, ['log_stream_behind 1 2']]);
  await owner.query("update log_stream set warned_at = now() - interval '7 days 1 s' where account_id = $1", [
    accountId,
  ]);
  expect([await prune(), await said()]).toEqual([2, ['log_stream_behind 1 2', 'log_stream_missed 1 2']]);
  const rows = await rowsOf(store, 'select next_id from log_stream where destination_id = $1', [
    destination.id,
  ]);
  expect(rows).toEqual([{ next_id: 3 }]);
  await owner.end();
});
