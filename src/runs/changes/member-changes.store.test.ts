import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { changeConnection } from '../../connections/change-connection.ts';
import { removeConnection } from '../../connections/remove-connection.ts';
import { type Key, runOnce } from '../../monitor/run-fixture.ts';
import { openPool } from '../../store/connect.ts';
import { addSilence } from '../../tickets/silences/add-silence.ts';
import { endSilence } from '../../tickets/silences/end-silence.ts';
import { changesOf, NOTHING } from './changes-fixture.ts';
import { listChanges } from './list-changes.ts';
import { pruneChanges } from './prune-changes.ts';

let store: TestStore;
let owner: pg.Pool;
beforeAll(async () => {
  store = await startTestStore();
  owner = openPool(store.address, 'owner', { max: 1 });
});
afterAll(async () => {
  await owner.end();
  await store.stop();
});

const read = async <Row>(statement: string, values: unknown[]) =>
  (await store.writer.query(statement, values)).rows as Row[];
const listed = async (key: Key) =>
  (await changesOf(store, key)).map(({ id: _id, at: _at, ...change }) => change);

/** A change by Ada, or by a command. */
const as =
  ({ accountId }: Key, author?: string) =>
  <T>(work: (change: Change) => Promise<T>) =>
    changeAccount(store.writer, accountId, (change) => work({ ...change, ...(author && { author }) }));

const silence = {
  check_id: 'PG_NO_PRIMARY_KEY',
  object: null,
  reason: 'wont_fix',
  note: 'x',
  until: null,
} as const;
const title = 'Table without primary key';

