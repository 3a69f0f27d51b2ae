import net from 'node:net';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Account, makeAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { signInAs } from './browser.ts';
import * as collectors from './collector-client.ts';
import { type CollectorClient, newPair, quietResult, type Signed, VERSION } from './collector-client.ts';
import { command, commandJson } from './command.ts';
import { type Service, startService } from './running-service.ts';

// What strangers and hostile collectors send. Each is refused, told so, and nothing is stored.

/** A run that nobody has. */
const NO_RUN = '00000000-0000-4000-8000-000000000000';

const store = new pg.Client({ connectionString: inject('sharedStore')['DATABASE_URL'] });
let service: Service;
let account: Account;
let own: CollectorClient;
let other: CollectorClient;
let stranger: CollectorClient;

beforeAll(async () => {
  await store.connect();
  // Its own: refusals count against this machine's address.
  service = await startService(inject('sharedStore'), ['--no-monitor']);
  account = await makeAccount();
  own = await enrolledClient(account.id, 'own');
  other = await enrolledClient(account.id, 'other');
  stranger = await enrolledClient((await makeAccount()).id, 'own');
});

afterAll(async () => {
  await service.stop();
  await store.end();
});

const post = (action: string, signed: Signed) => collectors.post(action, signed, service.origin);
const enrol = (content: object) => collectors.enrol(content, service.origin);
const enrolledClient = (of: number, name: string) => collectors.enrolledClient(of, name, service.origin);

async function addCollected(collector: string, name: string, of = account.id): Promise<number> {
  const { id } = await commandJson<{ id: number }>([
    ...['connection', 'add', '--account', `${of}`, '--collector', collector, '--name', name],
    ...['--engine', 'postgres', '--every', '7d'],
  ]);
  return id;
}

async function checksOf(connectionId: number): Promise<number> {
  const { rows } = await store.query(
    'select count(*)::int as checks from health_check where connection_id = $1',
    [connectionId],
  );
  return rows[0].checks;
}

/** A new connection of a collector, and its run, which is handed out at once. */
async function startedRun(client: CollectorClient, name: string) {
  const connectionId = await addCollected(client === other ? 'other' : 'own', name, client.account);
  const { body } = await client.work();
  expect(body.jobs).toMatchObject([{ connection: name }]);
  return { connectionId, run: body.jobs?.[0]?.run ?? '' };
}

const removed = async (id: number) => commandJson(['connection', 'remove', `${id}`]);

test('a run is handed only to the collector of its connection, and only that one can deliver it, once', async () => {
  const { connectionId, run } = await startedRun(own, 'shop');
  for (const thief of [other, stranger]) {
    const { status, body } = await thief.send('result', quietResult(run));
    expect([status, body.error?.code]).toEqual([409, 'conflict']);
  }
  expect(await checksOf(connectionId)).toBe(0);
  expect(await own.send('result', quietResult(run))).toMatchObject({
    status: 200,
    body: { health_check_id: expect.any(Number) },
  });
  const again = await own.send('result', quietResult(run));
  expect([again.status, await checksOf(connectionId)]).toEqual([409, 1]);
  const invented = await own.send('result', quietResult(NO_RUN));
  expect(invented.status).toBe(409);
  await removed(connectionId);
});

test('a removed connection takes no result', async () => {
  const { connectionId, run } = await startedRun(own, 'gone');
  await removed(connectionId);
  expect((await own.send('result', quietResult(run))).status).toBe(409);
  expect(await checksOf(connectionId)).toBe(0);
});

test('runs that a collector does not have any more are handed out again, and the old ones are void', async () => {
  const { connectionId, run } = await startedRun(own, 'again');
  const kept = await Promise.race([
    own.work({ running: [run] }),
    new Promise((done) => setTimeout(done, 2_500, null)),
  ]);
  expect(kept).toBe(null);
  const { body } = await own.work();
  const second = body.jobs?.[0]?.run ?? '';
  expect(second).not.toBe(run);
  expect((await own.send('result', quietResult(run))).status).toBe(409);
  expect((await own.send('result', quietResult(second))).status).toBe(200);
  expect(await checksOf(connectionId)).toBe(1);
  await removed(connectionId);
});

