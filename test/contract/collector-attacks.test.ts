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
  const look = { connection: 'left', answer: { failure: { kind: 'unread', reason: 'x' } } };
  const sent = {
    work: { version: VERSION, free: 0, running: [] },
    result: quietResult(run),
    past: pastOf('left', Date.now() - 60_000),
    pulse: { events: [episodeOf('left')] },
    look,
  };
  for (const [action, content] of Object.entries(sent))
    expect([action, (await revoked.send(action, content)).status]).toEqual([action, 401]);
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

/** What pulses saw of a connection, as honest collectors send it. */
function episodeOf(connection: string, given: object = {}) {
  const now = Date.now();
  const who = { database: 'shop', role: 'bob', application: '' };
  const session = { pid: 7, ...who, state: 'idle in transaction' };
  const wait = { pid: 8, blockers: [7], seconds: 9, lock: 'tuple', relation: 'orders', session: null };
  const episode = {
    ...{ began_at: now - 9_000, root: '7/1', seen_at: now, ended_at: null, ...who },
    ...{ most_sessions: 1, longest_seconds: 9, lost_seconds: 9 },
    trees: [{ at: new Date(now).toISOString(), root: session, waits: [wait], sessions: 1 }],
    ...given,
  };
  return { connection, episode };
}

function loadOf(connection: string, at: number, application = 'web') {
  const source = {
    state: 'active',
    wait: '',
    event: '',
    query: '1',
    role: 'bob',
    application,
    database: 'a',
  };
  const load = {
    ...{ at, active: 1, idle_in_transaction: 0, blocked_sessions: 0, blocked_seconds: 0 },
    ...{ end_blocked_sessions: 0, end_blocked_seconds: 0, commits: null, rollbacks: null, replica_lag: null },
    sources: [{ source, sessions: 1 }],
  };
  return { connection, load };
}

function deadlockOf(connection: string, at: number) {
  const transaction = { digest: 'a'.repeat(64), command: 'UPDATE', tables: ['shop.orders'], is_victim: true };
  return { connection, deadlock: { at, transactions: [transaction] } };
}

const pastOf = (connection: string, at: number) => ({
  results: [{ connection, at, measured: quietResult(NO_RUN).measured }],
});

const MINUTE = 60_000;
const thisMinute = () => Math.floor(Date.now() / MINUTE) * MINUTE;

/** How much of what pulses see is stored of a connection: episodes, deadlocks, minutes. */
async function pulsesOf(connectionId: number): Promise<number[]> {
  const { rows } = await store.query<{ counts: number[] }>(
    `select array[(select count(*) from blocking_episode where connection_id = $1),
                  (select count(*) from deadlock where connection_id = $1),
                  (select count(*) from session_load where connection_id = $1)]::int[] as counts`,
    [connectionId],
  );
  return rows[0]?.counts ?? [];
}

test('pulses, looks and results of the past count only for connections of their collector, and once', async () => {
  const id = await addCollected('own', 'pulsed');
  const at = thisMinute() - MINUTE;
  const events = [episodeOf('pulsed'), deadlockOf('pulsed', at), loadOf('pulsed', at)];
  await store.query(
    `update collected_connection set look_until = now() + interval '1 min' where connection_id = $1`,
    [id],
  );
  const look = { connection: 'pulsed', answer: { failure: { kind: 'unread', reason: 'silence' } } };
  for (const thief of [other, stranger]) {
    expect(await thief.send('pulse', { events })).toMatchObject({ status: 200, body: {} });
    expect((await thief.send('look', look)).body).toEqual({ watched: false });
    expect((await thief.send('past', pastOf('pulsed', at))).body).toEqual({ stored: 0 });
  }
  expect([await pulsesOf(id), await checksOf(id)]).toEqual([[0, 0, 0], 0]);
  const pulse = own.sign('pulse', { events });
  expect([(await post('pulse', pulse)).status, (await post('pulse', pulse)).status]).toEqual([200, 401]);
  expect((await own.send('pulse', { events })).status).toBe(200); // sent again, because the answer was lost
  expect(await pulsesOf(id)).toEqual([1, 1, 1]);
  for (const stored of [1, 0])
    expect((await own.send('past', pastOf('pulsed', at))).body).toEqual({ stored });
  expect((await own.send('look', look)).body).toEqual({ watched: true });
  const { rows } = await store.query('select look from collected_connection where connection_id = $1', [id]);
  expect(rows).toEqual([{ look: look.answer }]);
  await removed(id);
  for (const [action, content] of Object.entries({ pulse: { events }, look, past: pastOf('pulsed', at + 1) }))
    expect([action, (await own.send(action, content)).body]).not.toMatchObject([action, { stored: 1 }]);
  expect(await checksOf(id)).toBe(1);
});

