import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { rollUp } from '../../runs/measures/roll-up.ts';
import { openPool } from '../../store/connect.ts';
import { handOut } from './hand-out.ts';
import { storeCollected } from './store-collected.ts';
import { storePast } from './store-past.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function collected(every = '5 min') {
  const accountId = await store.account();
  const connectionId = await store.connection(accountId);
  const { rows } = await store.writer.query<{ id: number }>(
    `insert into collector (account_id, name, public_key, created_at, enrolled_at, last_contact_at)
     values ($1, 'frankfurt', sha256('k'), now(), now(), now()) returning collector_id as id`,
    [accountId],
  );
  const collectorId = rows[0]?.id ?? 0;
  await store.writer.query(
    `insert into collected_connection (account_id, connection_id, collector_id, name) values ($1, $2, $3, 'shop')`,
    [accountId, connectionId, collectorId],
  );
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, $3, now())
     on conflict (account_id, connection_id) do update set every = excluded.every, due_at = now()`,
    [accountId, connectionId, every],
  );
  return { accountId, connectionId, collector: { accountId, collectorId } };
}

/** A result with one fault and one number. */
function reportOf(value = 7) {
  const fault = {
    status: 'critical' as const,
    severity: 'critical' as const,
    metric_line: 'No answer.',
    remediation: '',
    database: '',
    object: null,
  };
  return {
    outcomes: [
      { check: { id: 'CONN_UNREACHABLE' }, findings: [fault], measured: true, unmeasured: [], near: [] },
    ],
    samples: [],
    measures: [
      {
        checkId: '',
        metric: 'connections',
        database: '',
        object: null,
        value,
        operator: null,
        warning: null,
        critical: null,
      },
    ],
    readings: [],
    queries: null,
    cost: { milliseconds: 1, statements: 2, bytes: 3 },
    server: null,
  };
}

type Collected = Awaited<ReturnType<typeof collected>>;

function past({ collector }: Collected, at: number, value?: number, sentAt = Date.now()) {
  return storePast(store.deps, collector, { connection: 'shop', at, measured: reportOf(value) }, sentAt);
}

async function count(table: string, accountId: number): Promise<number> {
  const { rows } = await store.writer.query(`select count(*)::int as n from ${table} where account_id = $1`, [
    accountId,
  ]);
  return rows[0].n;
}

async function runs({ accountId }: Collected) {
  const { rows } = await store.writer.query<{ age: number; score: number }>(
    `select extract(epoch from now() - created_at)::float8 as age, score from health_check
      where account_id = $1 order by created_at`,
    [accountId],
  );
  return rows;
}

test('a past result is history with its time: no ticket, no entry, no message, and not the latest run', async () => {
  const own = await collected();
  const now = Date.now();
  expect(await past(own, now - HOUR)).toBe('stored');
  expect(await past(own, now - HOUR + 5 * MINUTE)).toBe('stored');
  const stored = await runs(own);
  expect(stored.map(({ score }) => score)).toEqual([0, 0]);
  expect(stored[0]?.age).toBeCloseTo(3_600, -1);
  expect(stored[1]?.age).toBeCloseTo(3_300, -1);
  for (const table of ['ticket', 'activity', 'event'])
    expect([table, await count(table, own.accountId)]).toEqual([table, 0]);
  const { rows } = await store.writer.query('select latest_check_id from connection where account_id = $1', [
    own.accountId,
  ]);
  expect(rows).toEqual([{ latest_check_id: null }]);
  expect(await count('measure_run', own.accountId)).toBe(2);
  expect(await count('measure_latest', own.accountId)).toBe(0);
});

test('it is stored once, in whatever number of deliveries at the same time', async () => {
  const own = await collected();
  const at = Date.now() - HOUR;
  const outcomes = await Promise.all([past(own, at), past(own, at), past(own, at)]);
  expect(outcomes.toSorted()).toEqual(['known', 'known', 'stored']);
  expect(await past(own, at - MINUTE)).toBe('known');
  expect(await count('health_check', own.accountId)).toBe(1);
});

test('a run that was judged, and whose answer was lost, is not stored again', async () => {
  const own = await collected();
  const [job] = await handOut(store.deps, own.collector, 5);
  const at = Date.now();
  await storeCollected(store.deps, own.collector, { run: job?.run ?? '', at, measured: reportOf() });
  expect(await past(own, at)).toBe('known');
  expect(await count('health_check', own.accountId)).toBe(1);
  // What was measured before it, while the service was away, is not known yet.
  expect(await past(own, at - 10 * MINUTE)).toBe('stored');
  expect(await past(own, at)).toBe('known');
});

test('what a hostile collector may store is bounded by its schedule and a day', async () => {
  const own = await collected();
  const now = Date.now();
  expect(await past(own, now - 26 * HOUR)).toBe('unwanted');
  expect(await past(own, now + MINUTE, 1, now)).toBe('unwanted');
  const outcomes: string[] = [];
  for (let at = now - 20 * MINUTE; at < now; at += 10_000) outcomes.push(await past(own, at));
  expect(outcomes.filter((one) => one === 'stored')).toHaveLength(8); // each 2.5 minutes
  expect(await count('health_check', own.accountId)).toBe(8);
});

test('a result counts only for a connection of its own collector, and for none of a revoked one', async () => {
  const [own, other] = [await collected(), await collected()];
  const at = Date.now() - HOUR;
  const foreign = { accountId: other.accountId, collectorId: own.collector.collectorId };
  expect(
    await storePast(store.deps, foreign, { connection: 'shop', at, measured: reportOf() }, Date.now()),
  ).toBe('unwanted');
  const unknown = { connection: 'other', at, measured: reportOf() };
  expect(await storePast(store.deps, own.collector, unknown, Date.now())).toBe('unwanted');
  await store.writer.query('update collector set revoked_at = now() where account_id = $1', [own.accountId]);
  expect(await past(own, at)).toBe('unwanted');
  for (const { accountId } of [own, other]) expect(await count('health_check', accountId)).toBe(0);
});

test('measures that arrive after their hours were rolled up are rolled up again', async () => {
  const own = await collected('1 min');
  const start = Date.now() - 6 * HOUR;
  expect(await past(own, start, 1)).toBe('stored');
  const owner = openPool(store.address, 'writer', { max: 2, statementTimeout: 10_000 });
  const roll = async () => {
    for await (const _ of rollUp(owner, {}));
  };
  try {
    await roll();
    for (let n = 1; n <= 5; n++) expect(await past(own, start + n * HOUR, 10 * n)).toBe('stored');
    await roll();
    const { rows } = await owner.query<{ last: (number | null)[] }>(
      'select last from measure_hour where account_id = $1 order by day',
      [own.accountId],
    );
    const hours = rows.flatMap(({ last }) => last).filter((value) => value !== null);
    // The hour that is not over is rolled up later.
    expect(hours.slice(0, 5)).toEqual([1, 10, 20, 30, 40]);
  } finally {
    await owner.end();
  }
});
