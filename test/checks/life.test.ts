import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Check } from '../../src/checks/check.ts';
import { connectionFindings } from '../../src/checks/connection-findings.ts';
import { postgresChecks } from '../../src/checks/postgres/postgres-checks.ts';
import type { ConnectionKey } from '../../src/monitor/run.ts';
import { liveThrough } from '../provocation.ts';
import { startTestStore, type TestStore } from '../store.ts';
import { PASSWORD, PostgresServer, testsEndedVersion } from './postgres-server.ts';
import { provocations, provokedElsewhere } from './provocations.ts';

let store: TestStore;
let server: PostgresServer;
beforeAll(async () => {
  [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
});
afterAll(() => Promise.all([store.stop(), server.stop()]));

const shipped: (Partial<Check> & Pick<Check, 'id'>)[] = [...connectionFindings, ...postgresChecks];

/** A connection to the database `shop` of the test server. */
async function watched(): Promise<ConnectionKey> {
  const { host, port, database } = server;
  const key = await store.watched({ host, port, database }, PASSWORD);
  // On a busy machine, what provokes another fault takes 50 ms too.
  await store.set(key, { thresholds: { PG_SLOW_QUERIES: { info_ms: 60_000 } } }, { password: PASSWORD });
  if (testsEndedVersion()) await silence(key, ENDED);
  await silence(key, 'PG_MINOR_OUTDATED'); // the newest build at hand may be behind
  return key;
}

/** The check that always fails on a PostgreSQL out of support. */
const ENDED = 'PG_VERSION_EOL';

async function silence({ accountId, connectionId }: ConnectionKey, check_id: string): Promise<void> {
  await store.writer.query(
    `insert into silence (account_id, connection_id, check_id, reason, note, created_at)
     values ($1, $2, $3, 'accepted_risk', 'it is the version that is tested', now())`,
    [accountId, connectionId, check_id],
  );
}

test.each(provocations.filter(({ check_id }) => check_id !== ENDED || !testsEndedVersion()))(
  '$check_id ($object, $severity): found and ticket open, fixed and ticket resolved',
  async (provocation) => {
    const { check_id, thresholds = {} } = provocation;
    const check: Partial<Check> = shipped.find(({ id }) => id === check_id) ?? {};
    const settle = async () => {
      if (check.comparesRuns) await server.settle();
    };
    const key = await watched();
    await liveThrough(provocation, { store, server, key, check, thresholds, settle });
  },
);

test('every shipped check is provoked', () => {
  const provoked = new Set([...provocations.map(({ check_id }) => check_id), ...provokedElsewhere.keys()]);
  expect(shipped.map(({ id }) => id).filter((id) => !provoked.has(id))).toEqual([]);
});