test('what no pulse can have seen is not stored', async () => {
  const id = await addCollected('own', 'impossible');
  const now = Date.now();
  const [{ episode }] = [episodeOf('impossible')];
  const [tree] = episode.trees;
  const wait = { ...tree?.waits[0], session: tree?.root };
  const impossible = [
    { seen_at: 0, began_at: 0 },
    { seen_at: now - 26 * 60 * MINUTE, began_at: 0 },
    { seen_at: now + 10 * MINUTE },
    { seen_at: 1e14 },
    { began_at: now + 1_000, seen_at: now },
    { ended_at: 1e14 },
    { ended_at: 0 },
    { trees: [{ ...tree, at: '2099-99-99T99:99:99.999Z' }] },
    { trees: [{ ...tree, waits: Array.from({ length: 60 }, () => ({ ...wait, lock: 'x'.repeat(150) })) }] },
  ].map((given) => episodeOf('impossible', given));
  const events = [
    ...impossible,
    ...[0, 1e14, now - 26 * 60 * MINUTE].map((at) => deadlockOf('impossible', at)),
    ...[0, 1e14, thisMinute() + 1, thisMinute() - 26 * 60 * MINUTE].map((at) => loadOf('impossible', at)),
    { connection: 'impossible', ask: { holding: ['invented', 'rule_1'], cleared: [] } },
  ];
  expect((await own.send('pulse', { events })).status).toBe(200);
  expect(await pulsesOf(id)).toEqual([0, 0, 0]);
  for (const at of [0, now + MINUTE, 1e14, now - 26 * 60 * MINUTE])
    expect((await own.send('past', pastOf('impossible', at))).body).toEqual({ stored: 0 });
  expect(await checksOf(id)).toBe(0);
  await removed(id);
});

