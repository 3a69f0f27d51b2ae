import { expect, test } from 'vitest';
import { expectMeasures } from '../../../test/support/expect-measures.ts';
import { seen } from '../../../test/support/seen-judgement.ts';
import type { Row } from '../fault.ts';
import { type JudgementInput, judgementOf } from '../judgement-of.ts';
import { mysqlChecks } from './mysql-checks.ts';

const [MYSQL_80, MARIADB] = [80_036, 101_119];

const checkOf = (id: string) => {
  const check = mysqlChecks.find((each) => each.id === id);
  if (!check) throw new Error(`There is no check ${id}.`);
  return check;
};
const judge = (id: string, rows: Row[], facts: Partial<JudgementInput> = {}) => {
  const judgement = seen(
    judgementOf(checkOf(id), rows, {
      version: MARIADB,
      database: '',
      me: `'watcher'@'10.0.0.7'`,
      now: new Date('2026-11-21'),
      ...facts,
    }),
  );
  expectMeasures(checkOf(id), judgement);
  return judgement;
};

/** The statements that depend on the rows of the others, on a small server. */
const statements = (id: string, version: number) =>
  String(
    checkOf(id)
      .steps?.({ version, thresholds: {} })
      .map((step) => step([{ ...server, tables: 9 }])),
  );

const server: Row = { sees_all: 1, tables: 20_000, uncounted: 0 };
const shop = { table_schema: 'shop', table_name: 'orders' };
const counted = (figures: Record<string, string> = {}): Row[] =>
  Object.entries({ performance_schema: 'ON', log_bin: 'OFF', Uptime: '3024000', ...figures }).map(
    ([Variable_name, Value]) => ({ Variable_name, Value }),
  );
const value = (share: number, column_type = 'int'): Row => ({
  ...shop,
  column_name: 'id',
  column_type,
  value: '7',
  share,
});
const noKey: Row = { ...shop, found: 1, bytes: 2 ** 20 };
const binlog = (value: string): Row => ({ Variable_name: 'log_bin', Value: value });
const of = { of_schema: 'shop', of_table: 'orders' };
const details: Row[] = [
  { detail: 'server', page_bytes: 16_384, requires_primary_key: 0, mariadb: 0 },
  {
    detail: 'table',
    ...of,
    table_type: 'BASE TABLE',
    engine: 'InnoDB',
    bytes: 0,
    row_format: 'Dynamic',
    options: '',
    collation: 'utf8mb4_0900_ai_ci',
  },
];
const column: Row = {
  detail: 'column',
  ...of,
  name: 'id',
  place: 1,
  data_type: 'bigint',
  type: 'bigint unsigned',
  nullable: 'NO',
  default_value: null,
  extra: 'auto_increment',
  collation: null,
  characters: 0,
  comment: '',
};

test.each<[string, number, Row, string | undefined]>([
  ['MY_AUTOINC_EXHAUSTION', MYSQL_80, value(0.849), undefined],
  ['MY_AUTOINC_EXHAUSTION', MYSQL_80, value(0.85), 'warning'],
  ['MY_AUTOINC_EXHAUSTION', MYSQL_80, value(0.949), 'warning'],
  ['MY_AUTOINC_EXHAUSTION', MYSQL_80, value(0.95), 'critical'],
  ['MY_INDEX_GT_DATA', MARIADB, { ...shop, index_bytes: 2 ** 20 * 100 - 1, data_bytes: 9 }, undefined],
  ['MY_INDEX_GT_DATA', MARIADB, { ...shop, index_bytes: 2 ** 20 * 100, data_bytes: 9 }, 'info'],
  ['MY_NO_PRIMARY_KEY', MARIADB, noKey, 'warning'],
  ['MY_NO_PRIMARY_KEY', MARIADB, { ...noKey, bytes: 2 ** 20 - 1 }, undefined],
  ['MY_NON_INNODB', MARIADB, { ...shop, engine: 'MEMORY', in_merge: 0 }, 'info'],
])('%s of version %i: %o is %s', (id, version, row, severity) => {
  const { faults } = judge(id, [server, binlog('ON'), row], { version });
  expect(faults.map((fault) => fault.severity)).toEqual(severity === undefined ? [] : [severity]);
});

