import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { documentedMetrics, expectMeasures, METRIC, SWITCHES } from '../../test/support/expect-measures.ts';
import { type SeenJudgement, seen } from '../../test/support/seen-judgement.ts';
import { everyCheck } from './catalogue.ts';
import type { Row } from './fault.ts';
import { type JudgementInput, judgementOf } from './judgement-of.ts';
import { mysqlChecks } from './mysql/mysql-checks.ts';
import { pgbouncerChecks } from './pgbouncer/pgbouncer-checks.ts';
import { postgresChecks } from './postgres/postgres-checks.ts';

function judge(id: string, rows: Row[], facts: Partial<JudgementInput> = {}): SeenJudgement {
  const check = postgresChecks.find((each) => each.id === id);
  if (!check) throw new Error(`There is no check ${id}.`);
  const judgement = seen(
    judgementOf(check, rows, {
      version: 180_004,
      database: 'shop',
      now: new Date('2026-11-21'),
      ...facts,
    }),
  );
  expectMeasures(check, judgement);
  return judgement;
}

const connections = (used: number): Row[] => [
  { used, available: 1000, max_connections: 1003, sees_all: true, me: 'watcher' },
];
const session = (age: number): Row[] => [
  {
    sees_all: true,
    me: 'watcher',
    database: 'shop',
    role: 'app',
    application: '"web 1"',
    of_them: 'true',
    age,
    ages: [age, 5],
  },
];
const database = (share: number): Row[] => [
  { database: 'shop', age: Math.ceil(share * 2 ** 31), datallowconn: true },
];
const ofRelation = {
  tables: 400,
  standby: false,
  track_counts: true,
  counted_seconds: 864_000,
  found: true,
  unseen: null,
};
const dead = (rows: number, share: number): Row[] => [
  { ...ofRelation, table_name: 'public.t', dead: rows, share },
];
const sequence = (share: number): Row[] => [
  {
    ...ofRelation,
    sequence_name: 'public.s',
    rising: true,
    limit_value: '9',
    value: '8',
    bounded: false,
    oid: 7,
    share,
  },
  { detailed: true, oid: 7, widen: null, refusing: null },
];
const blocking = (age: number): Row[] => [
  { waiters: 2, object: 'shop/app/web', prepared: false, of_them: 'true', age, held_up: 2 },
];
const prepared = (age: number): Row[] => [
  { prepared: 1, database: 'shop', role: 'app', age, gid: "'seven'", of_them: 1 },
];
const holder = (kind: string, seconds: number | null, transactions = 5): Row[] => [
  { sees_all: true, me: 'watcher', kind, name: 'it', handle: "'it'", seconds, transactions },
];
const stale = (times: number): Row[] => [
  { ...ofRelation, table_name: 'public.t', changes: 20_000, times, unanalyzed: null },
];
const bloated = (megabytes: number): Row[] => [
  {
    ...ofRelation,
    table_name: 'public.t',
    literal: "'public.t'",
    index_name: 'public.i',
    indisexclusion: false,
    bytes: 2 ** 29,
    bloat: megabytes * 2 ** 20,
  },
];
const indexes = (count: number, rows: number | null = 10_000): Row[] => [
  {
    ...ofRelation,
    schema_name: 'public',
    table_name: 'public.t',
    literal: "'public.t'",
    indexes: count,
    rows,
  },
];
const buffers = (megabytes: number): Row[] => [{ bytes: megabytes * 1024 * 1024 }];

