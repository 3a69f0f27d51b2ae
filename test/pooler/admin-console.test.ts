import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import type { Finding } from '../../src/checks/check.ts';
import { judgementOf } from '../../src/checks/judgement-of.ts';
import { pgbouncerChecks } from '../../src/checks/pgbouncer/pgbouncer-checks.ts';
import { rowsOf } from '../../src/checks/rows.ts';
import { type Instructions, measure } from '../../src/monitor/measure.ts';
import { requireReading } from '../../src/monitor/pulse/blocking-fixture.ts';
import { HeldSession } from '../../src/monitor/pulse/held-session.ts';
import type { Target } from '../../src/monitor/session/session.ts';
import { temporaryFolder } from '../contract/running-service.ts';
import { rootProgram } from '../roots/root-program.ts';
import { documentedMetrics, expectMeasures, reportedMetrics } from '../support/expect-measures.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Bouncer, PASSWORD, startBouncer } from './bouncer.ts';

// Each check finds its fault on a real PgBouncer, and its remediation, pasted into psql, mends it.

const run = promisify(execFile);
const host = decodeURIComponent(new URL(inject('sharedStore')['DATABASE_URL'] ?? '').hostname);
const folder = temporaryFolder();
const HOSTILE = `o"d\\d; shutdown '--`;

let bouncer: Bouncer;
const clients: pg.Client[] = [];

const configure = (documented: string) =>
  documented
    .replace(
      '[databases]',
      `[databases]
app = host=${host} port=5432 dbname=dbvitals pool_size=2
gone = host=127.0.0.1 port=1 dbname=dbvitals
* = host=${host} port=5432 dbname=dbvitals`,
    )
    .replace(/^default_pool_size = .*$/m, 'default_pool_size = 5')
    .replace(/^max_client_conn = .*$/m, 'max_client_conn = 20')
    // It does not see that a client which waits has gone.
    .replace('[pgbouncer]', '[pgbouncer]\nquery_wait_timeout = 5\nclient_login_timeout = 5');

beforeAll(async () => {
  bouncer = await startBouncer(host, join(folder.path, 'console'), configure);
});
afterEach(() => endAll());
afterAll(async () => {
  await bouncer?.stop();
  folder.remove();
});

function target(more: Partial<Target> = {}): Target {
  return {
    engine: 'pgbouncer',
    connectionType: 'direct',
    host: '127.0.0.1',
    port: bouncer.port,
    database: 'pgbouncer',
    username: 'dbvitals',
    password: PASSWORD,
    tls: 'disable',
    passwordExposable: false,
    caCertificate: null,
    tunnel: null,
    ...more,
  };
}

/** Also those that wait to log in. */
function endAll(): void {
  for (const client of clients.splice(0)) client.connection.stream.destroy();
}

/** An application's client. */
async function open(database: string, user = 'dbvitals'): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port: bouncer.port, user, password: PASSWORD, database });
  client.on('error', () => {});
  clients.push(client);
  await client.connect();
  return client;
}

const whole = (at: Target, instructions: Partial<Instructions> = {}) =>
  measure(at, {
    allowPrivateTargets: true,
    thresholds: {},
    ...instructions,
    signal: new AbortController().signal,
  });

/** The findings of a run that are faults, and those that could not be measured. */
async function faults(instructions: Partial<Instructions> = {}): Promise<Finding[]> {
  const { outcomes, failure } = await whole(target(), instructions);
  expect(failure).toBeNull();
  const findings = outcomes.flatMap((outcome) => outcome.findings);
  expect(findings.filter(({ status }) => status === 'error')).toEqual([]);
  await expectOfMeasures(instructions);
  return findings.filter(({ status }) => !['ok', 'skipped'].includes(status));
}

/** Each check's numbers agree with its faults and its page. */
async function expectOfMeasures({
  thresholds = {},
  serversBehind = [],
}: Partial<Instructions>): Promise<void> {
  const console = await open('pgbouncer');
  const read = async (command: string) => (await console.query(command)).rows;
  for (const check of pgbouncerChecks) {
    const own = thresholds[check.id];
    const rows = await rowsOf(check, { engine: 'pgbouncer', version: 0 }, read, own);
    const facts = {
      version: 0,
      database: '',
      now: new Date(),
      serversBehind,
      ...(own && { thresholds: own }),
    };
    const judged = judgementOf(check, rows, facts);
    expectMeasures(check, 'skipped' in judged ? { faults: [], ...judged } : judged);
  }
  await console.end();
}

