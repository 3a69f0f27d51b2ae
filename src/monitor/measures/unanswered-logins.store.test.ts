import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { LIMITS } from '../limits.ts';
import { HeldSession } from '../pulse/held-session.ts';
import { loadPulse } from '../pulse/load-pulse.ts';
import { runHealthCheck } from '../run.ts';
import { runOnce } from '../run-fixture.ts';
import type { StoredCheck } from '../store-run.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

test('a locked database of the connection has one login of runs and one of pulses that wait, until they are answered', async () => {
  const root = await store.superuser();
  await root.query('create database shut');
  const holder = await store.superuser('shut');
  await holder.query('begin; lock table pg_catalog.pg_class in access exclusive mode');
  const key = await store.watched({ database: 'shut' });
  const waiting = async () =>
    (
      await root.query(`select from pg_locks l join pg_database d on d.oid = l.database and datname = 'shut'
                        where not l.granted`)
    ).rowCount;
  const limits = { ...LIMITS, connectMs: 500, betweenTriesMs: 50 };
  const firstLine = ({ checks: [first] }: StoredCheck) => `${first?.check_id}: ${first?.metric_line}`;
  const tried = await runOnce(store, key, limits);
  expect(firstLine(tried)).toMatch(
    /^CONN_UNREACHABLE: .* in 3 tries: it did not answer the login within 0.5 s\.$/,
  );
  expect(tried.checks[0]?.remediation).toMatch(/a session that locks a catalogue/);
  expect(await waiting()).toBe(1);
  for (let n = 0; n < 2; n++)
    expect(firstLine(await runOnce(store, key, limits))).toMatch(
      /login of 1 min ago, which may still wait there; the next .* in 10 min\.$/,
    );
  expect(await waiting()).toBe(1);
  await store.set(key, { database: 'postgres' });
  expect(firstLine(await runOnce(store, key, limits))).not.toContain('CONN_UNREACHABLE');
  const left = await waiting(); // that run logged in to all databases
  await store.set(key, { database: 'shut' });
  expect(firstLine(await runOnce(store, key, limits))).toMatch(/which may still wait there/);
  expect(await waiting()).toBe(left);
  const loaded = await loadPulse(store.deps, key);
  if (!loaded) throw new Error('it was not loaded');
  const held = new HeldSession(loaded.target, true);
  for (let n = 0; n < 3; n++)
    expect(await held.pulse()).toMatchObject({
      failure: { kind: 'unreachable', reason: 'it did not answer the login within 3 s' },
    });
  expect(await waiting()).toBe(Number(left) + 1);
  await holder.end();
  expect(await held.pulse()).toHaveProperty('reading');
  await expect.poll(waiting).toBe(0);
  const evidence = { holding: [], cleared: ['unreachable' as const] };
  const after = await runHealthCheck({ ...store.deps, limits }, key, undefined, { evidence });
  expect(after?.checks.filter(({ check_id }) => check_id === 'CONN_UNREACHABLE')).toMatchObject([
    { status: 'ok' },
  ]);
  expect(after && firstLine(await runOnce(store, key, limits))).not.toContain('CONN_UNREACHABLE');
  await held.end();
  await root.query('drop database shut with (force)');
});
