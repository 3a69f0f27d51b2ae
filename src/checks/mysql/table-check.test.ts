import { expect, test } from 'vitest';
import { expectMeasures } from '../../../test/expect-measures.ts';
import { seen } from '../../../test/seen-judgement.ts';
import type { Row } from '../check.ts';
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
const noKey: Row = { ...shop, found: 1, unique_key: null, auto_column: null, id_column: null };

test.each<[string, number, Row, string | undefined]>([
  ['MY_AUTOINC_EXHAUSTION', MYSQL_80, value(0.849), undefined],
  ['MY_AUTOINC_EXHAUSTION', MYSQL_80, value(0.85), 'warning'],
  ['MY_AUTOINC_EXHAUSTION', MYSQL_80, value(0.949), 'warning'],
  ['MY_AUTOINC_EXHAUSTION', MYSQL_80, value(0.95), 'critical'],
  ['MY_INDEX_GT_DATA', MARIADB, { ...shop, index_bytes: 2 ** 20 * 100 - 1, data_bytes: 9 }, undefined],
  ['MY_INDEX_GT_DATA', MARIADB, { ...shop, index_bytes: 2 ** 20 * 100, data_bytes: 9 }, 'info'],
  ['MY_NO_PRIMARY_KEY', MARIADB, noKey, 'warning'],
])('%s of version %i: %o is %s', (id, version, row, severity) => {
  const { faults } = judge(id, [server, row], { version });
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
  const [fault] = judge('MY_UNUSED_INDEX', rows, { version: MYSQL_80 }).faults;
  expect(fault?.remediation).toMatch(/^ALTER TABLE `shop`.`orders` ALTER INDEX `day` INVISIBLE;/);
  for (const id of ['MY_UNUSED_INDEX', 'MY_REDUNDANT_INDEX']) {
    expect(String(checkOf(id).sql(MYSQL_80))).toContain("is_visible = 'YES'");
    expect(String(checkOf(id).sql(MARIADB))).toContain("ignored = 'NO'");
  }
});

test('no wider type is proposed for the widest', () => {
  const [widest] = judge('MY_AUTOINC_EXHAUSTION', [server, value(0.99, 'bigint unsigned')]).faults;
  expect(widest?.remediation).toMatch(/^-- /);
});

test('over 20,000 tables nothing is measured; over 100 faults the list is cut short', () => {
  expect(judge('MY_NON_INNODB', [{ ...server, tables: 20_001 }]).skipped).toMatch(/20,001 tables/);
  const tables = Array.from({ length: 101 }, (_, n) => ({ ...noKey, found: 400, table_name: `t${n}` }));
  const { faults, truncated, measures } = judge('MY_NO_PRIMARY_KEY', [server, ...tables]);
  expect([faults.length, truncated]).toEqual([100, true]);
  expect(measures).toMatchObject([{ metric: 'tables_without_primary_key_count', value: 400 }]);
  const shares = Array.from({ length: 101 }, (_, n) => ({
    ...value(n < 100 ? 0.9 : 0.1),
    table_name: `t${n}`,
  }));
  expect(judge('MY_AUTOINC_EXHAUSTION', [server, ...shares]).truncated).toBe(false);
});

test('if tables may be hidden, visible faults are listed, and the check is never "ok"', () => {
  const hidden = { ...server, sees_all: 0 };
  const grant = `GRANT REFERENCES ON *.* TO 'watcher'@'10.0.0.7';`;
  expect(judge('MY_NO_PRIMARY_KEY', [hidden])).toMatchObject({
    grant,
    skipped: expect.stringContaining(grant),
  });
  const seen = judge('MY_NO_PRIMARY_KEY', [hidden, noKey]);
  expect([seen.faults.length, seen.truncated, seen.skipped]).toEqual([1, true, undefined]);
});
