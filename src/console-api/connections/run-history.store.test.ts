import { afterAll, beforeAll, expect, test } from 'vitest';
import { buffersOf } from '../../../test/support/buffers.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import type { Finding } from '../../checks/check.ts';
import { storeChanges } from '../../runs/changes/store-changes.ts';
import { listedRuns } from '../../runs/list-runs.ts';
import { writeRuns } from '../../runs/measures/measures-fixture.ts';
import { selectRunValues } from '../../runs/measures/read-run-values.ts';
import { prepareMeasures, storeMeasures } from '../../runs/measures/store-measures.ts';
import { recordCheck } from '../../runs/record-check.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { ConnectionDetail } from './connection-schemas.ts';
import type { RunComparison, Runs } from './run-schemas.ts';

let store: TestStore;
let testConsole: TestConsole;

beforeAll(async () => {
  store = await startTestStore();
  testConsole = await openTestConsole(store);
});
afterAll(async () => {
  await testConsole.close();
  await store.stop();
});

interface Key {
  accountId: number;
  connectionId: number;
}

async function ownerWithConnection() {
  const owner = await testConsole.owner();
  const key = { accountId: owner.accountId, connectionId: await store.connection(owner.accountId) };
  return { ...owner, key, path: `/connections/${key.connectionId}/runs` };
}

function fault(object: string, severity: Finding['severity'], value: number): Finding {
  return {
    check_id: 'PG_DEAD_TUPLES',
    category: 'vacuum',
    status: severity,
    title: 'Dead rows',
    severity,
    metric_line: `${value} of ${object}`,
    remediation: '',
    database: 'shop',
    object,
    measured: { metric: 'dead_rows_ratio', value, operator: '>=', threshold: 0.2 },
  };
}

/** Stores a run of the connection as a monitor does; returns its id. */
async function storeRun(key: Key, findings: Finding[], values: Record<string, number> = {}): Promise<number> {
  const measures = Object.entries(values).map(([metric, value]) => ({
    checkId: '',
    metric,
    database: '',
    object: null,
    value,
    operator: null,
    warning: null,
    critical: null,
  }));
  const prepared = await prepareMeasures(store.writer, key, measures);
  return changeAccount(store.writer, key.accountId, async ({ client, at }) => {
    const cost = { milliseconds: 1, statements: 1, bytes: 1 };
    const { id } = await recordCheck(client, {
      ...key,
      at,
      score: 80,
      summaryText: 'A summary',
      findings,
      cost,
    });
    await storeMeasures(client, { ...key, at }, prepared);
    const change = { kind: 'setting', database: '', before: '1', after: '2', source: null } as const;
    await storeChanges(client, { ...key, at }, [{ ...change, subject: `of run ${findings.length}` }]);
    return id;
  });
}

const invalid = (parameter: string, message: string) => [400, 'invalid_parameter', message, parameter];
const notFound = [404, 'not_found', expect.any(String), undefined];

test('runs are listed newest first, page by page', async () => {
  const { key, path, read, refused } = await ownerWithConnection();
  expect(await read(path)).toEqual({ runs: [], next: null });
  const ids: number[] = [];
  for (let n = 0; n < 5; n++) ids.unshift(await storeRun(key, []));
  const pages: number[][] = [];
  for (let next: number | null | undefined; next !== null; ) {
    const page: Runs = await read(`${path}?limit=2${next === undefined ? '' : `&before=${next}`}`);
    pages.push(page.runs.map(({ id }) => id));
    next = page.next;
  }
  expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  const { runs } = await read<Runs>(path);
  expect(runs[0]).toEqual({
    id: ids[0],
    created_at: expect.any(String),
    score: 80,
    summary_text: 'A summary',
    complete: true,
    in_maintenance: false,
  });
  const other = await ownerWithConnection();
  expect(await other.refused(path)).toEqual(notFound);
  expect(await refused(`${path}?limit=201`)).toEqual(
    invalid('limit', 'limit must be a whole number, 1 to 200.'),
  );
});

test('two runs are compared by findings, values and what changed between them', async () => {
  const { key, path, read } = await ownerWithConnection();
  const from = await storeRun(key, [fault('a', 'warning', 0.3)], { old_count: 1, both_count: 1 });
  const to = await storeRun(key, [fault('a', 'critical', 0.5), fault('b', 'info', 0.2)], {
    both_count: 1.1,
    new_count: 3,
  });
  await storeRun(key, [], {});
  const compared = await read<RunComparison>(`${path}/compare?from=${from}&to=${to}`);
  expect([compared.from.id, compared.to.id]).toEqual([from, to]);
  expect(compared.findings).toMatchObject({
    worse: [
      {
        object: 'a',
        before: { severity: 'warning', metric_line: '0.3 of a' },
        after: { severity: 'critical', measured: { metric: 'dead_rows_ratio', value: 0.5, threshold: 0.2 } },
      },
    ],
    new: [{ object: 'b', before: null }],
    gone: [],
    better: [],
    unknown: [],
    unchanged: 0,
  });
  const values = compared.measures.map(({ metric, title, before, after }) => [metric, title, before, after]);
  expect(values).toEqual([
    ['old_count', 'Old', 1, null],
    ['both_count', 'Both', 1, 1.1],
    ['new_count', 'New', null, 3],
  ]);
  // Not what the earlier run found itself, and nothing of the run after.
  expect(compared.changes.map(({ subject }) => subject)).toEqual(['of run 2']);
});