test('a request that is unsigned, signed otherwise, or altered is refused', async () => {
  const content = { version: VERSION, free: 0, running: [] };
  const { key } = newPair();
  const good = own.sign('work', content);
  const now = Date.now() * 1_000;
  const refused = {
    unsigned: await post('work', { headers: {}, body: good.body }),
    'another key': await own.send('work', content, { key }),
    'another collector': await own.send('work', content, { keyId: `${other.account}/${other.collector}` }),
    'another account': await own.send('work', content, { keyId: `${stranger.account}/${own.collector}` }),
    'no account': await own.send('work', content, { keyId: '999999999999999/1' }),
    'another path': await own.send('work', content, { path: '/collector/result' }),
    'another body': await own.send('work', content, { body: gzipSync('{"free":5}') }),
    'another digest': await own.send('work', content, { headers: { 'content-digest': 'sha-256=:AAAA:' } }),
    'no nonce': await post('work', {
      ...good,
      headers: {
        ...good.headers,
        'signature-input': (good.headers['signature-input'] ?? '').replace(/;nonce=.*/, ''),
      },
    }),
    'an API key': await post('work', {
      body: good.body,
      headers: { authorization: `Bearer ${account.key}` },
    }),
  };
  for (const [name, { status, body }] of Object.entries(refused))
    expect([name, status, body.error?.code]).toEqual([name, 401, 'unauthorized']);
  for (const nonce of [now - 600e6, now + 600e6]) {
    const { status, body } = await own.send('work', content, { nonce });
    expect([status, body.error?.message]).toEqual([
      401,
      expect.stringMatching(/clocks .* differ by (599|600|601) s/),
    ]);
  }
});

test('a request is accepted once, by whichever service it is sent again', async () => {
  const { connectionId, run } = await startedRun(own, 'replayed');
  const result = own.sign('result', quietResult(run));
  expect((await post('result', result)).status).toBe(200);
  expect(await post('result', result)).toMatchObject({
    status: 401,
    body: { error: { code: 'unauthorized' } },
  });
  const many = own.sign('result', quietResult(run));
  const statuses = (await Promise.all(Array.from({ length: 8 }, () => post('result', many)))).map(
    ({ status }) => status,
  );
  expect(statuses.filter((status) => status === 409).length).toBe(1);
  expect(statuses.filter((status) => status === 401 || status === 429).length).toBe(7);
  expect(await checksOf(connectionId)).toBe(1);
  await removed(connectionId);
});

test('a revoked collector is refused, gets no work, and delivers nothing', async () => {
  const revoked = await enrolledClient(account.id, 'revoked');
  const id = await addCollected('revoked', 'left');
  const { body } = await revoked.work();
  const run = body.jobs?.[0]?.run ?? '';
  await commandJson(['collector', 'revoke', `${revoked.collector}`]);
  for (const action of ['work', 'result']) {
    const { status } = await revoked.send(action, quietResult(run));
    expect([action, status]).toEqual([action, 401]);
  }
  expect(await checksOf(id)).toBe(0);
  // Enrolled again it has another key, and the old one stays void.
  const anew = await enrolledClient(account.id, 'revoked');
  expect(anew.collector).toBe(revoked.collector);
  expect((await revoked.work({ free: 0 })).status).toBe(401);
  expect((await anew.work()).body.jobs).toHaveLength(1);
  await removed(id);
});

test('a token enrols once, only its own collector, within its hour, and while its maker may', async () => {
  const issue = (name: string) =>
    commandJson<{ token: string }>(['collector', 'enrol', '--account', `${account.id}`, '--name', name]);
  const pair = () => ({ public_key: newPair().publicKey, version: VERSION });
  const { token } = await issue('tokens');
  const wrong = await enrol({ token, name: 'another', ...pair() });
  expect([wrong.status, wrong.body.error?.code]).toEqual([409, 'conflict']);
  const statuses = (
    await Promise.all([1, 2, 3, 4].map(() => enrol({ token, name: 'tokens', ...pair() })))
  ).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 401, 401, 401]);

  const { token: replaced } = await issue('tokens');
  const { token: expired } = await issue('tokens');
  await store.query(
    `update collector set token_expires_at = now() - interval '1 s' where account_id = $1 and name = 'tokens'`,
    [account.id],
  );
  const otherAccount = expired.replace(/_\d+_/, `_${stranger.account}_`);
  for (const void_ of [replaced, expired, otherAccount, `dbv_enrol_999999999_${'a'.repeat(43)}`, 'x'])
    expect((await enrol({ token: void_, name: 'tokens', ...pair() })).status).toBe(401);
});