test.each<[number, Row[], RegExp | undefined]>([
  [2 ** 20 * 10 - 1, counted(), undefined],
  [2 ** 20 * 10, counted(), /not read in 35 d 0 h; make it invisible, then drop it.$/],
  [2 ** 20 * 10, counted({ log_bin: 'ON' }), /Replicas count their own reads/],
])('MY_UNUSED_INDEX of %i bytes', (bytes, figures, line) => {
  const { faults, skipped } = judge('MY_UNUSED_INDEX', [
    server,
    ...figures,
    { ...shop, index_name: 'day', bytes },
  ]);
  expect(skipped).toBeUndefined();
  expect(faults.map(({ metricLine }) => metricLine)).toEqual(line ? [expect.stringMatching(line)] : []);
});

test.each<[string, Row[]]>([
  ['performance_schema is off', [server, ...counted({ performance_schema: 'OFF' })]],
  ['exclude reads', [{ ...server, uncounted: 1 }, ...counted()]],
  ['out of memory for some indexes', [server, ...counted({ Performance_schema_index_stat_lost: '3' })]],
  ['counted for 34 d 23 h', [server, ...counted({ Uptime: '3023999' })]],
])('MY_UNUSED_INDEX is skipped: %s', (reason, rows) => {
  expect(judge('MY_UNUSED_INDEX', rows).skipped).toContain(reason);
});

test('each reason why an index is hidden has its own message', () => {
  const rows = [server, ...counted(), { ...shop, index_name: 'day', bytes: 2 ** 30 }];
  for (const [version, hidden] of [
    [MYSQL_80, 'INVISIBLE'],
    [MARIADB, 'IGNORED'],
  ] as const) {
    const mariadb = version === MARIADB ? 1 : 0;
    const own = details.map((row) => (row['detail'] === 'server' ? { ...row, mariadb } : row));
    const [fault] = judge('MY_UNUSED_INDEX', [...rows, ...own], { version }).faults;
    expect(fault?.remediation).toMatch(`ALTER TABLE \`shop\`.\`orders\` ALTER INDEX \`day\` ${hidden};`);
  }
  for (const id of ['MY_UNUSED_INDEX', 'MY_REDUNDANT_INDEX']) {
    expect(statements(id, MYSQL_80)).toContain("is_visible = 'YES'");
    expect(statements(id, MARIADB)).toContain("ignored = 'NO'");
  }
});

test('where the server refuses every change of a table without a primary key, the key comes first', () => {
  const rows = [server, ...counted(), { ...shop, index_name: 'day', bytes: 2 ** 30 }];
  const strict = details.map((row) =>
    row['detail'] === 'server' ? { ...row, requires_primary_key: 1 } : row,
  );
  const [fault] = judge('MY_UNUSED_INDEX', [...rows, ...strict]).faults;
  expect(fault?.remediation).toMatch(/^SHOW CREATE TABLE `shop`\.`orders`; -- then add a primary key first/);
});

test('a table without a primary key counts by its size, by replicas and by clusters', () => {
  const severity = (bytes: number, figures: Record<string, string>) =>
    judge('MY_NO_PRIMARY_KEY', [
      server,
      ...Object.entries({ log_bin: 'OFF', ...figures }).map(([Variable_name, Value]) => ({
        Variable_name,
        Value,
      })),
      { ...noKey, bytes },
    ]).faults[0]?.severity;
  const [small, large] = [2 ** 14, 2 ** 20];
  expect([severity(small, { log_bin: 'ON' }), severity(large, { log_bin: 'ON' })]).toEqual([
    undefined,
    'warning',
  ]);
  expect([severity(small, {}), severity(large, {})]).toEqual([undefined, 'info']);
  for (const cluster of [{ wsrep_on: 'ON' }, { group_replication_group_name: 'aaaa' }])
    expect([severity(small, cluster), severity(large, cluster)]).toEqual(['info', 'warning']);
  expect(severity(small, { wsrep_on: 'OFF', group_replication_group_name: '' })).toBeUndefined();
});

