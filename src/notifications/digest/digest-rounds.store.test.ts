import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { openPool } from '../../store/connect.ts';
import { within } from '../../store/read.ts';
import { changeDestination } from '../destinations/change-destination.ts';
import type { DestinationFilters, NewDestination } from '../destinations/destination-input.ts';
import { readDestination } from '../destinations/destination-row.ts';
import { disableDestination } from '../destinations/disable-destination.ts';
import { removeDestination } from '../destinations/remove-destination.ts';
import { sendDigest } from '../destinations/test-destination.ts';
import {
  addTo,
  newEvent,
  queue,
  rowsOf,
  runDispatcher,
  startReceiver,
} from '../dispatch/dispatcher-fixture.ts';
import { troubledDestinations } from '../dispatch/troubled-destinations.ts';
import { digestRound, startDigestRounds } from './digest-rounds.ts';

let store: TestStore;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let dispatcher: { stop(): Promise<void> };
const digest = { every: 'mon', at: '07:00', time_zone: 'Europe/Berlin' } as const;

beforeAll(async () => {
  store = await startTestStore();
  receiver = await startReceiver(({ path }) => (path === '/silent' ? 0 : 200));
  dispatcher = runDispatcher(store);
});
afterAll(async () => {
  await dispatcher?.stop();
  await receiver?.stop();
  await store?.stop();
});

const slack = (path: string, more: Partial<NewDestination> = {}): NewDestination => ({
  name: 'Team',
  channel: 'slack',
  url: `${receiver.url}${path}`,
  digest,
  ...more,
});

/** Makes the digest of a destination due since so long. */
async function makeDue(accountId: number, id: number, ago = '1 second'): Promise<Date> {
  const [row] = await rowsOf<{ due: Date }>(
    store,
    `update destination_queue set digest_due_at = date_trunc('milliseconds', now() - $3::interval)
      where account_id = $1 and destination_id = $2 returning digest_due_at as due`,
    [accountId, id, ago],
  );
  if (!row) throw new Error('no destination');
  return row.due;
}

const insertTicket = `
  insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line,
                      remediation, first_seen_at, last_seen_at)
  values ($1, $2, 'PG_TEST', null, 'schema', 'A title', 'critical', 'open', '', '', now() - interval '1 hour', now())`;

const digestsOf = (accountId: number) =>
  rowsOf<{
    destination_id: number;
    details: { digest: { title: string; summary: string[] } };
    data: { from: string };
  }>(
    store,
    `select d.destination_id, e.details, e.body::jsonb -> 'data' as data
       from event e join delivery d using (account_id, event_id)
      where account_id = $1 and kind = 'digest' order by d.delivery_id`,
    [accountId],
  );
const read = (accountId: number, id: number) => readDestination(within(store.writer), accountId, id);
const change = (accountId: number, id: number, wanted: DestinationFilters) =>
  changeAccount(store.writer, accountId, (made) =>
    changeDestination(made, store.deps.secret, { allowPrivate: true }, id, wanted),
  );

test('a digest that is due is sent once, however many services look, and is due again in a week', async () => {
  const accountId = await store.account();
  await store.connection(accountId);
  const id = await addTo(store, accountId, slack('/once'));
  const { next_digest_at: first } = await read(accountId, id);
  expect(first?.getTime()).toBeGreaterThan(Date.now());
  await digestRound(store.writer);
  expect(await digestsOf(accountId)).toEqual([]);

  await makeDue(accountId, id);
  const pools = Array.from({ length: 4 }, () => openPool(store.address, 'writer', { max: 1 }));
  await Promise.all(pools.map((pool) => digestRound(pool)));
  await Promise.all(pools.map((pool) => pool.end()));
  const [sent] = await receiver.requests('/once', 1);
  expect(sent?.body).toContain('1 database, no score yet. Nothing opened, and nothing is open.');
  expect(sent?.body).toContain('No backup is expected.');
  expect(await digestsOf(accountId)).toHaveLength(1);
  expect((await read(accountId, id)).next_digest_at).toEqual(first);
});