test.each([
  ['PG_CONN_SATURATION', connections(719), undefined, []],
  ['PG_CONN_SATURATION', connections(720), undefined, [null]],
  ['PG_CONN_SATURATION', connections(799), undefined, [null]],
  ['PG_CONN_SATURATION', connections(800), 'warning', []],
  ['PG_CONN_SATURATION', connections(950), 'critical', []],
  ...['PG_IDLE_IN_TXN', 'PG_LONG_QUERY'].flatMap((id): [string, Row[], string | undefined, string[]][] => [
    [id, session(1619), undefined, []],
    [id, session(1620), undefined, ['shop/app/"web 1"']],
    [id, session(1799), undefined, ['shop/app/"web 1"']],
    [id, session(1800), 'warning', []],
    [id, session(1e6), 'warning', []],
  ]),
  ['PG_LONG_XACT', session(3239), undefined, []],
  ['PG_LONG_XACT', session(3240), undefined, ['shop/app/"web 1"']],
  ['PG_LONG_XACT', session(3600), 'warning', []],
  ['PG_LONG_XACT', session(1e6), 'warning', []],
  ['PG_BLOCKED_SESSIONS', blocking(26), undefined, []],
  ['PG_BLOCKED_SESSIONS', blocking(27), undefined, ['shop/app/web']],
  ['PG_BLOCKED_SESSIONS', blocking(30), 'warning', []],
  ['PG_BLOCKED_SESSIONS', blocking(120), 'critical', []],
  ['PG_PREPARED_XACT_OLD', prepared(269), undefined, []],
  ['PG_PREPARED_XACT_OLD', prepared(270), undefined, ['shop/app']],
  ['PG_PREPARED_XACT_OLD', prepared(300), 'warning', []],
  ['PG_PREPARED_XACT_OLD', prepared(1e6), 'warning', []],
  ['PG_MAX_CONN_HIGH', [{ max_connections: 269 }], undefined, []],
  ['PG_MAX_CONN_HIGH', [{ max_connections: 300 }], undefined, [null]],
  ['PG_MAX_CONN_HIGH', [{ max_connections: 301 }], 'info', []],
  ['PG_XMIN_HELD', holder('session', 86_399, 1e9), undefined, []],
  ['PG_XMIN_HELD', holder('session', 86_400), 'warning', []],
  ['PG_XMIN_HELD', holder('prepared transaction', 86_400), 'warning', []],
  ['PG_XMIN_HELD', holder('slot', 86_400), 'warning', []],
  ['PG_XMIN_HELD', holder('active slot', null, 9_999_999), undefined, []],
  ['PG_XMIN_HELD', holder('active slot', null, 1e7), 'warning', []],
  ['PG_XMIN_HELD', holder('standby', null, 1e7), 'warning', []],
  ['PG_MXID_WRAPAROUND', database(0.499), undefined, []],
  ['PG_MXID_WRAPAROUND', database(0.5), 'warning', []],
  ['PG_MXID_WRAPAROUND', database(0.8), 'critical', []],
  ['PG_STALE_STATS', stale(1.99), undefined, []],
  ['PG_STALE_STATS', stale(2), 'warning', []],
  ['PG_TABLE_BLOAT_EST', bloated(249), undefined, []],
  ['PG_TABLE_BLOAT_EST', bloated(250), 'warning', []],
  ['PG_INDEX_BLOAT_EST', bloated(99), undefined, []],
  ['PG_INDEX_BLOAT_EST', bloated(100), 'warning', []],
  ['PG_TOO_MANY_INDEXES', indexes(10), undefined, []],
  ['PG_TOO_MANY_INDEXES', indexes(11), 'info', []],
  ['PG_TOO_MANY_INDEXES', indexes(11, 9_999), undefined, []],
  ['PG_TOO_MANY_INDEXES', indexes(11, null), 'info', []],
  ['PG_XID_WRAPAROUND', database(0.499), undefined, []],
  ['PG_XID_WRAPAROUND', database(0.5), 'warning', []],
  ['PG_XID_WRAPAROUND', database(0.8), 'critical', []],
  ['PG_DEAD_TUPLES', dead(10_000, 0.9), undefined, []],
  ['PG_DEAD_TUPLES', dead(10_001, 0.099), undefined, []],
  ['PG_DEAD_TUPLES', dead(10_001, 0.1), 'warning', []],
  ['PG_DEAD_TUPLES', dead(10_001, 1), 'warning', []],
  ['PG_SEQUENCE_EXHAUSTION', sequence(0.849), undefined, []],
  ['PG_SEQUENCE_EXHAUSTION', sequence(0.85), 'warning', []],
  ['PG_SEQUENCE_EXHAUSTION', sequence(0.95), 'critical', []],
  ['PG_SHARED_BUFFERS_LOW', buffers(128), undefined, []],
  ['PG_SHARED_BUFFERS_LOW', buffers(127), 'warning', []],
])('%s judges %j: %s', (id, rows, severity, near) => {
  const judgement = judge(id, rows);
  expect(judgement.faults.map((fault) => fault.severity)).toEqual(severity === undefined ? [] : [severity]);
  expect(judgement.near ?? []).toEqual(near);
});

test.each([
  [130_022, '2026-11-21', 1],
  [140_023, '2026-11-12', 0],
  [140_023, '2026-11-13', 1],
  [150_018, '2026-11-21', 0],
  [90_624, '2026-11-21', 1],
  [180_004, '2030-11-14', 0],
  [190_000, '2040-01-01', 0],
])('version %i on %s: %i faults', (version, day, faults) => {
  const now = new Date(`${day}T23:59:59Z`);
  expect(judge('PG_VERSION_EOL', [{ version: 'x' }], { version, now }).faults).toHaveLength(faults);
});

