import { expect, test } from 'vitest';
import { expectMeasures } from '../../../test/support/expect-measures.ts';
import { type SeenJudgement, seen } from '../../../test/support/seen-judgement.ts';
import type { Row } from '../fault.ts';
import { type JudgementInput, judgementOf } from '../judgement-of.ts';
import { mysqlChecks } from './mysql-checks.ts';

const [MYSQL, MARIADB] = [80_404, 101_119];

function checkOf(id: string) {
  const check = mysqlChecks.find((each) => each.id === id);
  if (!check) throw new Error(`There is no check ${id}.`);
  return check;
}

function judge(id: string, rows: Row[], facts: Partial<JudgementInput> = {}): SeenJudgement {
  const judgement = seen(
    judgementOf(checkOf(id), rows, {
      version: MARIADB,
      database: '',
      now: new Date('2026-11-21'),
      ...facts,
    }),
  );
  expectMeasures(checkOf(id), judgement);
  return judgement;
}

/** As SHOW GLOBAL STATUS and SHOW GLOBAL VARIABLES give them: all values are text. */
const shown = (figures: Record<string, string | number>): Row[] =>
  Object.entries(figures).map(([name, value]) => ({ Variable_name: name, Value: String(value) }));

const connected = (used: number) => shown({ Threads_connected: used, max_connections: 1_000 });
const running = (busy: number) => shown({ Threads_running: busy, max_connections: 1_000 });
const history = (length: number) => shown({ Innodb_history_list_length: length });
const files = (open: number) =>
  shown({
    Open_files: open - 100,
    Innodb_num_open_files: 100,
    Open_tables: 50,
    open_files_limit: 1_000,
    table_open_cache: 400,
  });
const shop = { object: 'shop/app', user_name: 'app', db_name: 'shop' };
const transaction = (age: number): Row[] => [{ transactions: 1 }, { ...shop, age }];
const blocker = (age: number, timeout = 7_200): Row[] => [
  { timeout, told: 1 },
  { transactions: 2 },
  { ...shop, waiter: 7, age },
];
const metadata = (age: number): Row[] => [{ transactions: 1 }, { ...shop, thread: 7, age }];

test.each<[string, Row[], string | undefined, (string | null)[]]>([
  ['MY_CONN_SATURATION', connected(719), undefined, []],
  ['MY_CONN_SATURATION', connected(720), undefined, [null]],
  ['MY_CONN_SATURATION', connected(800), 'warning', []],
  ['MY_CONN_SATURATION', connected(950), 'critical', []],
  ['MY_THREADS_RUNNING', running(539), undefined, []],
  ['MY_THREADS_RUNNING', running(540), undefined, [null]],
  ['MY_THREADS_RUNNING', running(600), 'warning', []],
  ['MY_HISTORY_LIST', history(89_999), undefined, []],
  ['MY_HISTORY_LIST', history(90_000), undefined, [null]],
  ['MY_HISTORY_LIST', history(100_000), 'warning', []],
  ['MY_HISTORY_LIST', history(1_000_000), 'warning', []],
  ['MY_OPEN_FILES', files(849), undefined, []],
  ['MY_OPEN_FILES', files(850), 'warning', []],
  ['MY_LONG_TRX', [{ transactions: 0 }], undefined, []],
  ['MY_LONG_TRX', transaction(3_239), undefined, []],
  ['MY_LONG_TRX', transaction(3_240), undefined, ['shop/app']],
  ['MY_LONG_TRX', transaction(3_600), 'warning', []],
  ['MY_LONG_TRX', transaction(1e6), 'warning', []],
  ['MY_LOCK_WAITS', blocker(26), undefined, []],
  ['MY_LOCK_WAITS', blocker(27), undefined, ['shop/app']],
  ['MY_LOCK_WAITS', blocker(30), 'warning', []],
  ['MY_LOCK_WAITS', blocker(120), 'critical', []],
  // No wait lasts longer than the time-out.
  ['MY_LOCK_WAITS', blocker(22, 50), undefined, []],
  ['MY_LOCK_WAITS', blocker(25, 50), 'warning', []],
  ['MY_MDL_WAIT', metadata(26), undefined, []],
  ['MY_MDL_WAIT', metadata(27), undefined, ['shop/app']],
  ['MY_MDL_WAIT', metadata(30), 'warning', []],
  ['MY_MDL_WAIT', metadata(120), 'critical', []],
])('%s judges %j: %s', (id, rows, severity, near) => {
  const judgement = judge(id, rows);
  expect(judgement.faults.map((fault) => fault.severity)).toEqual(severity === undefined ? [] : [severity]);
  expect(judgement.near ?? []).toEqual(near);
});