test('a process that is killed before its commit has sent nothing, and another one sends it', async () => {
  const accountId = await store.account();
  const id = await addTo(store, accountId, slack('/killed'));
  await makeDue(accountId, id);
  const root = await store.writer.connect();
  // The round of the process that will be killed waits for the lock of the account.
  await root.query('begin');
  await root.query('select from activity_head where account_id = $1 for update', [accountId]);
  const pool = openPool(store.address, 'writer', { max: 1, name: 'killed' });
  pool.on('error', () => {});
  const killed = digestRound(pool).then(
    () => 'committed',
    () => 'killed',
  );
  const superuser = await store.superuser('store');
  const end = `
    select pg_terminate_backend(pid) as ended
      from pg_stat_activity
     where wait_event_type = 'Lock' and application_name like '%killed%'`;
  try {
    await expect.poll(async () => (await superuser.query(end)).rowCount).toBe(1);
    expect(await killed).toBe('killed');
  } finally {
    await root.query('rollback');
    root.release();
    await pool.end();
  }
  expect(await digestsOf(accountId)).toEqual([]);
  await digestRound(store.writer);
  await digestRound(store.writer);
  await receiver.requests('/killed', 1);
  expect(await digestsOf(accountId)).toHaveLength(1);
});

test('after an outage of weeks one digest covers all of it', async () => {
  const accountId = await store.account();
  const id = await addTo(
    store,
    accountId,
    slack('/late', { digest: { ...digest, every: 'day', time_zone: 'UTC' } }),
  );
  const due = await makeDue(accountId, id, '3 days');
  await digestRound(store.writer);
  await digestRound(store.writer);
  const digests = await digestsOf(accountId);
  expect(digests).toHaveLength(1);
  const from = Date.parse(digests[0]?.data.from ?? '');
  expect(from).toBeLessThan(due.getTime());
  expect(from).toBeGreaterThan(due.getTime() - 86_400_001);
});

test('a destination that is disabled or removed gets none, and the schedule goes on', async () => {
  const accountId = await store.account();
  const off = await addTo(store, accountId, slack('/off', { name: 'Off' }));
  const gone = await addTo(store, accountId, slack('/gone', { name: 'Gone' }));
  const on = await addTo(store, accountId, slack('/on', { name: 'On' }));
  for (const id of [off, gone, on]) await makeDue(accountId, id);
  await changeAccount(store.writer, accountId, (made) => disableDestination(made, off, 'Disabled by Ada.'));
  await changeAccount(store.writer, accountId, (made) => removeDestination(made, gone));
  await digestRound(store.writer);
  expect((await digestsOf(accountId)).map(({ destination_id }) => destination_id)).toEqual([on]);
  expect((await read(accountId, off)).next_digest_at?.getTime()).toBeGreaterThan(Date.now());
});

test('it is a message by itself, beside what else the destination gets', async () => {
  const accountId = await store.account();
  const id = await addTo(store, accountId, slack('/alone'));
  await queue(store, accountId, [newEvent({ alertId: 7 })]);
  await makeDue(accountId, id);
  await digestRound(store.writer);
  await rowsOf(
    store,
    `update delivery set due_at = now(), queued_at = now() - interval '31 s' where account_id = $1 returning 1`,
    [accountId],
  );
  await rowsOf(store, 'update destination_queue set due_at = now() where account_id = $1 returning 1', [
    accountId,
  ]);
  const bodies = (await receiver.requests('/alone', 2)).map(({ body }) => body);
  expect(bodies.filter((body) => body.includes('No backup is expected'))).toHaveLength(1);
  expect(bodies.filter((body) => body.includes('Score below 50'))).toHaveLength(1);
});

test('it tells of the connections of its destination only', async () => {
  const accountId = await store.account();
  const [prod, other] = [await store.connection(accountId), await store.connection(accountId)];
  await rowsOf(
    store,
    `update connection set name = case connection_id when $2 then 'prod-1' else 'secret' end where account_id = $1 returning 1`,
    [accountId, prod],
  );
  for (const connection of [prod, other]) await store.writer.query(insertTicket, [accountId, connection]);
  const id = await addTo(store, accountId, slack('/scope', { connectionNames: ['prod-*'] }));
  await makeDue(accountId, id);
  await digestRound(store.writer);
  const [sent] = await digestsOf(accountId);
  expect(JSON.stringify(sent)).toContain('1 database, ');
  expect(JSON.stringify(sent)).toContain('Opened: 1 critical.');
  expect(JSON.stringify(sent)).not.toContain('secret');
});

