import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fault, ServerFacts } from '../../src/checks/check.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { documentedMetrics, reportedMetrics } from '../expect-measures.ts';
import { MariadbServer } from './mariadb-server.ts';
import { measure, sample } from './measure.ts';
import { type Provocation, provocations, provokedElsewhere } from './provocations.ts';

let server: MariadbServer;

beforeAll(async () => {
  server = await MariadbServer.start();
});
afterAll(() => server?.stop());

/** These are skipped on a new server without an earlier run, unless the test provokes them. */
const later = new Set([
  'MY_UNUSED_INDEX',
  ...mysqlChecks.filter(({ comparesRuns }) => comparesRuns).map(({ id }) => id),
]);

/** Checks of MySQL alone, or of special settings: skipped here, with the reason. */
const elsewhere = new Set(['MY_REDO_DISABLED', 'MY_GROUP_MEMBER_DOWN']);

/** All findings, as the monitor's login sees them. Only checks that `provoked` blinds may be skipped. */
async function found(
  provoked?: Pick<Provocation, 'check_id' | 'thresholds' | 'blinds'> & Pick<ServerFacts, 'before'>,
): Promise<({ check_id: string } & Fault)[]> {
  const faults = [];
  for (const check of mysqlChecks) {
    const own = check.id === provoked?.check_id;
    const { thresholds, before } = own ? provoked : {};
    const judgement = await measure(server, check, {
      ...(thresholds && { thresholds }),
      ...(before && { before }),
    });
    const blinded = provoked?.blinds?.includes(check.id) ?? false;
    if (own || !(later.has(check.id) || elsewhere.has(check.id))) {
      expect(judgement.skipped !== undefined, `${check.id}: ${judgement.skipped}`).toBe(blinded);
    }
    faults.push(...judgement.faults.map((fault) => ({ check_id: check.id, ...fault })));
  }
  return faults;
}

/** For a check of counters: what it reads now, as if from a run a minute ago. */
async function runBefore(id: string): Promise<Pick<ServerFacts, 'before'>> {
  const check = mysqlChecks.find((each) => each.id === id);
  return check?.comparesRuns ? { before: { rows: await sample(server, check), seconds: 60 } } : {};
}

test('a fresh server has no fault', async () => {
  expect(await found()).toEqual([]);
});

test.each(provocations)(
  '$check_id ($object, $severity): found, named, and fixed by its remediation',
  async ({ check_id, severity, object, thresholds, blinds, prepare, provoke }) => {
    const own = { check_id, ...(thresholds && { thresholds }) };
    await prepare?.(server);
    const before = await runBefore(check_id);
    const fix = await provoke(server);
    const faults = await found({ ...own, ...before, ...(blinds && { blinds }) });
    const after = await runBefore(check_id);
    expect(faults).toMatchObject([{ check_id, severity, object }]);
    await fix(faults[0]?.remediation ?? '');
    expect(await found({ ...own, ...after })).toEqual([]);
  },
);

test('every check has reported each measure that its page documents', () => {
  for (const { id } of mysqlChecks.filter((check) => !provokedElsewhere.has(check.id)))
    expect(reportedMetrics(id), id).toEqual(documentedMetrics(id).sort());
});

test('every check has a provocation', () => {
  const provoked = new Set([...provocations.map(({ check_id }) => check_id), ...provokedElsewhere.keys()]);
  expect(mysqlChecks.map(({ id }) => id).filter((id) => !provoked.has(id))).toEqual([]);
});