/** Pastes a remediation into psql, as one of admin_users. */
async function paste(text: string): Promise<void> {
  const url = `postgres://keeper:${PASSWORD}@127.0.0.1:${bouncer.port}/pgbouncer`;
  const pasted = run(rootProgram('psql'), ['--no-psqlrc', '--set=ON_ERROR_STOP=1', url]);
  pasted.child.stdin?.end(`${text}\n`);
  const { stderr } = await pasted;
  expect(stderr).not.toMatch(/ERROR|FATAL/);
}

const expectOne = async (expected: Partial<Finding>, instructions: Partial<Instructions> = {}) => {
  const [fault, ...others] = await faults(instructions);
  expect(fault).toMatchObject(expected);
  expect(others.map(({ check_id }) => check_id)).toEqual([]);
  await paste(fault?.remediation ?? '');
  return fault;
};

test('a PgBouncer that serves its clients has no fault, and has vitals and settings', async () => {
  const client = await open('app');
  await client.query('select 1');
  expect(await faults()).toEqual([]);
  const { measures, readings, server, samples } = await whole(target(), {
    facts: { key: Buffer.alloc(32).toString('base64'), known: [], started: null },
  });
  expect(server?.version).toBeGreaterThan(11_200);
  const ofVitals = new Map(measures.map(({ metric, value }) => [metric, value]));
  expect(ofVitals.get('connections_count')).toBeGreaterThanOrEqual(2);
  expect(ofVitals.get('waiting_clients_count')).toBe(0);
  expect(ofVitals.get('idle_server_connections_count')).toBeGreaterThanOrEqual(1);
  expect(readings.find(({ kind }) => kind === 'setting')?.stored?.facts).toContainEqual([
    'setting',
    'max_client_conn',
    '20',
    {},
  ]);
  // The second run has rates.
  for (let times = 0; times < 50; times++) await client.query('select 1');
  const before = samples.map(({ checkId, database, rows }) => ({ checkId, database, rows, seconds: 10 }));
  const { measures: later } = await whole(target(), { before });
  const rates = new Map(later.map(({ metric, value }) => [metric, value]));
  expect(rates.get('queries_per_second')).toBeGreaterThanOrEqual(5);
  expect(rates.get('query_mean_seconds')).toBeGreaterThan(0);
});

test('clients that wait are found with the pool that they wait for, by runs and by the pulse', async () => {
  const held = new HeldSession(target(), true);
  onTestFinished(() => held.end());
  expect(requireReading(await held.pulse()).clientsWaiting).toEqual({
    count: 0,
    seconds: 0,
    isCutOff: false,
  });
  const [one, two, three] = [await open('app'), await open('app'), await open('app')] as const;
  await one.query('begin');
  await two.query('begin');
  const waiting = three.query('select 1');
  await wait(1_300);
  const thresholds = { PB_CLIENTS_WAITING: { warning_seconds: 1, critical_seconds: 30 } };
  const found = await faults({ thresholds });
  expect(found).toMatchObject([
    { check_id: 'PB_CLIENTS_WAITING', status: 'warning', object: 'app/dbvitals' },
    { check_id: 'PB_POOL_SATURATION', status: 'warning', object: 'app/dbvitals' },
  ]);
  const critical = { PB_CLIENTS_WAITING: { warning_seconds: 0.5, critical_seconds: 1 } };
  expect(await faults({ thresholds: critical })).toMatchObject([{ status: 'critical' }, {}]);
  for (const { remediation } of found) await paste(remediation);
  const reading = requireReading(await held.pulse());
  expect(reading.clientsWaiting).toMatchObject({ count: 1, isCutOff: false });
  expect(reading.clientsWaiting?.seconds).toBeGreaterThan(1);
  expect(reading.load).toContainEqual(
    expect.objectContaining({ wait: 'Pool', database: 'app', role: 'dbvitals', count: 1 }),
  );
  expect(reading.connections.allowed).toBe(20);
  await one.query('commit');
  await waiting;
  expect(await faults({ thresholds })).toEqual([]);
});

test('clients near max_client_conn', async () => {
  const all = [];
  for (let n = 0; n < 15; n++) all.push(await open('app'));
  await expectOne({ check_id: 'PB_CLIENT_LIMIT', status: 'warning', object: null });
  await Promise.all(all.map((client) => client.end()));
  expect(await faults()).toEqual([]);
});

test('a server that is down is found as long as clients wait for it, and one that starts is none', async () => {
  const held = new HeldSession(target(), true);
  onTestFinished(() => held.end());
  const lost = open('gone').catch(() => {});
  await waitFor(async () =>
    expect(requireReading(await held.pulse()).clientsWaiting).toMatchObject({ isCutOff: true }),
  );
  const fault = await expectOne({
    check_id: 'PB_SERVER_UNREACHABLE',
    status: 'critical',
    object: 'gone/dbvitals',
  });
  expect(fault?.metric_line).toContain('127.0.0.1, port 1');
  endAll();
  await lost;
  await waitFor(async () => expect(await faults()).toEqual([]), { interval: 500 });
});

