import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD, PostgresServer } from '../../../test/checks/postgres-server.ts';
import { postgresChecks } from '../../checks/postgres/postgres-checks.ts';
import { LIMITS } from '../limits.ts';
import { measure } from '../measure.ts';
import { target } from '../run-fixture.ts';

const DATABASES = ['annex', 'barn'];
const RUN_MS = 20_000;

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
  for (const name of DATABASES) await server.run(`create database ${name}`);
});
afterAll(() => server.stop());

const heavy = new Set(
  postgresChecks.filter(({ scope, cost }) => scope === 'database' && cost === 2).map(({ id }) => id),
);

/** The checks of the databases besides the session's own, in the order of a run that is paused before them. */
async function orderAfter(pauseMs: number): Promise<{ id: string; database: string }[]> {
  const order: { id: string; database: string }[] = [];
  let isPaused = false;
  const { host, port, database } = server;
  await measure(
    {
      ...target,
      connectionType: 'unix_socket',
      host,
      port,
      database,
      username: 'watcher',
      password: PASSWORD,
    },
    {
      allowPrivateTargets: true,
      thresholds: {},
      signal: AbortSignal.timeout(2 * RUN_MS),
      limits: { ...LIMITS, runMs: RUN_MS },
      note: (step, { check_id, database: place }) => {
        if (step !== 'check') return;
        if (!isPaused) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
        isPaused = true;
        const named = String(place);
        if (DATABASES.includes(named)) order.push({ id: String(check_id), database: named });
      },
    },
  );
  return order;
}

test('in a run that is late, heavy checks of further databases wait for the cheap ones of all', async () => {
  const order = await orderAfter(RUN_MS / 4);
  const firstHeavy = order.findIndex(({ id }) => heavy.has(id));
  const lastCheap = order.findLastIndex(({ id }) => !heavy.has(id));
  expect(firstHeavy).toBeGreaterThan(lastCheap);
  const early = await orderAfter(0);
  expect(early.findIndex(({ id }) => heavy.has(id))).toBeLessThan(
    early.findIndex(({ database }) => database !== early[0]?.database),
  );
  const sorted = (checks: typeof order) => checks.map(({ id, database }) => `${id} ${database}`).sort();
  expect(sorted(order)).toEqual(sorted(early)); // each is measured in each database, once
  expect(heavy.size).toBeGreaterThan(0);
});
