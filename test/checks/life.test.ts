import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Check } from '../../src/checks/check.ts';
import { connectionFindings } from '../../src/checks/connection-findings.ts';
import { postgresChecks } from '../../src/checks/postgres/postgres-checks.ts';
import type { ConnectionKey } from '../../src/monitor/monitor-deps.ts';
import { groupProvocations, liveThrough } from '../support/provocation.ts';
import { rotate } from '../support/rotation.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { PASSWORD, PostgresServer, testsEndedVersion } from './postgres-server.ts';
import { provocations, provokedElsewhere } from './provocations.ts';

let store: TestStore;
let server: PostgresServer;
beforeAll(async () => {
  [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
});
afterAll(() => Promise.all([store.stop(), server.stop()]));

const shipped: (Partial<Check> & Pick<Check, 'id'>)[] = [...connectionFindings, ...postgresChecks];

/** Counts of whole seconds would differ between machines. What provokes another fault takes 50 ms on a busy one too. */
const others = {
  ...Object.fromEntries(
    postgresChecks
      .filter(({ comparesRuns }) => comparesRuns)
      .map(({ id }) => [id, { minimum_seconds: 3_600 }]),
  ),
  PG_SLOW_QUERIES: { info_ms: 60_000 },
};

/** The check that always fails on a PostgreSQL out of support. */
const ENDED = 'PG_VERSION_EOL';

/** A connection to the database `shop` of the test server. */
async function watched(): Promise<ConnectionKey> {
  const { host, port, database } = server;
  const key = await store.watched({ host, port, database }, PASSWORD);
  if (testsEndedVersion()) await silence(key, ENDED);
  await silence(key, 'PG_MINOR_OUTDATED'); // the newest build at hand may be behind
  return key;
}

async function silence({ accountId, connectionId }: ConnectionKey, check_id: string): Promise<void> {
  await store.writer.query(
    `insert into silence (account_id, connection_id, check_id, reason, note, created_at)
     values ($1, $2, $3, 'accepted_risk', 'it is the version that is tested', now())`,
    [accountId, connectionId, check_id],
  );
}

const tested = provocations.filter(({ check_id }) => check_id !== ENDED || !testsEndedVersion());
const cases = groupProvocations(tested, postgresChecks, (object) => object.startsWith('public')).map(
  (group) => ({ name: group.map(({ check_id, object }) => `${check_id} (${object})`).join(', '), group }),
);

/** The connection whose last run found nothing, and what it had tickets for: those would be opened again, so no new ones. */
let healthy: { key: ConnectionKey; had: string[] } | null = null;

test.each(rotate(cases))('$name: found and ticket open, fixed and ticket resolved', async ({ group }) => {
  const check = postgresChecks.find(({ id }) => id === group[0]?.check_id);
  const isFresh = check?.comparesRuns || group.some(({ prepare }) => prepare);
  const faults = group.map(({ check_id, object }) => `${check_id} ${object}`);
  const known = healthy && !healthy.had.some((fault) => faults.includes(fault)) ? healthy : null;
  const { key, had } = known ?? { key: await watched(), had: [] };
  const startsHealthy = known !== null && !isFresh;
  healthy = null; // a test that fails leaves tickets behind
  const volatile = check?.volatile ?? false;
  const settle = async () => {
    if (check?.comparesRuns) await server.settle();
  };
  await liveThrough(group, { store, server, key, startsHealthy, volatile, others, settle });
  healthy = { key, had: [...had, ...faults] };
});

test('every shipped check is provoked', () => {
  const provoked = new Set([...provocations.map(({ check_id }) => check_id), ...provokedElsewhere.keys()]);
  expect(shipped.map(({ id }) => id).filter((id) => !provoked.has(id))).toEqual([]);
});
