import { expect } from 'vitest';
import type { Check, Thresholds } from '../../src/checks/check.ts';
import type { ConnectionKey } from '../../src/monitor/monitor-deps.ts';
import { runHealthCheck } from '../../src/monitor/run.ts';
import type { Severity } from '../../src/vocabulary/severities.ts';
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
  /** By its thresholds, objects of other provocations are faults too. */
  isAlone?: boolean;
  /** Creates objects that must exist at the previous run. */
  prepare?(server: Server): Promise<void>;
  /** Causes the fault. Returns a function that fixes it, by running the finding's remediation if that is SQL. */
  provoke(server: Server): Promise<(remediation: string) => Promise<void>>;
}

/** The setting of provocations: a store, its connection to the server, and what is known of the checks. */
export interface Stage<Server> {
  store: TestStore;
  server: Server;
  key: ConnectionKey;
  /** Whether the last run of this connection found nothing. */
  startsHealthy?: boolean;
  /** Whether a finding opens its ticket only when the next run finds it too. */
  volatile?: boolean;
  /** Thresholds of the other checks, which a slow machine may not provoke. */
  others?: Readonly<Record<string, Thresholds>>;
  /** Runs before a run that must see the change. */
  settle?: () => Promise<void>;
}

/**
 * Tests a full cycle of faults that can exist side by side: healthy, all found and their tickets opened, fixed by the
 * remediations, resolved.
 */
export async function liveThrough<Server>(
  provocations: readonly Provocation<Server>[],
  {
    store,
    server,
    key,
    startsHealthy = false,
    volatile = false,
    others,
    settle = async () => {},
  }: Stage<Server>,
): Promise<void> {
  const thresholds = { ...others };
  for (const { check_id, thresholds: own } of provocations) if (own) thresholds[check_id] = own;
  const run = () => runHealthCheck({ ...store.deps, thresholds }, key);
  const earlier = (await readTickets(store, key)).length;
  const tickets = async () => (await readTickets(store, key)).slice(earlier).sort(byCheck);
  const expectTickets = async (status: string) => {
    const expected = provocations.map(({ check_id, object, severity }) => ({
      check_id,
      object,
      severity,
      status,
    }));
    const seen = await tickets();
    expect(seen).toMatchObject(expected.sort(byCheck));
    return seen;
  };

  for (const { prepare } of provocations) await prepare?.(server);
  if (!startsHealthy) {
    await settle();
    const first = await run();
    expect(first?.score, JSON.stringify(first?.checks.slice(0, 3))).toBe(100);
  }
  const fixes = new Map<string, (remediation: string) => Promise<void>>();
  for (const { check_id, provoke } of provocations) fixes.set(check_id, await provoke(server));
  await settle();
  const stored = await run();
  for (const { check_id, severity } of provocations) {
    const finding = stored?.checks.find((each) => each.check_id === check_id);
    expect(finding).toMatchObject({ severity, status: severity });
  }
  expect(stored?.score).toBeLessThan(100);
  if (volatile) {
    expect(await tickets()).toEqual([]);
    await run();
  }
  const opened = await expectTickets('open');

  for (const { check_id, remediation } of opened) await fixes.get(check_id)?.(remediation);
  await settle();
  if (volatile) {
    await run();
    await expectTickets('open');
  }
  const last = await run();
  expect(last?.score, JSON.stringify(last?.checks.slice(0, 3))).toBe(100);
  await expectTickets('resolved');
}

const byCheck = (a: { check_id: string }, b: { check_id: string }) => (a.check_id < b.check_id ? -1 : 1);

/**
 * Groups provocations that one run can find together: faults of objects that the tests made, each of another check, that
 * need no second run. The others stay alone.
 */
export function groupProvocations<Server>(
  provocations: readonly Provocation<Server>[],
  checks: readonly Partial<Check>[],
  isOwnObject: (object: string) => boolean,
): Provocation<Server>[][] {
  const groups: Provocation<Server>[][] = [];
  const alone: Provocation<Server>[][] = [];
  for (const provocation of provocations) {
    const { check_id, object, prepare, blinds, isAlone } = provocation;
    const check = checks.find(({ id }) => id === check_id);
    if (
      isAlone ||
      prepare ||
      blinds ||
      check?.volatile ||
      check?.comparesRuns ||
      typeof object !== 'string' ||
      !isOwnObject(object)
    ) {
      alone.push([provocation]);
      continue;
    }
    const group = groups.find((members) => members.every((member) => member.check_id !== check_id));
    if (group) group.push(provocation);
    else groups.push([provocation]);
  }
  return [...groups, ...alone];
}

/** The tickets of a connection's account, oldest first. */
export async function readTickets({ writer }: TestStore, { accountId }: ConnectionKey) {
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