test('silences that a member adds and ends, or that expire, are changes', async () => {
  const key = await store.watched();
  await runOnce(store, key);
  const until = new Date(Date.now() + 3_600_000);
  const { id } = await addSilence(as(key, 'Ada'), key.connectionId, { ...silence, object: 'public.t' });
  await addSilence(as(key), key.connectionId, { ...silence, until });
  await endSilence(as(key, 'Bob'), id);
  await runOnce(store, key);
  const before = [
    { ...NOTHING, kind: 'silence', subject: `${title}: public.t`, after: 'won’t fix', source: 'Ada' },
    {
      ...NOTHING,
      kind: 'silence',
      subject: title,
      after: `won’t fix until ${until.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
      source: 'command line',
    },
    { ...NOTHING, kind: 'silence', subject: `${title}: public.t`, before: 'won’t fix', source: 'Bob' },
  ];
  expect(await listed(key)).toEqual(before);
  await store.writer.query('update silence set ends_at = clock_timestamp() where ends_at > now()');
  await runOnce(store, key);
  await runOnce(store, key);
  const expired = { ...NOTHING, kind: 'silence', subject: title, before: 'won’t fix', source: 'expired' };
  expect(await listed(key), 'once').toEqual([...before, expired]);
});

test('thresholds that a member changes are changes, with the default', async () => {
  const key = await store.watched();
  const change = (thresholds: Record<string, Record<string, number | null>>, more = {}) =>
    changeConnection(as(key, 'Ada'), store.deps.secret, key.connectionId, { thresholds, ...more });
  await change({ PG_CONN_SATURATION: { warning: 0.7 } });
  await change({ PG_CONN_SATURATION: { warning: null } }, { expectedStandbys: 2 });
  await change({}, { name: 'other' });
  const threshold = { ...NOTHING, kind: 'threshold', subject: 'PG_CONN_SATURATION warning', source: 'Ada' };
  expect(await listed(key)).toEqual([
    { ...threshold, before: '0.8 (default)', after: '0.7' },
    { ...threshold, before: '0.7', after: '0.8 (default)' },
    { ...threshold, subject: 'expected standbys', before: '0', after: '2' },
  ]);
});

test('findings that come and go after the first run are changes', async () => {
  const root = await store.superuser('postgres');
  const key = await store.watched();
  await runOnce(store, key);
  await root.query('create table keyless (a int); insert into keyless values (1)');
  await runOnce(store, key);
  await runOnce(store, key);
  await root.query('drop table keyless');
  await runOnce(store, key);
  const all = { from: new Date(0), to: new Date('2100-01-01'), kinds: ['finding'], limit: 100 };
  const changes = (await listChanges(read, key.accountId, key.connectionId, all)).filter(({ subject }) =>
    subject.includes('keyless'),
  );
  expect(changes.toReversed()).toMatchObject([
    {
      kind: 'finding',
      database: 'postgres',
      subject: `${title}: public.keyless`,
      before: null,
      after: 'info',
    },
    {
      kind: 'finding',
      database: 'postgres',
      subject: `${title}: public.keyless`,
      before: 'info',
      after: null,
    },
  ]);
});

async function write({ accountId, connectionId }: Key, count: number, at: string): Promise<void> {
  const text = `
    insert into connection_change (account_id, connection_id, at, kind, subject)
    select $1, $2, ${at}, 'table', 't' || n from generate_series(1, $3) n`;
  await store.writer.query(text, [accountId, connectionId, count]);
}

test('pages list every change once, also of one instant, while changes are added', async () => {
  const key = await store.watched();
  await write(key, 25, `timestamptz '2026-01-01' + (n / 10) * interval '1 us'`);
  const seen: string[] = [];
  let before: { at: string; id: number } | undefined;
  for (;;) {
    const wanted = {
      from: new Date('2025-12-31'),
      to: new Date('2026-01-02'),
      limit: 4,
      ...(before && { before }),
    };
    const page = await listChanges(read, key.accountId, key.connectionId, wanted);
    seen.push(...page.map(({ subject }) => subject));
    before = page.at(-1);
    if (!before) break;
    await write(key, 1, `timestamptz '2026-01-01 12:00'`);
  }
  expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => `t${25 - n}`));
});

test('a page is read from the primary key', async () => {
  const key = await store.watched();
  await write(key, 20_000, `now() - n * interval '1 min'`);
  await owner.query('analyze connection_change');
  const plans: string[] = [];
  const explain = async <Row>(statement: string, values: unknown[]) => {
    const { rows } = await store.writer.query(`explain (analyze, buffers) ${statement}`, values);
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    return [] as Row[];
  };
  const wanted = { from: new Date(Date.now() - 86_400_000 * 10), to: new Date(), limit: 50 };
  await listChanges(explain, key.accountId, key.connectionId, wanted);
  expect(plans[0]).toMatch(/Index Scan Backward using connection_change_pkey/);
  expect(plans[0]).not.toContain('Sort');
  expect(Number(/shared hit=(\d+)/.exec(plans[0] ?? '')?.[1])).toBeLessThan(20);
});

test('changes are kept for 13 months, and what was read of a database that is gone for 30 days', async () => {
  const key = await store.watched();
  await runOnce(store, key);
  await write(key, 1_500, `now() - interval '13 months 1 day'`);
  await write(key, 5, `now() - interval '12 months 29 days'`);
  await store.writer.query(
    `update fact_snapshot set read_at = now() - interval '31 days' where connection_id = $1 and kind = 'extension'`,
    [key.connectionId],
  );
  const removed: number[] = [];
  for await (const rows of pruneChanges(owner)) removed.push(rows);
  expect(removed.reduce((sum, rows) => sum + rows)).toBe(1_502);
  expect(removed.every((rows) => rows <= 1_000)).toBe(true);
  const { rows } = await store.writer.query('select from connection_change where connection_id = $1', [
    key.connectionId,
  ]);
  expect(rows).toHaveLength(5);
});

test('what was read of a connection ends with it; its changes stay', async () => {
  const key = await store.watched();
  await runOnce(store, key);
  await write(key, 1, 'now()');
  await removeConnection(as(key), key.connectionId);
  const count = async (table: string) =>
    (await store.writer.query(`select from ${table} where connection_id = $1`, [key.connectionId])).rowCount;
  expect([
    await count('fact_snapshot'),
    await count('redaction_key'),
    await count('connection_change'),
  ]).toEqual([0, 0, 1]);
});