test('without a limit on open files there is no finding', () => {
  expect(judge('MY_OPEN_FILES', [...files(9_000), ...shown({ open_files_limit: 0 })]).faults).toEqual([]);
});

/** A counting check's rows: Uptime 1,000 s at second 50,000. */
const counted = (figures: Record<string, string | number>, clock = 50_000): Row[] => [
  { clock },
  ...shown({ Uptime: clock - 49_000, Uptime_since_flush_status: clock - 49_000, ...figures }),
];

/** What a check finds when its counters rose by so much in so many seconds; the rest are settings. */
function risen(id: string, by: Record<string, number>, settings: Record<string, number> = {}, seconds = 300) {
  const start = Object.fromEntries(Object.keys(by).map((name) => [name, 1_000_000]));
  const end = Object.fromEntries(Object.entries(by).map(([name, value]) => [name, 1_000_000 + value]));
  const before = { rows: counted({ ...start, ...settings }, 50_000 - seconds), seconds };
  return judge(id, counted({ ...end, ...settings }), { before });
}

const pages = (requests: number, reads: number) => ({
  Innodb_buffer_pool_read_requests: requests,
  Innodb_buffer_pool_reads: reads,
});
const pool = { innodb_buffer_pool_size: 2 ** 27 };
const capacity = { innodb_io_capacity: 200, innodb_io_capacity_max: 2_000 };
const sizes = { tmp_table_size: 2 ** 24, max_heap_table_size: 2 ** 24 };
const slowness = { long_query_time: 10, performance_schema: 0, slow_query_log: 0, log_output: 0 };
/** What decides where the refused hosts are shown. */
const naming = { performance_schema: 1, skip_name_resolve: 0, host_cache_size: 279 };
const openings = (hits: number, misses: number, overflows: number) => ({
  Table_open_cache_hits: hits,
  Table_open_cache_misses: misses,
  Table_open_cache_overflows: overflows,
});
const definitions = (read: number, created = 0) => ({
  Opened_table_definitions: read,
  Com_create_table: created,
});
const fullCache = { Open_table_definitions: 380, table_definition_cache: 400 };