test('runs whose findings were removed are compared by their scores and values', async () => {
  const { key, path, read } = await ownerWithConnection();
  const from = await storeRun(key, [fault('a', 'warning', 0.3)], { some_count: 1 });
  const to = await storeRun(key, [], { some_count: 2 });
  const root = await store.superuser('store');
  await root.query(
    `update health_check set findings = null, created_at = now() - interval '20 days 1 h'
      where account_id = $1 and health_check_id = $2`,
    [key.accountId, from],
  );
  await root.query(
    'delete from measure_run where account_id = $1 and measured_at < (select max(measured_at) from measure_run where account_id = $1)',
    [key.accountId],
  );
  await root.query(
    `insert into measure_hour (account_id, connection_id, series_id, day, last)
     select $1, $2, 1, (day at time zone 'UTC')::date,
            array_fill(null::real, array[extract(hour from day at time zone 'UTC')::int]) || array[7::real]
       from (select now() - interval '20 days 1 h' as day) d`,
    [key.accountId, key.connectionId],
  );
  const compared = await read<RunComparison>(`${path}/compare?from=${from}&to=${to}`);
  expect(compared).toMatchObject({
    findings: null,
    from: { complete: false, score: 80 },
    measures: [{ metric: 'some_count', before: 7, after: 2 }],
  });
});

test('runs that do not exist, or are in the wrong order, get a sentence', async () => {
  const { key, path, refused } = await ownerWithConnection();
  const [earlier, later] = [await storeRun(key, []), await storeRun(key, [])];
  const other = await ownerWithConnection();
  const theirs = await storeRun(other.key, []);
  const missing = 'Give from and to the ids of two runs.';
  expect(await refused(`${path}/compare`)).toEqual(invalid('from', missing));
  expect(await refused(`${path}/compare?from=${earlier}`)).toEqual(invalid('to', missing));
  expect(await refused(`${path}/compare?from=${later}&to=${earlier}`)).toEqual(
    invalid('from', 'from must be the earlier run.'),
  );
  expect(await refused(`${path}/compare?from=${earlier}&to=${theirs}`)).toEqual(notFound);
  expect(await refused(`${path}/compare?from=${earlier}&to=${Number.MAX_SAFE_INTEGER}`)).toEqual(notFound);
  expect(await other.refused(`${path}/compare?from=${earlier}&to=${later}`)).toEqual(notFound);
});

test('runs that an account brought from a cell with higher ids are older than its later ones', async () => {
  const { key, path, read, refused } = await ownerWithConnection();
  const brought = 2 ** 44 + key.connectionId;
  const root = await store.superuser('store');
  await root.query(
    `insert into health_check (account_id, connection_id, health_check_id, score, summary_text, created_at, findings)
     overriding system value values ($1, $2, $3, 70, 'Brought', now() - interval '1 s', '[]')`,
    [key.accountId, key.connectionId, brought],
  );
  const later = await storeRun(key, []);
  expect((await read<Runs>(path)).runs.map(({ id }) => id)).toEqual([later, brought]);
  expect((await read<Runs>(`${path}?before=${later}`)).runs.map(({ id }) => id)).toEqual([brought]);
  const compared = await read<RunComparison>(`${path}/compare?from=${brought}&to=${later}`);
  expect([compared.from.id, compared.to.id]).toEqual([brought, later]);
  expect(await refused(`${path}/compare?from=${later}&to=${brought}`)).toEqual(
    invalid('from', 'from must be the earlier run.'),
  );
  const { history } = await read<ConnectionDetail>(`/connections/${key.connectionId}`);
  expect(history.filter(({ of_day }) => !of_day).map(({ score }) => score)).toEqual([70, 80]);
});

const insertRuns = `
  insert into health_check (account_id, connection_id, created_at, score, summary_text, findings)
  select $1, c, now() - (20000 - n) * interval '1 min', 80, repeat('s', 100), '[]'
    from generate_series(1, 20000) n, unnest($2::bigint[]) c`;

test('a page of runs, and the values of two, cost the same however many there are', async () => {
  const { key } = await ownerWithConnection();
  const second = await store.connection(key.accountId);
  await store.writer.query(insertRuns, [key.accountId, [key.connectionId, second]]);
  const values = Array.from({ length: 300 }, (_, n) => n);
  const now = Date.now();
  const runs = Array.from({ length: 2_000 }, (_, n) => ({ at: new Date(now - n * 10_000), values }));
  await writeRuns(store, key, runs);
  const root = await store.superuser('store');
  await root.query(
    `insert into measure_hour (account_id, connection_id, series_id, day, last)
     select $1, $2, s, day::date, array_fill(1::real, array[24])
       from generate_series(1, 300) s, generate_series(now() - interval '60 days', now() - interval '7 days', '1 day') day`,
    [key.accountId, key.connectionId],
  );
  await root.query('vacuum (analyze) health_check, measure_run, measure_hour, measure_series');
  const ids = [key.accountId, key.connectionId];
  const { rows } = await root.query(
    'select max(health_check_id) - 15000 as id from health_check where account_id = $1',
    [key.accountId],
  );
  const buffers = (statement: string, values: unknown[]) =>
    buffersOf(store, key.accountId, statement, [...ids, ...values], 'console');
  // Runs of two connections alternate, so a page of 200 reads 400 rows' worth of pages.
  expect(await buffers(listedRuns, [rows[0].id, 201])).toBeLessThan(60);
  const at = (seconds: number) => new Date(now - seconds * 1_000).toISOString();
  expect(await buffers(selectRunValues, [at(9_000), at(0)])).toBeLessThan(120);
  // Of old runs, each of the 300 series has a row of its own, twice.
  expect(await buffers(selectRunValues, [at(30 * 86_400), at(20 * 86_400)])).toBeLessThan(4 * 600);
});