test('a MEMORY table counts only where replicas may have it', () => {
  const table = { ...shop, engine: 'MEMORY', in_merge: 0 };
  expect(judge('MY_NON_INNODB', [server, binlog('OFF'), table]).faults).toEqual([]);
  expect(judge('MY_NON_INNODB', [server, binlog('ON'), table]).faults).toHaveLength(1);
});

test('before version 8.0.23, which brought INVISIBLE, the new column is visible', () => {
  const added = (version: number) =>
    judge('MY_NO_PRIMARY_KEY', [server, binlog('ON'), noKey, ...details], { version }).faults[0]?.remediation;
  const column = 'ADD COLUMN `id` bigint unsigned NOT NULL AUTO_INCREMENT';
  expect(added(80_022)).toBe(`ALTER TABLE \`shop\`.\`orders\` ${column} PRIMARY KEY;`);
  expect(added(80_023)).toBe(`ALTER TABLE \`shop\`.\`orders\` ${column} INVISIBLE PRIMARY KEY;`);
});

test.each([
  [4_000, undefined],
  [4_001, true],
])(
  'MY_AUTOINC_EXHAUSTION with %i unread files in the schema with most: tables were left out: %s',
  (unread_files, left) => {
    const unread = [
      { unread_schema: 'a@0020b', unread_files: 0 },
      { unread_schema: 'shop', unread_files },
    ];
    expect(judge('MY_AUTOINC_EXHAUSTION', [server, ...unread])).toMatchObject({
      faults: [],
      truncated: left ?? false,
    });
    expect(judge('MY_AUTOINC_EXHAUSTION', [server, ...unread]).skippedForSize).toBe(left);
    const facts = { version: MARIADB, thresholds: {} };
    const [, largest] = checkOf('MY_AUTOINC_EXHAUSTION').steps?.(facts) ?? [];
    expect(largest?.([server, ...unread])?.includes(`CAST('shop' AS BINARY)`)).toBe(left ?? false);
  },
);

test('the steps for a table that is gone when its details are read begin with a look', () => {
  const rows = [server, binlog('ON'), noKey];
  expect(judge('MY_NO_PRIMARY_KEY', rows).faults[0]?.remediation).toMatch(
    /^SHOW CREATE TABLE `shop`.`orders`; -- then wait/,
  );
});

test('no wider type is proposed for the widest', () => {
  const rows = [server, value(0.99, 'bigint unsigned'), ...details, column];
  const [widest] = judge('MY_AUTOINC_EXHAUSTION', rows).faults;
  expect(widest?.remediation).toMatch(/^SELECT MAX\(`id`\) FROM `shop`.`orders`; -- then find out/);
});

test('over 50,000 tables nothing is measured; over 100 faults the list is cut short', () => {
  expect(judge('MY_NON_INNODB', [{ ...server, tables: 50_001 }]).skipped).toMatch(/50,001 tables/);
  const tables = Array.from({ length: 101 }, (_, n) => ({
    found: 400,
    table_schema: `s${n}`,
    table_name: 't',
    columns: 1,
    charsets: 'latin1',
  }));
  const { faults, truncated, measures } = judge('MY_CHARSET_LEGACY', [server, ...tables]);
  expect([faults.length, truncated]).toEqual([100, true]);
  expect(measures).toMatchObject([{ metric: 'legacy_charset_tables_count', value: 400 }]);
  const shares = Array.from({ length: 101 }, (_, n) => ({
    ...value(n < 100 ? 0.9 : 0.1),
    table_name: `t${n}`,
  }));
  expect(judge('MY_AUTOINC_EXHAUSTION', [server, ...shares]).truncated).toBe(false);
});

test('if tables may be hidden, visible faults are listed, and the check is never "ok"', () => {
  const hidden = { ...server, sees_all: 0 };
  const grant = `GRANT REFERENCES ON *.* TO 'watcher'@'10.0.0.7';`;
  expect(judge('MY_NO_PRIMARY_KEY', [hidden, binlog('ON')])).toMatchObject({
    grant,
    skipped: expect.stringContaining(grant),
  });
  const seen = judge('MY_NO_PRIMARY_KEY', [hidden, binlog('ON'), noKey]);
  expect([seen.faults.length, seen.truncated, seen.skipped]).toEqual([1, true, undefined]);
});