test.each<[string, Record<string, number>, Record<string, number>, number, string | undefined]>([
  ['MY_ABORTED_CONNECTS', { Aborted_connects: 9, Connections: 10 }, {}, 300, undefined],
  ['MY_ABORTED_CONNECTS', { Aborted_connects: 10, Connections: 334 }, {}, 300, undefined],
  ['MY_ABORTED_CONNECTS', { Aborted_connects: 10, Connections: 333 }, naming, 300, 'warning'],
  ['MY_BP_MISS', pages(10_000, 9_999), pool, 300, undefined],
  ['MY_BP_MISS', pages(1_000_001, 10_000), pool, 300, undefined],
  ['MY_BP_MISS', pages(1_000_000, 10_000), pool, 300, 'info'],
  ['MY_BP_MISS', pages(1_000_000, 49_999), pool, 300, 'info'],
  ['MY_BP_MISS', pages(1_000_000, 50_000), pool, 300, 'warning'],
  ['MY_BP_WAIT_FREE', { Innodb_buffer_pool_wait_free: 0 }, capacity, 300, undefined],
  ['MY_BP_WAIT_FREE', { Innodb_buffer_pool_wait_free: 1 }, capacity, 300, 'warning'],
  ['MY_LOG_WAITS', { Innodb_log_waits: 2_999 }, { innodb_log_buffer_size: 2 ** 24 }, 300, undefined],
  ['MY_LOG_WAITS', { Innodb_log_waits: 3_000 }, { innodb_log_buffer_size: 2 ** 24 }, 300, 'warning'],
  // Ten seconds count as a minute.
  ['MY_LOG_WAITS', { Innodb_log_waits: 599 }, { innodb_log_buffer_size: 2 ** 24 }, 10, undefined],
  // Five minutes count as ten.
  ['MY_TMP_DISK', { Created_tmp_disk_tables: 599, Created_tmp_tables: 600 }, sizes, 300, undefined],
  ['MY_TMP_DISK', { Created_tmp_disk_tables: 600, Created_tmp_tables: 2_401 }, sizes, 300, undefined],
  ['MY_TMP_DISK', { Created_tmp_disk_tables: 600, Created_tmp_tables: 2_400 }, sizes, 300, 'warning'],
  ['MY_TMP_DISK', { Created_tmp_disk_tables: 600, Created_tmp_tables: 600 }, sizes, 3_600, undefined],
  ['MY_JOINS_NO_INDEX', { Select_full_join: 249 }, {}, 300, undefined],
  ['MY_JOINS_NO_INDEX', { Select_full_join: 250 }, {}, 300, 'info'],
  ['MY_JOINS_NO_INDEX', { Select_full_join: 499 }, {}, 172_800, undefined],
  ['MY_SLOW_QUERIES', { Slow_queries: 9, Questions: 9 }, slowness, 300, undefined],
  ['MY_SLOW_QUERIES', { Slow_queries: 10, Questions: 201 }, slowness, 300, undefined],
  ['MY_SLOW_QUERIES', { Slow_queries: 10, Questions: 200 }, slowness, 300, 'warning'],
  ['MY_TABLE_CACHE', openings(0, 9_999, 9), { table_open_cache: 400 }, 300, undefined],
  ['MY_TABLE_CACHE', openings(0, 10_000, 0), { table_open_cache: 400 }, 300, undefined],
  ['MY_TABLE_CACHE', openings(2_501, 10_000, 9), { table_open_cache: 400 }, 300, undefined],
  ['MY_TABLE_CACHE', openings(2_500, 10_000, 9), { table_open_cache: 400 }, 300, 'warning'],
  ['MY_TABLE_DEFINITION_CACHE', definitions(11_999), fullCache, 300, undefined],
  ['MY_TABLE_DEFINITION_CACHE', definitions(12_000), fullCache, 300, 'warning'],
  ['MY_TABLE_DEFINITION_CACHE', definitions(12_000, 1), fullCache, 300, undefined],
  [
    'MY_TABLE_DEFINITION_CACHE',
    definitions(99_000),
    { ...fullCache, Open_table_definitions: 379 },
    300,
    undefined,
  ],
])('%s of %j with %j in %i s: %s', (id, by, settings, seconds, severity) => {
  const { faults, skipped } = risen(id, by, settings, seconds);
  expect(skipped).toBeUndefined();
  expect(faults.map((fault) => fault.severity)).toEqual(severity === undefined ? [] : [severity]);
});

const counters = mysqlChecks.filter(({ id }) =>
  /BP_|LOG_WAITS|TMP_|JOINS|SLOW_|TABLE_CACHE|DEFINITION|ABORTED/.test(id),
);

