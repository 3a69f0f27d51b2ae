import { beforeAll, expect, inject, test } from 'vitest';
import { fillAccount, makeAccount, makeKey } from '../../test/contract/account.ts';
import { readLog } from '../../test/contract/activity-log.ts';
import { ask, each } from '../../test/contract/ask.ts';
import { fixtureJson } from '../../test/contract/fixture-command.ts';
import { type ActivityEntry, createClient, type DbvitalsClient } from '../src/index.ts';

// Ten thousand entries, read while a thousand arrive, by every way that the documentation names.
const ENTRIES = 10_000;
const ARRIVING = 1_000;

let accountId = 0;
let key = '';
let dbvitals: DbvitalsClient;

beforeAll(async () => {
  ({ id: accountId, key } = await makeAccount());
  dbvitals = createClient({ baseUrl: inject('origin'), apiKey: key });
  await fillAccount(accountId, { connections: 3, tickets: 30, activity: ENTRIES });
});

/** Reads while requests of another key arrive; gives the ids that were read, and the log's last id at the start and the end. */
async function readWhileArriving(reading: (arrivingBy: number) => AsyncIterable<ActivityEntry>) {
  const other = await makeKey(accountId, 'other');
  const [newest] = (await dbvitals.activity({ per_page: 1 }).pages().next()).value?.data ?? [];
  const ids: number[] = [];
  const read = async () => {
    for await (const { id } of reading(other.id)) ids.push(id);
  };
  const arrive = each(Array.from({ length: ARRIVING }), 8, () =>
    ask('/api/v1/health/fleet', { key: other.key }),
  );
  await Promise.all([read(), arrive]);
  return { ids, before: newest?.id ?? 0 };
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

test('pages by Link, latest first', async () => {
  const { ids, before } = await readWhileArriving(() => dbvitals.activity());
  const last = ids[0] ?? 0;
  expect(last).toBeGreaterThanOrEqual(before);
  expect(before).toBeGreaterThanOrEqual(ENTRIES);
  expect(ids.toReversed()).toEqual(upTo(last));
});

test('pages by Link, oldest first', async () => {
  const { ids, before } = await readWhileArriving(() => dbvitals.activity({ order: 'asc' }));
  expect(ids.length).toBeGreaterThanOrEqual(before);
  expect(ids).toEqual(upTo(ids.length));
});

test('after_id, page by page', async () => {
  const { ids, before } = await readWhileArriving(async function* () {
    for (let after = 0; ; ) {
      const { value: page } = await dbvitals.activity({ order: 'asc', after_id: after }).pages().next();
      yield* page?.data ?? [];
      if (!page?.meta.has_more) return;
      after = page.data.at(-1)?.id ?? after;
    }
  });
  expect(ids.length).toBeGreaterThanOrEqual(before);
  expect(ids).toEqual(upTo(ids.length));
});

test('follow, with all that arrived, and on from an id', async () => {
  let arrived = 0;
  const { ids, before } = await readWhileArriving(async function* (other) {
    for await (const entry of dbvitals.activity.follow({ afterId: 0, pollSeconds: 0.05 })) {
      yield entry;
      if (entry.properties['api_key_id'] === other) arrived += 1;
      if (arrived === ARRIVING) return;
    }
  });
  expect(ids.length).toBeGreaterThan(before);
  expect(ids).toEqual(upTo(ids.length));

  const last = (await readLog(key, ids.length)).at(-1)?.id ?? 0;
  const later: number[] = [];
  for await (const { id } of dbvitals.activity.follow({ afterId: ids.length })) {
    later.push(id);
    if (id === last) break;
  }
  expect(later).toEqual(upTo(last).slice(ids.length));
});

test('follow of one kind of action', async () => {
  const ids: number[] = [];
  for await (const entry of dbvitals.activity.follow({ afterId: 0, actionType: 'health_check_completed' })) {
    expect(entry.action_type).toBe('health_check_completed');
    ids.push(entry.id);
    if (ids.length === 150) break;
  }
  const expected: number[] = [];
  for await (const { id } of dbvitals.activity({ order: 'asc', action_type: 'health_check_completed' })) {
    expected.push(id);
    if (expected.length === 150) break;
  }
  expect(ids).toEqual(expected);
});

test('an id that the log has not come to is told, not waited for', async () => {
  const entries = dbvitals.activity.follow({ afterId: 5_000_000, pollSeconds: 0.01 });
  await expect(entries.next()).rejects.toMatchObject({ code: 'entry_missing' });
});

test('every list, every single answer', async () => {
  const tickets: number[] = [];
  for await (const { id, status } of dbvitals.tickets({ status: 'resolved', per_page: 7 })) {
    expect(status).toBe('resolved');
    tickets.push(id);
  }
  expect(new Set(tickets).size).toBe(tickets.length);
  const { value } = await dbvitals.tickets({ status: 'resolved' }).pages().next();
  expect(tickets).toHaveLength(value?.meta.total ?? -1);

  const connections = await collect(dbvitals.connections({ per_page: 2 }));
  const fleet = await dbvitals.fleet();
  expect(connections.map(({ id }) => id)).toEqual(fleet.data.map(({ id }) => id));
  expect(fleet.summary.total).toBe(3);
  const { checks, score } = await dbvitals.latestCheck(connections[0]?.id ?? 0);
  expect(score).toBe(connections[0]?.score);
  expect(checks.length).toBeGreaterThan(10);
  expect((await dbvitals.ticketStatistics()).open_count + tickets.length).toBeGreaterThanOrEqual(30);
  const role = ['--role', 'auditor', '--email', 'ada@example.com'];
  await fixtureJson(['member', 'add', '--account', String(accountId), '--name', 'Ada', ...role]);
  expect((await collect(dbvitals.members())).map(({ name }) => name)).toContain('Ada');
  expect((await collect(dbvitals.roles())).map(({ id }) => id)).toContain('auditor');
});