test('pulses, looks and results of the past of another form are refused, and no error is ours', async () => {
  const id = await addCollected('own', 'forms');
  const event = episodeOf('forms');
  const look = (answer: object) => ({ connection: 'forms', answer });
  const reading = {
    ...{
      started: 0,
      isStandby: false,
      isReplicating: null,
      connections: { used: 1, allowed: 2 },
      room: null,
    },
    ...{ lockWaitTimeout: null, active: 1, idleInTransaction: 0, load: [], transactions: null, waits: [] },
    ...{ replicaLag: null, deadlocks: null, oldestTransaction: null, shortWaits: 0, sessions: [] },
    clientsWaiting: null,
  };
  const waits = Array.from({ length: 201 }, (_, pid) => ({
    ...{ pid, blockers: [], seconds: 1, lock: '', relation: null },
  }));
  const { results } = pastOf('forms', Date.now() - MINUTE);
  const [past] = results;
  const withAfter = (after: number) => ({
    ...past,
    measured: {
      ...past?.measured,
      samples: [{ checkId: 'PG_DEADLOCKS', database: '', after, rows: [] }],
    },
  });
  const forms: [string, object][] = [
    ['pulse', { events: Array.from({ length: 201 }, () => event) }],
    ['pulse', { events: [{ ...event, connection: '' }] }],
    ['pulse', { events: [{ ...event, connection: 'a\u0000' }] }],
    ['pulse', { events: [{ ...event, account: stranger.account }] }],
    ['pulse', { events: [{ ...event, ...loadOf('forms', thisMinute()) }] }],
    ['pulse', { events: [episodeOf('forms', { seen_at: 1e300 })] }],
    ['pulse', { events: [episodeOf('forms', { lost_seconds: -1 })] }],
    [
      'pulse',
      { events: [episodeOf('forms', { trees: [{ at: 'now', root: null, waits: [], sessions: 0 }] })] },
    ],
    ['pulse', { events: [loadOf('forms', thisMinute(), 'x'.repeat(65))] }],
    ['pulse', { events: [loadOf('forms', 0.5)] }],
    ['pulse', { events: [deadlockOf('forms', -1)] }],
    ['look', { ...look({ reading }), connection: 'a\u0000' }],
    ['look', look({ reading: { ...reading, waits } })],
    ['look', look({ reading: { ...reading, started: 1e300 } })],
    ['look', look({ reading, failure: { kind: 'unread', reason: '' } })],
    ['look', look({ failure: { kind: 'invented', reason: '' } })],
    ['past', { results: [] }],
    ['past', { results: Array.from({ length: 51 }, () => past) }],
    ['past', { results: [{ ...past, connection: 'a\u0000' }] }],
    ['past', { results: [{ ...past, at: 1e300 }] }],
    ['past', { results: [withAfter(1e300)] }],
    ['work', { version: VERSION, free: 1, running: [], looking: ['a\u0000'] }],
  ];
  for (const [n, [action, form]] of forms.entries()) {
    const { status, body } = await own.send(action, form);
    expect([n, action, status, body.error?.code]).toEqual([n, action, 400, 'invalid_parameter']);
  }
  const deep = `{"events":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const raw: [string, Buffer, number][] = [
    ['pulse', Buffer.from('{"events":[{"connection":"forms","load":{"at":NaN}}]}'), 400],
    [
      'pulse',
      Buffer.from(JSON.stringify({ events: [loadOf('forms', 0)] }).replace('"at":0', '"at":1e999')),
      400,
    ],
    ['pulse', Buffer.from(deep), 400],
    ['pulse', Buffer.alloc(5 * 1024 * 1024, ' '), 413],
    ['past', Buffer.alloc(5 * 1024 * 1024, ' '), 413],
    ['look', Buffer.alloc(600 * 1024, ' '), 413],
  ];
  for (const [action, body, status] of raw)
    expect([action, (await post(action, own.signBytes(action, gzipSync(body)))).status]).toEqual([
      action,
      status,
    ]);
  // A name that is no text in UTF-8 is of no connection.
  expect((await own.send('pulse', { events: [{ ...event, connection: '\ud800' }] })).status).toBe(200);
  expect((await own.send('look', look({ reading }))).body).toEqual({ watched: false });
  expect([await pulsesOf(id), await checksOf(id)]).toEqual([[0, 0, 0], 0]);
  expect(service.output()).not.toContain('a request of a collector failed');
  expect(service.output()).not.toContain('strict mode'); // what is no line of JSON breaks readers of the log
  await removed(id);
});

test('a flood of events delays no other account, and what is kept of it is bounded', async () => {
  const id = await addCollected('own', 'flood', stranger.account);
  let isOver = false;
  const flood = Array.from({ length: 8 }, (_, request) => {
    const events = Array.from({ length: 200 }, (_each, n) =>
      episodeOf('flood', { began_at: Date.now() - 1_000 * (200 * request + n), root: `${n}/${request}` }),
    );
    return stranger.send('pulse', { events });
  });
  const all = Promise.all(flood).finally(() => {
    isOver = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  for (let n = 0; n < 3; n++) expect((await own.send('result', quietResult(NO_RUN))).status).toBe(409);
  expect(isOver).toBe(false);
  const statuses = new Set((await all).map(({ status }) => status));
  expect([...statuses].filter((status) => status !== 200 && status !== 429)).toEqual([]);
  expect(statuses).toContain(200);
  const [episodes = 0] = await pulsesOf(id);
  expect(episodes).toBeGreaterThan(0);
  expect(episodes).toBeLessThanOrEqual(1_000);
  await removed(id);
});

test('a flood of asks gives a run each ten seconds at most', async () => {
  const { connectionId, run } = await startedRun(own, 'asks');
  expect((await own.send('result', quietResult(run))).status).toBe(200);
  const ask = { connection: 'asks', ask: { holding: ['blocked'], cleared: [] } };
  for (let n = 0; n < 3; n++)
    expect((await own.send('pulse', { events: Array.from({ length: 200 }, () => ask) })).status).toBe(200);
  const { rows } = await store.query<{ seconds: number }>(
    `select extract(epoch from s.due_at - h.created_at)::float8 as seconds
       from connection_schedule s
       join connection c using (account_id, connection_id)
       join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
      where s.connection_id = $1`,
    [connectionId],
  );
  expect(rows[0]?.seconds).toBeGreaterThanOrEqual(10);
  expect(rows[0]?.seconds).toBeLessThan(12);
  await removed(connectionId);
});

test('a look that a collector does not take is no reason to ask without a pause', async () => {
  const id = await addCollected('own', 'untaken');
  await own.send('result', quietResult((await own.work()).body.jobs?.[0]?.run ?? ''));
  await store.query(
    `update collected_connection set look_until = now() + interval '1 min' where connection_id = $1`,
    [id],
  );
  const began = performance.now();
  for (let n = 0; n < 3; n++)
    expect((await own.work({ looking: [] })).body).toMatchObject({ jobs: [], looks: ['untaken'] });
  expect(performance.now() - began).toBeGreaterThan(2_500);
  await removed(id);
});

test('a copy of a collector, on a machine that was cloned, does not make both ask without a pause', async () => {
  const asked = { one: 0, other: 0 };
  const until = performance.now() + 5_000;
  const ask = async (who: keyof typeof asked) => {
    while (performance.now() < until) {
      asked[who] += 1;
      await Promise.race([own.work(), new Promise((resolve) => setTimeout(resolve, 5_000))]);
    }
  };
  await Promise.all([ask('one'), ask('other')]);
  expect(asked.one + asked.other).toBeLessThan(6);
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

test('a collector of the minor version before or after works, by the first fields alone', async () => {
  for (const version of ['0.0.9', '0.2.0-rc.1+build']) {
    const id = await addCollected('own', `of ${version}`);
    const { status, body } = await own.send('work', { version, free: 1, running: [] });
    expect([status, body.jobs?.length]).toEqual([200, 1]);
    expect(body['takes']).toEqual(['looking', 'buffered', 'at']); // what a newer one may send besides
    expect((await own.send('result', quietResult(body.jobs?.[0]?.run ?? ''))).status).toBe(200);
    await removed(id);
  }
  for (const version of ['0.3.0', '1.0.0', '1.1.0']) {
    const { status, body } = await own.work({ version, free: 0 });
    expect([status, body.error?.message]).toEqual([409, expect.stringContaining('Update the older one')]);
  }
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
  for (let n = 0; n < 60 && !statuses.has(429); n++)
    for (const { status } of await Promise.all(Array.from({ length: 25 }, guess))) statuses.add(status);
  expect([...statuses].toSorted()).toEqual([401, 429]);
  expect((await own.work({ free: 0, version: '0.9.0' })).status).toBe(409);
  expect((await command(['collector', 'list', '--account', `${account.id}`])).stdout).toContain('own');
});