test('every check of counters needs two runs without a restart between', () => {
  expect(counters).toHaveLength(9);
  const all = {
    Aborted_connects: 5,
    Connections: 5,
    ...pages(5, 5),
    Innodb_buffer_pool_wait_free: 5,
    Innodb_log_waits: 5,
    Created_tmp_disk_tables: 5,
    Created_tmp_tables: 5,
    Select_full_join: 5,
    Slow_queries: 5,
    Questions: 5,
    ...openings(5, 5, 5),
    ...definitions(5, 5),
    ...pool,
    ...capacity,
    ...sizes,
    innodb_log_buffer_size: 9,
    ...slowness,
    ...naming,
    table_open_cache: 9,
    ...fullCache,
  };
  const seconds = 300;
  const reason = (id: string, rows: Row[], before?: JudgementInput['before']) =>
    judge(id, rows, before && { before }).skipped ?? 'measured';
  for (const { id, comparesRuns } of counters) {
    expect(comparesRuns).toBe(true);
    const last = { rows: counted(all, 49_700), seconds };
    expect(reason(id, counted(all), last)).toBe('measured');
    expect(reason(id, counted(all))).toContain('this is the first');
    expect(reason(id, counted(all), { ...last, seconds: 4.9 })).toContain('less than 5 s ago');
    expect(reason(id, counted({ ...all, Uptime: 290 }), last)).toContain('the server was restarted');
    // It started shortly before the last run, and again after it: its uptime rose.
    const young = { rows: counted({ ...all, Uptime: 10 }, 49_700), seconds };
    expect(reason(id, counted({ ...all, Uptime: 290 }), young)).toContain('the server was restarted');
    const flushed = counted({ ...all, Uptime_since_flush_status: 100 });
    expect(reason(id, flushed, last)).toContain('the statistics were reset');
    const fallen = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value - 1]));
    expect(reason(id, counted(fallen), last)).toContain('the statistics were reset');
    expect(reason(id, counted({}), last)).toContain('this server has no counter');
    expect(() => judge(id, [])).toThrow(TypeError);
  }
});

test('sessions of one user and database are one finding that counts the old ones', () => {
  const rows = [
    { transactions: 4 },
    { ...shop, age: 8_000 },
    { ...shop, age: 3_700 },
    { ...shop, age: 20 },
    { object: '/backup', user_name: 'backup', db_name: null, age: 4_000 },
  ];
  expect(judge('MY_LONG_TRX', rows).faults.map(({ object, metricLine }) => [object, metricLine])).toEqual([
    [
      'shop/app',
      'User app, database shop: 2 transactions open, the oldest for 2 h 13 min; commit it or end it.',
    ],
    ['/backup', 'User backup: 1 transaction open, the oldest for 1 h 6 min; commit it or end it.'],
  ]);
});

test('beyond the row limit, unread sessions are not "ok" unless they are recent', () => {
  const rows = (age: number) => [
    { transactions: 2_000 },
    ...Array.from({ length: 1_001 }, () => ({ ...shop, age })),
  ];
  expect(judge('MY_LONG_TRX', rows(4_000)).truncated).toBe(true);
  expect(judge('MY_LONG_TRX', rows(10)).truncated).toBe(false);
});

test('a transaction without a session is reported with XA RECOVER', () => {
  const rows = transaction(4_000).map((row) =>
    'object' in row
      ? { ...row, object: 'transaction without a session', user_name: null, db_name: null }
      : row,
  );
  expect(judge('MY_LONG_TRX', rows).faults[0]?.remediation).toMatch(/^XA RECOVER;/);
});

test('what replication applies is named as that, and not to be killed', () => {
  const applier = { object: '/system user', user_name: 'system user', db_name: null, thread: 5, dumps: 0 };
  const rows = [{ transactions: 1 }, { ...applier, age: 4_000 }];
  const [open] = judge('MY_LONG_TRX', rows).faults;
  expect(open?.metricLine).toMatch(
    /^Replication on this server: 1 transaction open, the oldest for 1 h 6 min; it/,
  );
  const waits = [{ timeout: 7_200, told: 1 }, { transactions: 2 }, { ...applier, waiter: 7, age: 90 }];
  const [blocking] = judge('MY_LOCK_WAITS', waits).faults;
  expect(blocking?.metricLine).toMatch(/^Replication on this server has blocked 1 session for 1 min; it/);
  for (const fault of [open, blocking])
    expect(fault?.remediation).toMatch(/^SHOW ALL SLAVES STATUS; -- then wait/);
});

