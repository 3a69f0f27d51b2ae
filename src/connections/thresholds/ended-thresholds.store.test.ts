import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

test('an upgrade removes critical thresholds of checks that are at most a warning, and no other', async () => {
  const accountId = await store.account();
  const id = await store.connection(accountId, { engine: 'postgres' });
  const untouched = await store.connection(accountId, { engine: 'postgres' });
  const blocked = { warning_seconds: 10, critical_seconds: 20 };
  const setOwn = (connection: number, thresholds: object) =>
    store.writer.query('update connection set thresholds = $2 where connection_id = $1', [
      connection,
      thresholds,
    ]);
  await setOwn(id, {
    PG_LONG_QUERY: { critical_seconds: 5 },
    PG_DEAD_TUPLES: { warning: 0.2, critical: 0.5 },
    PG_BLOCKED_SESSIONS: blocked,
  });
  await setOwn(untouched, { PG_BLOCKED_SESSIONS: blocked });
  await store.writer.query(
    `insert into threshold
     select $1, '', check_id, name, 1, now(), 'Ada'
       from (values ('PG_LONG_XACT', 'critical_seconds'), ('PG_LONG_XACT', 'warning_seconds'),
                    ('PG_BLOCKED_SESSIONS', 'critical_seconds')) as named (check_id, name)`,
    [accountId],
  );
  const migration = readFileSync(new URL('../../../migrations/0039_severities.sql', import.meta.url), 'utf8');
  await store.writer.query(`begin; ${migration}; commit`);

  const own = await store.writer.query(
    'select thresholds from connection where account_id = $1 order by connection_id',
    [accountId],
  );
  expect(own.rows.map(({ thresholds }) => thresholds)).toEqual([
    { PG_DEAD_TUPLES: { warning: 0.2 }, PG_BLOCKED_SESSIONS: blocked },
    { PG_BLOCKED_SESSIONS: blocked },
  ]);
  const shared = await store.writer.query(
    `select check_id || '.' || name as name from threshold where account_id = $1 order by 1`,
    [accountId],
  );
  expect(shared.rows.map(({ name }) => name)).toEqual([
    'PG_BLOCKED_SESSIONS.critical_seconds',
    'PG_LONG_XACT.warning_seconds',
  ]);
});
