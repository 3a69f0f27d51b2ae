import { expect, inject, test } from 'vitest';
import { type Account, makeAccount } from './account.ts';
import { ask, read } from './ask.ts';
import { command } from './command.ts';
import { fixtureJson } from './fixture-command.ts';
import {
  type Connection,
  type Failure,
  type Fleet,
  type HealthCheck,
  integer,
  type List,
  type Single,
  time,
} from './records.ts';

const path = (id: number | string) => `/api/v1/health/connections/${id}/checks/latest`;

const account = makeAccount();
const stranger = makeAccount();
const checked = addStore();

async function add({ id }: Account, name: string, url: string): Promise<number> {
  const options = ['--account', String(id), '--name', name, '--url', url, '--tls', 'disable'];
  return (await fixtureJson<Connection>(['connection', 'add', ...options])).id;
}

/** A connection to the run's own store, and what its first run printed. */
async function addStore(): Promise<{ id: number; printed: HealthCheck }> {
  const id = await add(await account, 'store', inject('sharedStore')['DATABASE_URL'] ?? '');
  return { id, printed: await run(id) };
}

function run(connectionId: number): Promise<HealthCheck> {
  return fixtureJson<HealthCheck>(['check', 'run', '--connection', String(connectionId)]);
}

test('200: the result that the run stored, every finding of it', async () => {
  const { id, printed } = await checked;
  const { key } = await account;
  const { data } = await read<Single<HealthCheck>>(path(id), key);
  expect(data).toEqual(printed);
  expect(data).toEqual({
    id: integer,
    score: integer,
    summary_text: expect.stringMatching(/\S/),
    created_at: time,
    checks: expect.any(Array),
  });
  const { data: connections } = await read<List<Connection>>('/api/v1/health/connections', key);
  expect(connections.find((connection) => connection.id === id)).toMatchObject({
    latest_check_id: data.id,
    score: data.score,
    last_checked_at: data.created_at,
    summary_text: data.summary_text,
  });
});

test('200: every shipped check is listed, worst first, each finding with the seven fields', async () => {
  const { printed } = await checked;
  const worstFirst = ['critical', 'error', 'warning', 'info', 'skipped', 'ok'];
  for (const finding of printed.checks) {
    expect(finding).toEqual({
      check_id: expect.stringMatching(/^[A-Z][A-Z0-9_]+$/),
      category: expect.stringMatching(/^[a-z_]+$/),
      status: expect.toSatisfy((status: string) => worstFirst.includes(status)),
      title: expect.stringMatching(/\S/),
      metric_line: expect.stringMatching(/\S/),
      remediation: expect.any(String),
      severity: expect.stringMatching(/^(critical|warning|info)$/),
    });
    if (['critical', 'warning', 'info'].includes(finding.status))
      expect(finding.severity).toBe(finding.status);
  }
  const shipped = [
    'PG_CONN_SATURATION',
    'PG_IDLE_IN_TXN',
    'PG_LONG_QUERY',
    'PG_XID_WRAPAROUND',
    'PG_AUTOVACUUM_OFF',
    'PG_DEAD_TUPLES',
    'PG_INVALID_INDEX',
    'PG_DUPLICATE_INDEX',
    'PG_FK_UNINDEXED',
    'PG_NO_PRIMARY_KEY',
    'PG_SEQUENCE_EXHAUSTION',
    'PG_FSYNC_OFF',
    'PG_SHARED_BUFFERS_LOW',
    'PG_VERSION_EOL',
  ];
  expect(printed.checks.map(({ check_id }) => check_id)).toEqual(expect.arrayContaining(shipped));
  const faults = printed.checks
    .map(({ status }) => status)
    .filter((status) => ['critical', 'warning', 'info', 'ok'].includes(status));
  expect(faults).toEqual(faults.toSorted((a, b) => worstFirst.indexOf(a) - worstFirst.indexOf(b)));
});