test('a metadata lock wait names the holder if the server shows it, else the oldest transaction', () => {
  const line = (...more: Row[]) => judge('MY_MDL_WAIT', [...metadata(90), ...more]).faults[0]?.metricLine;
  const waits = 'User app, database shop: 1 session waiting for a metadata lock, the longest for 1 min; ';
  const held = { waiting_thread: 7, wanted_schema: 'shop', wanted_name: 'or`ders', holder: 'shop/report' };
  expect(line(held, { ...held, waiting_thread: 8, holder: 'shop/other' })).toBe(
    `${waits}shop/report holds it on \`shop\`.\`or\`\`ders\`: end that transaction.`,
  );
  expect(line({ oldest: 'shop/report', oldest_age: 3_600 })).toBe(
    `${waits}the server does not show who holds it, most likely the oldest transaction, of shop/report, open for 1 h 0 min: end it.`,
  );
  // It began later than the wait.
  expect(line({ oldest: 'shop/report', oldest_age: 89 })).toContain('look for a long query');
});

test('a wait in GET_LOCK is named as such, also beside a wait for a table', () => {
  const waiter = metadata(90).at(-1) ?? {};
  const line = (...rows: Row[]) => judge('MY_MDL_WAIT', [{ transactions: 1 }, ...rows]).faults[0]?.metricLine;
  const named = { ...waiter, is_user_lock: 1 };
  const holder = {
    waiting_thread: 7,
    wanted_schema: null,
    wanted_name: null,
    is_user_lock: 1,
    holder: 'shop/job',
  };
  expect(line(named, holder, { oldest: 'shop/report', oldest_age: 3_600 })).toBe(
    'User app, database shop: 1 session waiting for a user lock (GET_LOCK), the longest for 1 min; shop/job holds it: it must call RELEASE_LOCK; else end its session.',
  );
  // An open transaction says nothing about a lock of GET_LOCK.
  expect(line(named, { oldest: 'shop/report', oldest_age: 3_600 })).toMatch(
    /does not show who holds it: ask it/,
  );
  const table = {
    waiting_thread: 8,
    wanted_schema: 'shop',
    wanted_name: 'orders',
    is_user_lock: 0,
    holder: 'shop/report',
  };
  expect(line({ ...waiter, thread: 8 }, { ...named, age: 40 }, table, holder)).toMatch(
    /2 sessions waiting for a metadata lock or a user lock \(GET_LOCK\), .*; shop\/report holds it on `shop`.`orders`: end that/,
  );
});

test('MySQL has its own statements and privileges', () => {
  const sql = (id: string, version: number) => [checkOf(id).sql(version)].flat().join(';');
  expect(sql('MY_LOCK_WAITS', MYSQL)).toContain('performance_schema.data_lock_waits');
  expect(sql('MY_LOCK_WAITS', MARIADB)).toContain('information_schema.innodb_lock_waits');
  expect(checkOf('MY_LOCK_WAITS').privilege?.(MYSQL)).toEqual([
    'PROCESS ON *.*',
    'SELECT ON performance_schema.*',
  ]);
  expect(checkOf('MY_LOCK_WAITS').privilege?.(MARIADB)).toBe('PROCESS ON *.*');
  const [{ remediation } = { remediation: '' }] = judge('MY_LOCK_WAITS', blocker(90), {
    version: MYSQL,
  }).faults;
  expect(remediation).toContain('blocking_engine_transaction_id');
  const [off = {}, ...rest] = blocker(90);
  expect(judge('MY_LOCK_WAITS', [{ ...off, told: 0 }, ...rest]).skipped).toContain('performance_schema off');
  expect(sql('MY_LOCK_WAITS', MYSQL)).toContain('@@global.performance_schema as told');
  expect(sql('MY_LOCK_WAITS', MARIADB)).not.toContain('performance_schema');
  expect(judge('MY_HISTORY_LIST', [{ length: 100_000 }], { version: MYSQL }).faults).toHaveLength(1);
  expect(judge('MY_HISTORY_LIST', [{ length: null }], { version: MYSQL }).skipped).toContain('is off');
  expect(() => judge('MY_HISTORY_LIST', [], { version: MYSQL })).toThrow(TypeError);
});
