import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServerFacts } from '../../src/checks/check.ts';
import type { Fault } from '../../src/checks/fault.ts';
import { postgresChecks } from '../../src/checks/postgres/postgres-checks.ts';
import { documentedMetrics, reportedMetrics } from '../support/expect-measures.ts';
import { expectOnPages } from '../support/expect-on-pages.ts';
import { measure, sample } from './measure.ts';
import { isSteps, paste } from './paste.ts';
import { expectPlain } from './pasted/plain-remediations.ts';
import { PostgresServer, testsEndedVersion } from './postgres-server.ts';
import { type Provocation, provocations, provokedElsewhere } from './provocations.ts';

let server: PostgresServer;

/** What no test here can fix: the newest build at hand may be behind. */
const standing = new Set(['PG_MINOR_OUTDATED', ...(testsEndedVersion() ? ['PG_VERSION_EOL'] : [])]);

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

/** These are skipped on a new server without an earlier run, unless the test provokes them. */
const later = new Set([
  'PG_UNUSED_INDEX',
  ...postgresChecks
    .filter(({ comparesRuns, readsQueries }) => comparesRuns || readsQueries)
    .map(({ id }) => id),
]);

/**
 * Whether a test of this provocation measures the check. That no other check finds the fault is shown by life.test.ts on the
 * version of the store; on the other versions every check is measured here.
 */
const isMeasured = (id: string, provoked?: string) =>
  !standing.has(id) &&
  (provoked === undefined || id === provoked || process.env['TEST_POSTGRES_PROGRAMS'] !== undefined);

/** All that the checks find, as the monitor's own role sees it. Only what `provoked` blinds may be skipped. */
async function found(
  provoked?: Pick<Provocation, 'check_id' | 'thresholds' | 'blinds'> & Pick<ServerFacts, 'before'>,
): Promise<({ check_id: string } & Fault)[]> {
  const client = await server.open('watcher');
  try {
    const faults = [];
    for (const check of postgresChecks.filter(({ id }) => isMeasured(id, provoked?.check_id))) {
      const own = check.id === provoked?.check_id;
      const { thresholds, before } = own ? provoked : {};
      const facts = { ...(thresholds && { thresholds }), ...(before && { before }) };
      const judgement = await measure(client, check, facts);
      const blinded = provoked?.blinds?.includes(check.id) ?? false;
      if (own || !later.has(check.id)) {
        expect(judgement.skipped !== undefined, `${check.id}: ${judgement.skipped}`).toBe(blinded);
      }
      faults.push(...judgement.faults.map((fault) => ({ check_id: check.id, ...fault })));
    }
    return faults;
  } finally {
    await client.end();
  }
}

/** For a check of counters: what it reads now, as if from a run a minute ago. */
async function runBefore(id: string): Promise<Pick<ServerFacts, 'before'>> {
  const check = postgresChecks.find((each) => each.id === id);
  if (!check?.comparesRuns) return {};
  const client = await server.open('watcher');
  try {
    return { before: { rows: await sample(client, check), seconds: 60 } };
  } finally {
    await client.end();
  }
}

/** What the checks printed. */
const printed: [check_id: string, remediation: string][] = [];

// Statements, with a note or without; or a sentence.
const PASTED = /^(?:[A-Z]{3,} .*;(?: -- .+)?|[A-Z][a-z].*\.)$/;

test('a fresh server has no fault', async () => {
  expect(await found()).toEqual([]);
});

/** Checks of what queries did, which a whole run reads: see queries.test.ts. */
const ofQueries = new Set(postgresChecks.filter(({ readsQueries }) => readsQueries).map(({ id }) => id));

const measurable = provocations.filter(
  ({ check_id }) => !check_id.startsWith('CONN_') && !standing.has(check_id) && !ofQueries.has(check_id),
);

test.each(measurable)(
  '$check_id ($object, $severity): found, named, and fixed by its remediation',
  async ({ check_id, severity, object, thresholds, blinds, prepare, provoke }) => {
    const own = { check_id, ...(thresholds && { thresholds }) };
    const counts = postgresChecks.some(({ id, comparesRuns }) => id === check_id && comparesRuns);
    await prepare?.(server);
    if (counts) await server.settle();
    const before = await runBefore(check_id);
    const fix = await provoke(server);
    if (counts) await server.settle();
    const faults = await found({ ...own, ...before, ...(blinds && { blinds }) });
    const after = await runBefore(check_id);
    expect(faults).toMatchObject([{ check_id, severity, object }]);
    const remediation = faults[0]?.remediation ?? '';
    expect(remediation).toMatch(PASTED);
    printed.push([check_id, remediation]);
    expectPlain(check_id, remediation);
    if (isSteps(remediation)) await paste(server, remediation);
    await fix(remediation);
    if (counts) await server.settle();
    expect(await found({ ...own, ...after })).toEqual([]);
  },
);

test('every check has reported each measure that its page documents', () => {
  const elsewhere = (id: string) => standing.has(id) || ofQueries.has(id) || provokedElsewhere.has(id);
  for (const { id } of postgresChecks.filter(({ id }) => !elsewhere(id)))
    expect(reportedMetrics(id), id).toEqual(documentedMetrics(id).sort());
});

test('the page of each check shows what the check prints', () => expectOnPages(printed));

test('every check has a provocation', () => {
  const provoked = new Set([...provocations.map(({ check_id }) => check_id), ...provokedElsewhere.keys()]);
  expect(postgresChecks.map(({ id }) => id).filter((id) => !provoked.has(id))).toEqual([]);
});
