import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ServerFacts } from '../../src/checks/check.ts';
import type { Fault } from '../../src/checks/fault.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { documentedMetrics, reportedMetrics } from '../support/expect-measures.ts';
import { measure, sample } from './measure.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { type Provocation, provocations, provokedElsewhere } from './provocations.ts';
import { emptyDefinitionCache, fillDefinitionCache } from './provocations-figures.ts';
import { unusedPort } from './provocations-settings.ts';

let server: MysqlServer;

beforeAll(async () => {
  server = await MysqlServer.start();
});
afterAll(() => server?.stop());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await server.endSessions();
});

/** These are skipped on a new server without an earlier run, unless the test provokes them. */
const later = new Set([
  'MY_UNUSED_INDEX',
  ...mysqlChecks.filter(({ comparesRuns, readsQueries }) => comparesRuns || readsQueries).map(({ id }) => id),
]);

/** Checks of MySQL alone, or of special settings: skipped here, with the reason. */
const elsewhere = new Set([
  'MY_REDO_DISABLED',
  'MY_GROUP_MEMBER_DOWN',
  'MY_GALERA_UNSYNCED',
  'MY_MEMORY_OVERCOMMIT',
]);

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

test('temporary tables are no misses of a full cache of table definitions', async () => {
  await fillDefinitionCache(server);
  const [check] = mysqlChecks.filter(({ id }) => id === 'MY_TABLE_DEFINITION_CACHE');
  if (!check) throw new Error('There is no such check.');
  const before = { rows: await sample(server, check), seconds: 60 };
  await server.run(Array.from({ length: 300 }, (_, n) => `create temporary table x${n} (id int)`));
  const thresholds = { warning_per_second: 0.1 };
  expect((await measure(server, check, { before, thresholds })).faults).toEqual([]);
  await emptyDefinitionCache(server);
});

test('an account with a host name needs names of clients', async () => {
  const [check] = mysqlChecks.filter(({ id }) => id === 'MY_NAME_RESOLUTION');
  if (!check) throw new Error('There is no such check.');
  const port = await unusedPort();
  await server.restart({ 'skip-networking': 'OFF', 'bind-address': '127.0.0.1', port });
  const hosts = ['10.%', '10.1.2.0/255.255.255.0', 'fe80::%', '192.168.0._', 'db.example.com'];
  for (const host of hosts) {
    await server.run(`create user guest@'${host}' identified by '${PASSWORD}'`);
    const { passMessage = '' } = await measure(server, check);
    expect([host, passMessage.includes('with a host name')]).toEqual([host, host === 'db.example.com']);
  }
  for (const host of hosts) await server.run(`drop user guest@'${host}'`);
  await server.restart();
});

test('every check has reported each measure that its page documents', () => {
  // A whole run reads what queries did: see queries.test.ts.
  const here = mysqlChecks.filter(({ id, readsQueries }) => !readsQueries && !provokedElsewhere.has(id));
  for (const { id } of here) expect(reportedMetrics(id), id).toEqual(documentedMetrics(id).sort());
});

test('every check has a provocation', () => {
  const provoked = new Set([...provocations.map(({ check_id }) => check_id), ...provokedElsewhere.keys()]);
  expect(mysqlChecks.map(({ id }) => id).filter((id) => !provoked.has(id))).toEqual([]);
});