test.each([
  ['2026-11-23', /^PostgreSQL 18\.6 is at least 18\.6, the latest as of 2026-11-12\.$/],
  ['2027-02-11', /^PostgreSQL 18\.6 is at least 18\.6, the latest as of 2026-11-12\.$/],
  [
    '2027-02-12',
    /that this version of dbvitals knows .* planned newer ones for 2027-02-11: update dbvitals\.$/,
  ],
])('on %s a server with the latest minor version that is known reads %s', (day, line) => {
  const facts = { version: 180_006, now: new Date(day) };
  const { faults, passMessage } = judge('PG_MINOR_OUTDATED', [{ version: '18.6', cluster_name: '' }], facts);
  expect(faults).toEqual([]);
  expect(passMessage).toMatch(line);
});

test('an outdated embedded store is mended by dbvitals, another server by its packages', () => {
  const remediation = (cluster_name: string) =>
    judge('PG_MINOR_OUTDATED', [{ version: '18.4', cluster_name }]).faults[0]?.remediation;
  expect(remediation('main')).toMatch(/^Install the packages of PostgreSQL 18\.6 or later/);
  expect(remediation('dbvitals-store')).toMatch(/^Update dbvitals, .* set DATABASE_URL/);
});

test('the page of a check whose count ends at 101 says so', () => {
  for (const check of postgresChecks) {
    const { id } = check;
    const statement = check.steps?.({ version: 180_004, thresholds: {} })[0]?.([{ tables: 1 }]) ?? '';
    const ends = statement.trimEnd().endsWith('limit 101') && !statement.includes(' as total');
    const page = readFileSync(`docs/checks/${id}.md`, 'utf8');
    expect([id, page.includes('with this fault; 101 means more than 100 |')]).toEqual([id, ends]);
  }
});

test('thresholds of the connection override the defaults', () => {
  const thresholds = { warning: 0.5 };
  expect(judge('PG_CONN_SATURATION', connections(500), { thresholds }).faults).toHaveLength(1);
  expect(
    judge('PG_DEAD_TUPLES', dead(2_000, 0.2), { thresholds: { minimum_rows: 1_000 } }).faults,
  ).toHaveLength(1);
});

test('only sessions that are old enough are counted', () => {
  expect(judge('PG_IDLE_IN_TXN', session(8_000)).faults[0]?.metricLine).toBe(
    'Role app, application "web 1", database shop: 1 session idle in transaction, the oldest for 2 h 13 min; end the transaction, and set a timeout for future ones.',
  );
});

test('dead rows are not measured if the server does not count them', () => {
  expect(judge('PG_DEAD_TUPLES', [{ ...ofRelation, standby: true }]).skipped).toContain('watch its primary');
  expect(judge('PG_DEAD_TUPLES', [{ ...ofRelation, track_counts: false }]).skipped).toContain('track_counts');
});

test('a statement without a row is an error, not "ok"', () => {
  const judging = postgresChecks.filter(
    ({ id, readsQueries }) => !(readsQueries || /XID|_OFF|PASSWORD|EXTENSION/.test(id)),
  );
  for (const { id } of judging) {
    expect(() => judge(id, []), id).toThrow(TypeError);
  }
});

test('every check documents its measures, unless it is a switch', () => {
  for (const { id } of [...postgresChecks, ...mysqlChecks, ...pgbouncerChecks]) {
    const metrics = documentedMetrics(id);
    expect(metrics.length === 0, id).toBe(SWITCHES.has(id));
    for (const metric of metrics) expect(metric).toMatch(METRIC);
  }
});

test('the table of severities has each check with its worst one, by name, and a reason', () => {
  const page = readFileSync(new URL('../../docs/checks/README.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| \[(\w+)\]\(\1\.md\) \| (\w+) \| .{15,} \|$/gm)];
  expect(rows.map(([, id, severity]) => `${id} ${severity}`)).toEqual(
    everyCheck.map(({ id, maxSeverity }) => `${id} ${maxSeverity}`).toSorted(),
  );
});

test('every check has its page, under its title', () => {
  for (const { id, title } of everyCheck) {
    const page = new URL(`../../docs/checks/${id}.md`, import.meta.url);
    expect(existsSync(page), id).toBe(true);
    const [heading] = readFileSync(page, 'utf8').split('\n');
    expect(heading).toBe(`# ${id}: ${title}`);
  }
});