/** Runs the command that a remediation names for later. */
const runNamed = (fault: Finding | undefined) => paste(fault?.remediation.split(', run ').at(-1) ?? '');

test.each(['app', HOSTILE])('a database that is paused or disabled: %s', async (name) => {
  const client = await open(name);
  await client.query('select 1');
  const keeper = await open('pgbouncer', 'keeper');
  const quoted = `"${name.replaceAll('"', '""')}"`;
  const object = name === 'app' ? name : quoted;
  await keeper.query(`pause ${quoted}`);
  await runNamed(await expectOne({ check_id: 'PB_DATABASE_PAUSED', status: 'warning', object }));
  expect(await faults()).toEqual([]);
  await keeper.query(`pause ${quoted}`);
  const waiting = client.query('select 1');
  const found = { check_id: 'PB_DATABASE_PAUSED', status: 'critical', object } as const;
  await expectOne(found); // what is printed only shows where its connections would go
  await runNamed(await expectOne(found));
  await waiting;
  await keeper.query(`disable ${quoted}`);
  await runNamed(await expectOne({ check_id: 'PB_DATABASE_PAUSED', status: 'warning', object }));
  expect(await faults()).toEqual([]);
});

test.each([
  ['auth_type = trust', { check_id: 'PB_AUTH_WEAK', status: 'warning' }],
  ['auth_type = any', { check_id: 'PB_AUTH_WEAK', status: 'warning' }],
  [
    'ignore_startup_parameters = extra_float_digits, search_path',
    { check_id: 'PB_STARTUP_IGNORED', status: 'info' },
  ],
] as const)('%s', async (line, expected) => {
  const [name = ''] = line.split(' =');
  const isThere = new RegExp(`^${name} = .*$`, 'm');
  await bouncer.reload((documented) =>
    isThere.test(documented)
      ? documented.replace(isThere, line)
      : documented.replace('[pgbouncer]', `[pgbouncer]\n${line}`),
  );
  onTestFinished(() => bouncer.reload((documented) => documented));
  await expectOne(expected);
  await bouncer.reload((documented) =>
    documented.replace('[pgbouncer]', '[pgbouncer]\nignore_startup_parameters ='),
  );
  expect(await faults()).toEqual([]);
});

test('pools that are larger than the server behind them', async () => {
  await (await open('app')).query('select 1');
  const behind = (allowed: number) => ({ serversBehind: [{ host: '', port: 5432, name: 'shop', allowed }] });
  await expectOne({ check_id: 'PB_POOLS_EXCEED_SERVER', status: 'warning', object: 'shop' }, behind(3));
  expect(await faults(behind(1_000))).toEqual([]);
  expect(await faults({ serversBehind: [{ host: 'other', port: 5432, name: 'other', allowed: 3 }] })).toEqual(
    [],
  );
});

test('every check has reported each measure that its page documents', () => {
  for (const { id } of pgbouncerChecks) expect(reportedMetrics(id), id).toEqual(documentedMetrics(id).sort());
});

test.each([
  [
    'a login outside of stats_users',
    { username: 'stranger' },
    /not one of stats_users/,
    /Add the login to stats_users/,
  ],
  ['a wrong password', { password: 'wrong' }, /refused the login/, /auth_file/],
  ['a login that PgBouncer does not know', { username: 'nobody' }, /refused the login/, /auth_file/],
  ['the console as a PostgreSQL', { engine: 'postgres' }, /admin console of PgBouncer/, /pgbouncer:\/\//],
] as const)('%s is told in one sentence', async (_, more, reason, advice) => {
  const { failure } = await whole(target(more));
  expect(failure?.reason).toMatch(reason);
  expect(failure?.advice).toMatch(advice);
});

test('a PostgreSQL as a PgBouncer is told in one sentence', async () => {
  const at = { host, port: 5432, connectionType: 'unix_socket' } as const;
  const missing = await whole(target(at));
  expect(missing.failure?.advice).toMatch(/seems to be PostgreSQL itself/);
  const named = await whole(target({ ...at, database: 'dbvitals' }));
  expect(named.failure?.reason).toMatch(/not the admin console of PgBouncer/);
  // A database behind the pooler is not its console either.
  const through = await whole(target({ database: 'app' }));
  expect(through.failure?.reason).toMatch(/not the admin console of PgBouncer/);
});