test('a changed schedule is logged and begins anew, the same one goes on', async () => {
  const accountId = await store.account();
  const id = await addTo(store, accountId, slack('/changed'));
  const due = await makeDue(accountId, id);
  await change(accountId, id, { digest });
  expect((await read(accountId, id)).next_digest_at).toEqual(due);
  await change(accountId, id, { digest: { ...digest, every: 'day', time_zone: 'europe/berlin' } });
  const changed = await read(accountId, id);
  expect(changed.digest).toEqual({ ...digest, every: 'day' });
  expect(changed.next_digest_at?.getTime()).toBeGreaterThan(Date.now());
  await change(accountId, id, { digest: null });
  expect(await read(accountId, id)).toMatchObject({ digest: null, next_digest_at: null });
  const entries = await rowsOf<{ properties: Record<string, unknown> }>(
    store,
    `select properties from activity where account_id = $1 and action_type = 'destination_changed' order by id`,
    [accountId],
  );
  expect(entries.slice(1).map(({ properties }) => properties)).toMatchObject([
    { changed: ['digest'], from: { digest }, to: { digest: { ...digest, every: 'day' } } },
    { changed: ['digest'], to: { digest: null } },
  ]);
  await expect(change(accountId, id, { digest: { ...digest, time_zone: 'Mars/Base' } })).rejects.toThrow(
    'no such time zone',
  );
});

test('a digest that is asked for holds neither the lock of the account nor a connection of the pool while it is read and sent', async () => {
  const accountId = await store.account();
  const id = await addTo(store, accountId, slack('/silent'));
  const pool = openPool(store.address, 'writer', { max: 1, statementTimeout: 5_000 });
  const steps: string[] = [];
  const isFree = async (step: string) => {
    await changeAccount(pool, accountId, async ({ client }) => {
      await client.query('select 1');
    });
    steps.push(step);
  };
  const sending = sendDigest((work) => changeAccount(pool, accountId, work), pool, id, {
    patience: 3_000,
    read: async (work) => {
      await isFree('read');
      return work(within(store.writer));
    },
  });
  await receiver.requests('/silent', 1);
  await isFree('sent');
  expect(await sending).toMatchObject({ accepted: null });
  expect(steps).toEqual(['read', 'sent']);
  receiver.breakOff();
  await pool.end();
});

test('a digest names no ticket if the plan has none', async () => {
  const accountId = await store.account();
  const connection = await store.connection(accountId);
  await store.writer.query(insertTicket, [accountId, connection]);
  await rowsOf(
    store,
    `update account set plan = 'team', requests_per_minute = null where account_id = $1 returning 1`,
    [accountId],
  );
  const id = await addTo(store, accountId, slack('/plan'));
  await makeDue(accountId, id);
  await digestRound(store.writer);
  const [sent] = await receiver.requests('/plan', 1);
  expect(sent?.body).toContain('1 database, no score yet.');
  expect(sent?.body).not.toMatch(/A title|opened|critical/i);
});

test('programs take no digest', async () => {
  const accountId = await store.account();
  await expect(addTo(store, accountId, slack('/hook', { channel: 'webhook' }))).rejects.toThrow(
    'The channel webhook takes no digest: choose slack, mattermost, teams, discord, email.',
  );
});

test('a digest that can not be made is logged and told, is late for doctor, and keeps no other account from its own', async () => {
  const [broken, well] = [await store.account(), await store.account()];
  const bad = await addTo(store, broken, slack('/broken'));
  const good = await addTo(store, well, slack('/well'));
  await makeDue(broken, bad, '2 hours');
  await makeDue(well, good);
  await rowsOf(
    store,
    `update destination set digest = digest || '{"time_zone": "Mars/Base"}' where account_id = $1 returning 1`,
    [broken],
  );
  const failures: string[] = [];
  const lines: unknown[] = [];
  const log = { error: (...line: unknown[]) => void lines.push(line), isLevelEnabled: () => false };
  const rounds = startDigestRounds(
    { writer: store.writer, log: log as never, failed: (work) => failures.push(work) },
    { first: 1, every: 60_000 },
  );
  await receiver.requests('/well', 1);
  await rounds.stop();
  expect(failures).toEqual(['digests']);
  expect(JSON.stringify(lines)).toContain('a digest could not be made');
  const troubled = await troubledDestinations(store.writer);
  expect(troubled.filter(({ account_id }) => account_id === broken)).toMatchObject([
    { name: 'Team', digest_late_since: expect.any(Date) },
  ]);
  expect(troubled.filter(({ account_id }) => account_id === well)).toEqual([]);
  await rowsOf(store, 'update destination set digest = null where account_id = $1 returning 1', [broken]);
});
