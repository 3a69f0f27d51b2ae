import { expect } from 'vitest';
import type { Check, Thresholds } from '../src/checks/check.ts';
import { type ConnectionKey, runHealthCheck } from '../src/monitor/run.ts';
import type { Severity } from '../src/vocabulary/severities.ts';
import type { TestStore } from './store.ts';

/** A fault that a test can cause and fix on a server, and the expected finding. */
export interface Provocation<Server> {
  check_id: string;
  severity: Severity;
  object: string | null;
  /** Thresholds that avoid a wait of half an hour. */
  thresholds?: Thresholds;
  /** Other checks that can't run during the fault. */
  blinds?: string[];
  /** Creates objects that must exist at the previous run. */
  prepare?(server: Server): Promise<void>;
  /** Causes the fault. Returns a function that fixes it, by running the finding's remediation if that is SQL. */
  provoke(server: Server): Promise<(remediation: string) => Promise<void>>;
}

/** The setting of a provocation: a store, its connection to the server, and the check that must find the fault. */
export interface Stage<Server> {
  store: TestStore;
  server: Server;
  key: ConnectionKey;
  check: Pick<Partial<Check>, 'volatile'>;
  /** The check's findings in this run. */
  thresholds: Thresholds;
  /** Thresholds of the other checks, which a slow machine may not provoke. */
  others?: Readonly<Record<string, Thresholds>>;
  /** Runs before a run that must see the change. */
  settle?: () => Promise<void>;
}

/** Tests a full cycle: healthy, fault found and ticket opened, fixed by the remediation, ticket resolved. */
export async function liveThrough<Server>(
  { check_id, severity, object, prepare, provoke }: Provocation<Server>,
  { store, server, key, check, thresholds, others = {}, settle = async () => {} }: Stage<Server>,
): Promise<void> {
  const run = () => runHealthCheck({ ...store.deps, thresholds: { ...others, [check_id]: thresholds } }, key);

  await prepare?.(server);
  await settle();
  const first = await run();
  expect(first?.score, JSON.stringify(first?.checks.slice(0, 3))).toBe(100);
  const fix = await provoke(server);
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

  await fix(opened[0]?.remediation ?? '');
  await settle();
  if (check.volatile) {
    await run();
    expect(await ticketsOf(store, key)).toMatchObject([{ status: 'open' }]);
  }
  const third = await run();
  expect(third?.score, JSON.stringify(third?.checks.slice(0, 3))).toBe(100);
  expect(await ticketsOf(store, key)).toMatchObject([{ check_id, object, status: 'resolved' }]);
}

/** The tickets of a connection's account, oldest first. */
export async function ticketsOf({ writer }: TestStore, { accountId }: ConnectionKey) {
  const { rows } = await writer.query<{
    check_id: string;
    object: string | null;
    severity: Severity;
    status: string;
    remediation: string;
  }>(
    `select check_id, object, severity, status, remediation from ticket where account_id = $1 order by ticket_id`,
    [accountId],
  );
  return rows;
}
