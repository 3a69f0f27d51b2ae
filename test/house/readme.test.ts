import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { catalogues } from '../../src/checks/catalogue.ts';

test('the README says how many checks there are', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  const said = /(\d+) health checks on PostgreSQL and (\d+) on MySQL/.exec(readme)?.slice(1).map(Number);
  const { postgres, mysql } = catalogues;
  expect(said).toEqual([postgres.checks.length, mysql.checks.length]);
});
