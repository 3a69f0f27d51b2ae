import type mysql from 'mysql2/promise';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { versionNumber } from '../../src/checks/mysql/flavour.ts';
import { readMysqlSchema } from '../../src/runs/changes/mysql-schema.ts';
import { MysqlServer } from './mysql-server.ts';

const TABLES = 10;
const KEYS_EACH = 25;

let server: MysqlServer;
beforeAll(async () => {
  server = await MysqlServer.start({ 'innodb-flush-log-at-trx-commit': '0' });
  const numbers = [...Array(KEYS_EACH).keys()];
  const columns = numbers.map((n) => `a${n} int, b${n} int`);
  const keys = numbers.map(
    (n) => `constraint \`T KEY ${n}\` foreign key (b${n}, a${n}) references parent (b, a)`,
  );
  await server.run([
    'create table parent (a int, b int, primary key (b, a))',
    ...[...Array(TABLES).keys()].map(
      (t) => `create table child${t} (${[...columns, ...keys].join(', ').replaceAll('T KEY', `c${t}`)})`,
    ),
  ]);
});
afterAll(() => server?.stop());

test('foreign keys of two columns are read without comparing all pairs', async () => {
  const session = await server.open('watcher', '');
  try {
    const read = async (statement: string) => (await session.query<mysql.RowDataPacket[]>(statement))[0];
    const [shown] = await read('select version() as text');
    const version = versionNumber(String(shown?.['text'])) ?? 0;
    const plans = new Map<string, string>();
    // What the statements compare decides here, not how busy the machine is.
    vi.spyOn(performance, 'now').mockReturnValue(0);
    const readings = await readMysqlSchema(
      async (statement) => {
        if (statement.includes('foreign_cols')) {
          const plan = await read(`explain ${statement.trim().replace(/^set statement .*? for /, '')}`);
          plans.set(statement, JSON.stringify(plan));
        }
        return read(statement.replace(/max_statement_time = [\d.]+/, 'max_statement_time = 60'));
      },
      (value) => value,
      { version, me: "'watcher'@'localhost'" },
    );
    const [plan] = plans.values();
    expect(plan).toMatch(/union/i);
    expect(plan).not.toContain('join buffer');
    const constraints = readings.flatMap(({ facts }) => facts).filter(([kind]) => kind === 'constraint');
    expect(constraints).toHaveLength(TABLES * KEYS_EACH);
    for (const [, , value] of constraints)
      expect(value).toMatch(/^foreign key \(b(\d+), a\1\) references `shop`.`parent` \(b, a\), type \d+$/);
  } finally {
    vi.restoreAllMocks();
    await session.end();
  }
});
