import { expect } from 'vitest';
import type { Check, Severity, Thresholds } from '../src/checks/check.ts';
import { type ConnectionKey, runHealthCheck } from '../src/monitor/run.ts';
import type { TestStore } from './store.ts';

/** A fault that can be made on a test server and mended again, and the finding that it must give. */
export interface Provocation<Server> {
  check_id: string;
  severity: Severity;
  object: string | null;
  /** So that nobody has to wait for half an hour. */
  thresholds?: Thresholds;
  /** Other checks that can't measure anything meanwhile. */
  blinds?: string[];
  /** Makes what has to be there at the run before. */
  prepare?(server: Server): Promise<void>;
  /** Makes the fault; what it returns mends it, by running the finding's remediation where that is SQL. */
  provoke(server: Server): Promise<(remediation: string) => Promise<void>>;
}

/** Where a provocation is lived through: a store, a connection of it to the server, and the check that must find the fault. */
export interface Stage<Server> {
  store: TestStore;
  server: Server;
  key: ConnectionKey;
  check: Pick<Partial<Check>, 'volatile'>;
  /** The check's own in this run. */
  thresholds: Thresholds;
  /** Called before a run that must see what was done. */
  settle?: () => Promise<void>;
}

/** From fault to ticket and back: healthy, found with a ticket that opens, mended by the finding's remediation, resolved. */
export async function liveThrough<Server>(
  { check_id, severity, object, prepare, provoke }: Provocation<Server>,
  { store, server, key, check, thresholds, settle = async () => {} }: Stage<Server>,
): Promise<void> {
  const run = () => runHealthCheck({ ...store.deps, thresholds: { [check_id]: thresholds } }, key);

  await prepare?.(server);
  await settle();
  const first = await run();
  expect(first?.score, JSON.stringify(first?.checks.slice(0, 3))).toBe(100);
  const mend = await provoke(server);
  await settle();
  const stored = await run();
  expect(stored?.checks[0]).toMatchObject({ check_id, severity, status: severity });
  expect(stored?.score).toBeLessThan(100);
  if (check.volatile) {
    expect(await ticketsOf(store, key)).toEqual([]);
    await run();
  }
  const opened = await ticketsOf(store, key);
  expect(opened).toMatchObject([{ check_id, object, severity, status: 'open' }]);

  await mend(opened[0]?.remediation ?? '');
  await settle();
  if (check.volatile) {
    await run();
    expect(await ticketsOf(store, key)).toMatchObject([{ status: 'open' }]);
  }
  expect((await run())?.score).toBe(100);
  expect(await ticketsOf(store, key)).toMatchObject([{ check_id, object, status: 'resolved' }]);
}

async function ticketsOf({ writer }: TestStore, { accountId }: ConnectionKey) {
  const { rows } = await writer.query<{ check_id: string; remediation: string }>(
    `select check_id, object, severity, status, remediation from ticket where account_id = $1 order by ticket_id`,
    [accountId],
  );
  return rows;
}
