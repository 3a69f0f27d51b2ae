import { afterAll, beforeAll, expect, test } from 'vitest';
import { judgementOf } from '../../src/checks/judgement-of.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { reconcileIndexes } from '../../src/monitor/measures/reconcile-indexes.ts';
import type { MeasuredSample } from '../../src/monitor/outcome.ts';
import { judgeable } from './measure.ts';
import { MysqlServer } from './mysql-server.ts';

let server: MysqlServer;

beforeAll(async () => {
  server = await MysqlServer.start();
});
afterAll(() => server?.stop());

const thresholds = { statistics_days: 0, minimum_bytes: 0 };

/** The indexes that the checks of a run say to drop, after their advice was reconciled. */
async function advice(): Promise<string[]> {
  const samples: MeasuredSample[] = [];
  for (const check of mysqlChecks.filter(({ id }) => /^MY_(?:REDUNDANT|UNUSED)_INDEX$/.test(id))) {
    const { rows, facts } = await judgeable(server, check, { thresholds });
    const judgement = judgementOf(check, rows, facts);
    const judgeByPlan: MeasuredSample['judgeByPlan'] = (indexPlan) =>
      judgementOf(check, rows, { ...facts, indexPlan });
    samples.push({ database: '', judgement, judgeByPlan });
  }
  reconcileIndexes(samples);
  return samples.flatMap(({ judgement }) =>
    'skipped' in judgement ? judgement.skipped : judgement.faults.map(({ object }) => object ?? ''),
  );
}

test('the advice of a run never drops both indexes that begin with a column, nor one index twice', async () => {
  await server.run(
    [
      'drop database shop',
      'create database shop',
      'use shop',
      // The short one is read, the long one is not; then neither.
      'create table a (id int primary key, x int, y int, key short (x), key `long` (x, y))',
      'create table b (id int primary key, x int, y int, key short (x), key `long` (x, y))',
      'insert into a values (1, 1, 1), (2, 2, 2)',
      'analyze table a',
      'select id from a force index (short) where x = 1',
    ],
    '',
  );
  expect((await advice()).sort()).toEqual(['`shop`.`a`.`long`', '`shop`.`b`.`short`']);
});
