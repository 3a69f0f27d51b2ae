import { expect, test } from 'vitest';
import { cheapestFirst } from './cheapest-first.ts';
import { mysqlChecks } from './mysql/mysql-checks.ts';
import { postgresChecks } from './postgres/postgres-checks.ts';

const costsOf = (ids: string[]) =>
  cheapestFirst([...postgresChecks, ...mysqlChecks].filter(({ id }) => ids.includes(id))).map(({ id }) => id);

test('memory views and security come before catalogues, and those before the statistics of columns', () => {
  expect(
    costsOf(['PG_TABLE_BLOAT_EST', 'PG_FK_UNINDEXED', 'PG_SECDEF_SEARCH_PATH', 'PG_CONN_SATURATION']),
  ).toEqual(['PG_CONN_SATURATION', 'PG_SECDEF_SEARCH_PATH', 'PG_FK_UNINDEXED', 'PG_TABLE_BLOAT_EST']);
  expect(costsOf(['MY_NO_PRIMARY_KEY', 'MY_EMPTY_PASSWORD', 'MY_LONG_TRX'])).toEqual([
    'MY_LONG_TRX',
    'MY_EMPTY_PASSWORD',
    'MY_NO_PRIMARY_KEY',
  ]);
});

test('of checks that cost the same, the order of the catalogue stays', () => {
  const cheap = mysqlChecks.filter(({ cost }) => cost === undefined);
  expect(cheapestFirst(cheap)).toEqual(cheap);
});
