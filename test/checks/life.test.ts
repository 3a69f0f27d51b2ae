import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONN_AUTH_FAILED, CONN_UNREACHABLE } from '../../src/checks/catalogue.ts';
import type { Thresholds } from '../../src/checks/check.ts';
import { postgresChecks } from '../../src/checks/postgres/postgres-checks.ts';
import { sealCredential } from '../../src/monitor/credentials.ts';
import { type ConnectionKey, runHealthCheck } from '../../src/monitor/run.ts';
import { startTestStore, type TestStore } from '../store.ts';
import { PASSWORD, PostgresServer, testsEndedVersion } from './postgres-server.ts';
import { provocations, provokedElsewhere } from './provocations.ts';

let store: TestStore;
let server: PostgresServer;
beforeAll(async () => {
  [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
});
afterAll(() => Promise.all([store.stop(), server.stop()]));

const shipped = [CONN_UNREACHABLE, CONN_AUTH_FAILED, ...postgresChecks];

/** A connection to the database `shop` of the test server. */
async function watched(): Promise<ConnectionKey> {
  const accountId = await store.account();
  const { host, port, database } = server;
  const key = { accountId, connectionId: await store.connection(accountId, { host, port, database }) };
  const sealed = await sealCredential(store.writer, store.deps.secret, key, PASSWORD);
  await store.writer.query('update connection set credential = $2 where account_id = $1', [
    accountId,
    sealed,
  ]);
  if (testsEndedVersion()) await silence(key, STANDING);
  return key;
}

/** Stands on an ended version, whatever the test makes or mends. */
const STANDING = 'PG_VERSION_EOL';

async function silence({ accountId, connectionId }: ConnectionKey, check_id: string): Promise<void> {
  await store.writer.query(
    `insert into silence (account_id, connection_id, check_id, reason, note, created_at)
     values ($1, $2, $3, 'accepted_risk', 'it is the version that is tested', now())`,
    [accountId, connectionId, check_id],
  );
}

async function tickets({ accountId }: ConnectionKey) {
  const { rows } = await store.writer.query<{ check_id: string; remediation: string }>(
    `select check_id, object, severity, status, remediation from ticket where account_id = $1 order by ticket_id`,
    [accountId],
  );
  return rows;
}

test.each(provocations.filter(({ check_id }) => check_id !== STANDING || !testsEndedVersion()))(
  '$check_id ($object, $severity): found and ticket open, mended and ticket resolved',
  async ({ check_id, severity, object, thresholds = {}, prepare, provoke }) => {
    const key = await watched();
    const volatile = shipped.find(({ id }) => id === check_id)?.volatile;
    const counts = postgresChecks.some(({ id, counts }) => id === check_id && counts);
    const own: Record<string, Thresholds> = { [check_id]: thresholds };
    const run = () => runHealthCheck({ ...store.deps, thresholds: own }, key);

    await prepare?.(server);
    if (counts) await server.settle();
    expect((await run())?.score).toBe(100);
    const mend = await provoke(server);
    if (counts) await server.settle();
    const stored = await run();
    expect(stored?.checks[0]).toMatchObject({ check_id, severity, status: severity });
    expect(stored?.score).toBeLessThan(100);
    if (volatile) {
      expect(await tickets(key)).toEqual([]);
      await run();
    }
    const opened = await tickets(key);
    expect(opened).toMatchObject([{ check_id, object, severity, status: 'open' }]);

    await mend(opened[0]?.remediation ?? '');
    if (counts) await server.settle();
    if (volatile) {
      await run();
      expect(await tickets(key)).toMatchObject([{ status: 'open' }]);
    }
    expect((await run())?.score).toBe(100);
    expect(await tickets(key)).toMatchObject([{ check_id, object, status: 'resolved' }]);
  },
);

test('every shipped check is provoked', () => {
  const provoked = new Set([...provocations.map(({ check_id }) => check_id), ...provokedElsewhere.keys()]);
  expect(shipped.map(({ id }) => id).filter((id) => !provoked.has(id))).toEqual([]);
});