test('a token is void once its maker is demoted or suspended', async () => {
  for (const change of [{ roles: ['viewer'] }, { status: 'suspended' }]) {
    const maker = await signInAs(account.id, ['admin']);
    const { token } = await commandJson<{ token: string }>([
      ...['collector', 'enrol', '--account', `${account.id}`, '--name', 'made'],
    ]);
    await store.query(`update collector set token_by = $2 where account_id = $1 and name = 'made'`, [
      account.id,
      maker.memberId,
    ]);
    const owner = await signInAs(account.id, ['owner']);
    const { data } = await owner.get<{ data: { id: number; version: string }[] }>('/members');
    const { version } = data.find(({ id }) => id === maker.memberId) ?? {};
    await owner.change('PATCH', `/members/${maker.memberId}`, { version, ...change });
    const tried = await enrol({ token, name: 'made', public_key: newPair().publicKey, version: VERSION });
    expect([change, tried.status]).toEqual([change, 401]);
  }
});

test('bodies that are huge, deep, malformed or of another form are refused, and store nothing', async () => {
  const { connectionId, run } = await startedRun(own, 'bodies');
  const quiet = quietResult(run);
  const [outcome] = quiet.measured.outcomes as { findings: object[] }[];
  const withMeasured = (more: object) => ({ ...quiet, measured: { ...quiet.measured, ...more } });
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const raw: [string, Buffer, number, string][] = [
    ['a bomb', gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')), 413, 'body_too_large'],
    ['huge', gzipSync(Buffer.from(`{"run":"${'x'.repeat(5_000_000)}"}`)), 413, 'body_too_large'],
    ['deep', gzipSync(deep), 400, 'invalid_parameter'],
    [
      'deep fields',
      gzipSync(`{"run":"${run}","measured":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_001)}`),
      400,
      'invalid_parameter',
    ],
    ['no JSON', gzipSync('{'), 400, 'bad_request'],
    ['no gzip', Buffer.from('{}'), 400, 'bad_request'],
    ['cut gzip', gzipSync(JSON.stringify(quiet)).subarray(0, 40), 400, 'bad_request'],
  ];
  for (const [name, body, status, code] of raw) {
    const reply = await post('result', own.signBytes('result', body));
    expect([name, reply.status, reply.body.error?.code]).toEqual([name, status, code]);
  }
  const forms: Record<string, object> = {
    'another field': { ...quiet, connection_id: 1 },
    'another time': withMeasured({ at: '2020-01-01T00:00:00Z' }),
    'no outcomes': withMeasured({ outcomes: undefined }),
    'no finding': withMeasured({ outcomes: [{ ...outcome, findings: [] }] }),
    'a title': withMeasured({
      outcomes: [{ ...outcome, findings: [{ ...outcome?.findings[0], title: 'x' }] }],
    }),
    'a status': withMeasured({
      outcomes: [{ ...outcome, findings: [{ ...outcome?.findings[0], status: 'x' }] }],
    }),
    'too many outcomes': withMeasured({ outcomes: Array.from({ length: 501 }, () => outcome) }),
    "a member's change": withMeasured({
      readings: [
        {
          kind: 'setting',
          database: '',
          digest: 'a',
          stored: { basis: '', facts: [['threshold', 'a', 'b']] },
        },
      ],
    }),
    'a nested row': withMeasured({
      samples: [{ checkId: 'PG_DEADLOCKS', database: '', after: 0, rows: [{ a: {} }] }],
    }),
    'a query': withMeasured({
      queries: { state: '', grown: [], calls: 0, seconds: 0, texts: [["1' or '1", 'x']] },
    }),
    'a number that no server has': withMeasured({ cost: { milliseconds: 1e300, statements: 1, bytes: 1 } }),
    'a prototype': JSON.parse(`{"run":"${run}","measured":{},"__proto__":{"a":1}}`),
  };
  for (const [name, form] of Object.entries(forms)) {
    const reply = await own.send('result', form);
    expect([name, reply.status, reply.body.error?.code]).toEqual([name, 400, 'invalid_parameter']);
  }
  expect(await checksOf(connectionId)).toBe(0);
  expect((await own.send('result', quiet)).status).toBe(200);
  await removed(connectionId);
});

test('what a collector says of a check is not believed, and its texts are made safe', async () => {
  const { connectionId, run } = await startedRun(own, 'lies');
  const finding = {
    status: 'critical',
    severity: 'critical',
    metric_line: `a\u0000\u001b[31m\u202e${'x'.repeat(1_900)}`,
    remediation: 'drop table a;\u0007',
    database: 'a\u0000b',
    object: 'o',
  };
  const outcomes = ['PG_TEMP_FILES', 'MY_TMP_DISK', 'INVENTED', 'CONN_UNREACHABLE'].map((id) => ({
    ...{ check: { id }, findings: [finding], measured: true, unmeasured: [], near: [] },
  }));
  const quiet = quietResult(run);
  const measures = [
    {
      checkId: 'INVENTED',
      database: '',
      metric: 'a_count',
      object: null,
      value: 1,
      operator: null,
      warning: null,
      critical: null,
    },
  ];
  const reply = await own.send('result', { ...quiet, measured: { ...quiet.measured, outcomes, measures } });
  expect(reply.status).toBe(200);
  const { rows } = await store.query('select findings from health_check where connection_id = $1', [
    connectionId,
  ]);
  const findings: Record<string, string>[] = rows[0].findings;
  expect(findings.map(({ check_id }) => check_id).toSorted()).toEqual(['CONN_UNREACHABLE', 'PG_TEMP_FILES']);
  const temporary = findings.find(({ check_id }) => check_id === 'PG_TEMP_FILES');
  expect(temporary?.['title']).not.toBe(undefined);
  expect(temporary?.['severity']).not.toBe('critical'); // the check is at most a warning
  expect(temporary?.['metric_line']?.length).toBeLessThanOrEqual(500);
  expect(JSON.stringify(findings)).not.toMatch(/\\u0000|\\u001b|\\u0007|\u202e|drop table/);
  const { rows: series } = await store.query('select from measure_series where connection_id = $1', [
    connectionId,
  ]);
  expect(series).toEqual([]);
  const words = JSON.stringify(await readLog(account.key));
  expect(words).not.toContain('xxxxxxxx');
  await removed(connectionId);
});

test('a slow body, and one that never ends, is cut off', async () => {
  const { hostname, port } = new URL(service.origin);
  const socket = net.connect(Number(port), hostname);
  const began = performance.now();
  socket.write(headOf(own));
  const drip = setInterval(() => socket.write('x'), 500);
  await new Promise((closed) =>
    socket
      .once('close', closed)
      .on('error', () => {})
      .resume(),
  );
  clearInterval(drip);
  expect(performance.now() - began).toBeLessThan(20_000);
});

/** The head of a signed request for a result, whose body is to follow. */
function headOf(client: CollectorClient): string {
  const { headers } = client.sign('result', quietResult(NO_RUN));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /collector/result HTTP/1.1\r\nhost: a\r\n${lines.join('')}content-length: 100000\r\n\r\n`;
}

test('collectors that hang up before their body, or are slow with it, keep no place from others', async () => {
  const { hostname, port } = new URL(service.origin);
  const answered = async (client: CollectorClient) =>
    (await client.send('result', quietResult(NO_RUN))).status;
  // They are gone before their signatures are proved.
  await store.query('begin');
  await store.query('select from collector where collector_id = $1 for update', [stranger.collector]);
  for (let n = 0; n < 6; n++) {
    const socket = net.connect(Number(port), hostname).on('error', () => {});
    await new Promise<void>((sent) => socket.write(headOf(stranger), () => sent()));
    setTimeout(() => socket.destroy(), 200);
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  await store.query('rollback');
  expect([await answered(stranger), await answered(own)]).toEqual([409, 409]);
  const slow = Array.from({ length: 30 }, () => net.connect(Number(port), hostname).on('error', () => {}));
  for (const socket of slow) socket.write(headOf(stranger));
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await answered(own)).toBe(409);
  for (const socket of slow) socket.destroy();
});

test('other methods, paths and versions are told what is wrong', async () => {
  const { origin } = service;
  expect((await fetch(`${origin}/collector/work`)).status).toBe(405);
  expect((await fetch(`${origin}/collector`)).status).toBe(404);
  expect((await fetch(`${origin}/collector/work/1`, { method: 'POST' })).status).toBe(404);
  const { status, body } = await own.work({ version: '0.9.0' });
  expect([status, body.error?.message]).toEqual([409, expect.stringContaining('Update the older one')]);
  expect((await own.work({ free: 21 })).status).toBe(400);
});

test('a guess costs its address, and no collector', async () => {
  const guess = () =>
    enrol({
      token: `dbv_enrol_1_${'a'.repeat(43)}`,
      name: 'a',
      public_key: newPair().publicKey,
      version: VERSION,
    });
  const statuses = new Set<number>();
  for (let n = 0; n < 12; n++)
    for (const { status } of await Promise.all(Array.from({ length: 25 }, guess))) statuses.add(status);
  expect([...statuses].toSorted()).toEqual([401, 429]);
  expect((await own.work({ free: 0, version: '0.9.0' })).status).toBe(409);
  expect((await command(['collector', 'list', '--account', `${account.id}`])).stdout).toContain('own');
});