test('200: the severity of a check that is well is the worst that it can reach', async () => {
  const { printed } = await checked;
  const well = printed.checks.filter(({ status }) => ['ok', 'skipped', 'error'].includes(status));
  const severity = (checkId: string) => well.find(({ check_id }) => check_id === checkId)?.severity;
  expect(severity('PG_XID_WRAPAROUND')).toBe('critical');
  expect(severity('PG_FSYNC_OFF')).toBe('critical');
  expect(severity('PG_AUTOVACUUM_OFF')).toBe('warning');
  expect(severity('PG_INVALID_INDEX') ?? 'warning').toBe('warning');
});

test('200: the most recent run replaces the one before', async () => {
  const { id, printed } = await checked;
  const second = await run(id);
  expect(second.id).toBeGreaterThan(printed.id);
  const { data } = await read<Single<HealthCheck>>(path(id), (await account).key);
  expect(data).toEqual(second);
});

test('200: a database that is down has score 0 and the one finding CONN_UNREACHABLE', async () => {
  const id = await add(await account, 'down', 'postgres://watcher:unspoken@127.0.0.1:1/shop');
  const printed = await run(id);
  const { data } = await read<Single<HealthCheck>>(path(id), (await account).key);
  expect(data).toEqual(printed);
  expect(data.score).toBe(0);
  expect(data.checks).toEqual([
    expect.objectContaining({ check_id: 'CONN_UNREACHABLE', status: 'critical', severity: 'critical' }),
  ]);
  const fleet = await read<Fleet>('/api/v1/health/fleet', (await account).key);
  expect(fleet.data.find((entry) => entry.id === id)).toEqual({
    id,
    name: 'down',
    score: 0,
    status: 'critical',
  });
});

test('200: a database that refuses the password has score 0 and CONN_AUTH_FAILED', async () => {
  const url = (inject('sharedStore')['DATABASE_URL'] ?? '').replace(/:\/\/([^:@]*):[^@]*@/, '://$1:wrong@');
  const id = await add(await account, 'refused', url);
  const { score, checks } = await run(id);
  expect(score).toBe(0);
  expect(checks).toEqual([expect.objectContaining({ check_id: 'CONN_AUTH_FAILED', status: 'critical' })]);
});

test('404: no check has run yet', async () => {
  const id = await add(await account, 'new', 'postgres://watcher@db.example.com/shop');
  const answer = await ask(path(id), { key: (await account).key });
  expect(answer.status).toBe(404);
  expect(answer.json<Failure>().error.message).toMatch(/no health check has run for this connection yet/i);
});

test("404: another account's connection answers as one that does not exist, byte for byte", async () => {
  const { id } = await checked;
  const { key } = await stranger;
  const foreign = await ask(path(id), { key });
  const absent = await ask(path(999_999_999), { key });
  expect(foreign.status).toBe(404);
  expect(foreign.bytes).toEqual(absent.bytes);
  const comparable = ({ headers }: typeof foreign) =>
    Object.keys(headers).filter((name) => !['date', 'x-request-id'].includes(name));
  expect(comparable(foreign)).toEqual(comparable(absent));
  expect(foreign.headers['content-length']).toBe(absent.headers['content-length']);
});

test('404: a removed connection', async () => {
  const id = await add(await account, 'removed', 'postgres://watcher@127.0.0.1:1/shop');
  await run(id);
  expect((await ask(path(id), { key: (await account).key })).status).toBe(200);
  expect((await command(['connection', 'remove', String(id)])).exit).toBe(0);
  const removed = await ask(path(id), { key: (await account).key });
  const absent = await ask(path(999_999_999), { key: (await account).key });
  expect(removed.status).toBe(404);
  expect(removed.bytes).toEqual(absent.bytes);
});

test.each([
  '0',
  '-1',
  'abc',
  '1.5',
  '1e3',
  '+1',
  '%31x',
  '9007199254740992',
  '99999999999999999999',
  "1'--",
  '1%00',
])('404: the id %s names no connection', async (id) => {
  const answer = await ask(path(id), { key: (await account).key });
  expect(answer.status).toBe(404);
  expect(answer.json<Failure>().error.code).toBe('not_found');
});
