import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { fillAccount, makeAccount, makeKeylessAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { ask } from './ask.ts';
import { openStream, signInAs } from './browser.ts';
import { command } from './command.ts';
import { embeddedUrl } from './running-service.ts';

interface Entry {
  id: number;
  action_type: string;
}

interface VerifiedLog {
  verified: boolean | null;
  from_id: number;
  to_id: number;
  at: string | null;
  checked_at: string | null;
  unsealed: number;
  late: number;
  message: string | null;
}

const lines = (text: string): Entry[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

test('the log is exported as lines: all of it, a range, or one action type', async () => {
  const { id, key } = await makeAccount();
  const auditor = await signInAs(id, ['auditor']);
  for (let request = 0; request < 230; request += 1) await ask('/api/v1/health/fleet', { key });
  const exported = await auditor.ask('GET', '/activity/export');
  expect(exported.headers).toMatchObject({
    'content-type': 'application/x-ndjson',
    'content-disposition': expect.stringMatching(/^attachment; filename="activity-\d{4}-\d\d-\d\d\.ndjson"$/),
  });
  const entries = lines(exported.text);
  const log = await readLog(key);
  expect(entries).toEqual(log.slice(0, entries.length));
  expect(entries.map(({ id }) => id)).toEqual(entries.map((_, place) => place + 1));
  expect(entries.length).toBeGreaterThan(230);

  const requests = lines((await auditor.ask('GET', '/activity/export?action_type=api_request')).text);
  expect(requests.length).toBeGreaterThanOrEqual(230);
  expect(new Set(requests.map(({ action_type }) => action_type))).toEqual(new Set(['api_request']));
  expect((await auditor.ask('GET', '/activity/export?from=2999-01-01')).text).toBe('');
  expect((await auditor.ask('GET', '/activity/export?from=2026-02-30')).status).toBe(400);
  expect((await auditor.ask('GET', '/activity/export?from=2026-02-02&to=2026-02-01')).status).toBe(400);
});

interface Searched {
  data: { id: number; action_type: string; properties: Record<string, unknown> }[];
  next_before_id: number | null;
  searched_to: string | null;
}

test('the log is searched by person, key, status, address and object, and a filter is exported as it is shown', async () => {
  const { id, key } = await makeAccount();
  const [owner, auditor] = [await signInAs(id, ['owner']), await signInAs(id, ['auditor'])];
  const wanted = { name: 'shop', url: 'postgres://watcher:unspoken-1@db.example.com/shop' };
  const connection = await owner.change<{ id: number; version: number }>('POST', '/connections', wanted);
  const { version } = connection;
  await owner.change('PATCH', `/connections/${connection.id}`, {
    version,
    name: '=cmd()',
    password: 'unspoken-2',
  });
  await ask('/api/v1/health/fleet', { key });
  await ask('/api/v1/nothing', { key });
  const search = (query: string) => auditor.get<Searched>(`/activity/search?${query}`);
  const typesOf = async (query: string) => (await search(query)).data.map(({ action_type }) => action_type);

  const whole = await search('');
  expect(whole).toMatchObject({ next_before_id: null, searched_to: null });
  expect(await typesOf(`object=connection:${connection.id}`)).toEqual([
    'connection_changed',
    'connection_added',
  ]);
  expect(await typesOf(`member_id=${owner.memberId}&action_type=connection_added`)).toEqual([
    'connection_added',
  ]);
  expect(await typesOf(`member_id=${owner.memberId}`)).not.toContain('api_request');
  const requests = (await search('status=4xx')).data;
  expect(requests.map(({ properties }) => properties['status'])).toEqual([404]);
  const keyId = requests[0]?.properties['api_key_id'];
  expect(await typesOf(`key_id=${keyId}&status=200`)).toEqual(['api_request']);
  expect(await typesOf('address=127.0.0.0/8&status=404')).toEqual(['api_request']);
  expect(await typesOf('address=203.0.113.9')).toEqual([]);
  // Nothing of another account, whoever asks.
  const stranger = await signInAs((await makeAccount()).id, ['owner']);
  expect((await stranger.get<Searched>(`/activity/search?key_id=${keyId}`)).data).toEqual([]);

  // The change has each field's values, and no secret.
  const [change] = (await search(`object=connection:${connection.id}`)).data;
  expect(change?.properties).toMatchObject({
    changed: ['name', 'password'],
    from: { name: 'shop' },
    to: { name: '=cmd()' },
    actor_member_id: owner.memberId,
  });
  expect(JSON.stringify(await search(''))).not.toContain('unspoken');

  const filter = `object=connection:${connection.id}`;
  const exported = await auditor.ask('GET', `/activity/export?format=csv&${filter}`);
  expect(exported.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': expect.stringMatching(/^attachment; filename="activity-[\d-]+\.csv"$/),
  });
  const [header, ...rows] = exported.text.trimEnd().split('\r\n');
  expect(header).toBe(
    'id,occurred_at,action_type,page_path,status,method,error_code,query,request_id,api_key_id,source_ip,user_agent,properties',
  );
  expect(rows.map((row) => row.split(',')[2])).toEqual(['"connection_added"', '"connection_changed"']);
  expect(exported.text).not.toContain('unspoken');
  // Who exported what is in the log.
  const [recorded] = (await search('action_type=activity_exported')).data;
  expect(recorded?.properties).toMatchObject({
    format: 'csv',
    filter: { object: `connection:${connection.id}` },
    actor_member_id: auditor.memberId,
    last_id: (recorded?.id ?? 0) - 1,
  });
  const own = await auditor.ask('GET', `/activity/export?format=csv&key_id=${keyId}`);
  expect(own.text).toContain(',404,"GET",');
});

test.each([
  ['status=4x', 'status'],
  ['status=600', 'status'],
  ['address=example.com', 'address'],
  ['address=192.0.2.0/33', 'address'],
  ['address=fe80::1%25eth0', 'address'],
  ['address=192.0.2.1/8/8', 'address'],
  ["address=1.1.1.1'or'1", 'address'],
  ['object=connection', 'object'],
  ['object=password:1', 'object'],
  ['object=connection:0', 'object'],
  ['key_id=0', 'key_id'],
  ['member_id=-1', 'member_id'],
  ['before_id=x', 'before_id'],
  ['person=1', 'person'],
  ['from=2026-02-02&to=2026-02-01', 'from'],
])('a search for %s is refused', async (query, parameter) => {
  const auditor = await signInAs(await makeKeylessAccount(), ['auditor']);
  const answer = await auditor.ask('GET', `/activity/search?${query}`);
  expect([answer.status, answer.json()]).toMatchObject([400, { error: { parameter } }]);
});

test('an export ends when its reader is suspended, and excludes entries made after it began', async () => {
  const id = await makeKeylessAccount();
  await fillAccount(id, { activity: 12_000, connections: 1, tickets: 1 });
  const [owner, auditor] = [await signInAs(id, ['owner']), await signInAs(id, ['auditor'])];
  const { meta } = await owner.get<{ meta: { total: number } }>('/read/activity?per_page=1');
  const [kept, cut] = [
    await openStream(owner, '/activity/export'),
    await openStream(auditor, '/activity/export'),
  ];
  const { data } = await owner.get<{ data: { id: number; version: string }[] }>('/members');
  const member = data.find((one) => one.id === auditor.memberId);
  await owner.change('PATCH', `/members/${auditor.memberId}`, {
    version: member?.version,
    status: 'suspended',
  });
  const [all, part] = await Promise.all([kept.rest(), cut.rest()]);
  expect(part.whole).toBe(false);
  expect(part.text.split('\n').length).toBeLessThan(meta.total);
  expect(all.whole).toBe(true);
  expect(lines(all.text).length).toBe(meta.total);
});

test('the page shows the result and time of the verification of the whole log', async () => {
  const { id } = await makeAccount();
  const auditor = await signInAs(id, ['auditor']);
  const before = await verifiedLog(auditor);
  expect(before).toMatchObject({ verified: true, from_id: 0, to_id: 0, at: null, message: null });
  expect(before.unsealed).toBeGreaterThan(0);
  expect((await command(['activity', 'seal', '--account', String(id)])).exit).toBe(0);
  const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  await expect
    .poll(() => verifiedLog(auditor), { interval: 1_000 })
    .toEqual({
      verified: true,
      from_id: 1,
      to_id: before.unsealed,
      unsealed: 0,
      late: 0,
      message: null,
      at: instant,
      checked_at: instant,
    });
});

test.each([
  [
    'an entry of an older seal is edited',
    [`update activity set page_path = '/elsewhere' where account_id = $1 and id = 1`],
    /^Entry 1 of account \d+ was edited\.$/,
  ],
  [
    'the seals are signed with another key',
    [
      'grant delete on seal_key to current_user',
      'delete from seal_key where account_id = $1',
      'revoke delete on seal_key from current_user',
    ],
    /is signed with a key that is not ours\.$/,
  ],
])('a page tells what "activity verify" tells: %s', async (_what, attack, message) => {
  const { id, key } = await makeAccount();
  const seal = () => command(['activity', 'seal', '--account', String(id)]);
  expect((await seal()).exit).toBe(0);
  await ask('/api/v1/health/fleet', { key });
  expect((await seal()).exit).toBe(0);
  const environment = inject('environment');
  const url =
    environment['DATABASE_URL'] ?? embeddedUrl(environment['DBVITALS_DATA_DIR'] ?? '')['DATABASE_URL'];
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  for (const statement of attack) await owner.query(statement, statement.includes('$1') ? [id] : []);
  const auditor = await signInAs(id, ['auditor']);
  const told = { verified: false, message: expect.stringMatching(message) };
  await expect.poll(() => verifiedLog(auditor), { interval: 1_000 }).toMatchObject(told);
  // The service that all suites share finds this log new, and not forged.
  await owner.query('grant delete on activity_seal, seal_key to current_user');
  for (const table of ['activity_seal', 'activity_leaves', 'seal_key'])
    await owner.query(`delete from ${table} where account_id = $1`, [id]);
  await owner.query('revoke delete on activity_seal, seal_key from current_user');
  await owner.end();
});

/** What the page shows once the log has been verified. */
async function verifiedLog(auditor: Awaited<ReturnType<typeof signInAs>>): Promise<VerifiedLog> {
  for (;;) {
    const log = await auditor.get<VerifiedLog>('/activity/verified');
    if (log.verified !== null) return log;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

test('a session that repeats expensive requests is refused with Retry-After, and others are not', async () => {
  const { id } = await makeAccount();
  const [greedy, auditor] = [await signInAs(id, ['auditor']), await signInAs(id, ['auditor'])];
  const answers = [];
  for (let turn = 0; turn < 4; turn += 1) {
    const asked = Array.from({ length: 10 }, () => greedy.ask('GET', '/activity/verified'));
    answers.push(...(await Promise.all(asked)));
  }
  const refused = answers.filter(({ status }) => status === 429);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) {
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.json()).toEqual({
      error: {
        code: 'too_many_attempts',
        message: expect.stringMatching(
          /^Too many requests\. Wait (?:a second|\d+ seconds), then try again\.$/,
        ),
        retry_after: Number(answer.headers['retry-after']),
      },
    });
  }
  expect((await auditor.ask('GET', '/activity/verified')).status).toBe(200);
});

test.each([
  '/health/connections?per_page=2&page=2',
  '/health/fleet',
  '/ops/tickets?status=open&per_page=5',
  '/ops/stats',
  '/activity?per_page=3&order=asc',
  '/team/roles',
])('a member reads %s as a key does, and it is neither counted nor recorded', async (path) => {
  const { id, key } = await makeAccount();
  const auditor = await signInAs(id, ['auditor']);
  const length = async () => (await auditor.get<{ meta: { total: number } }>('/read/activity')).meta.total;
  const before = await length();
  const mine = await auditor.ask('GET', `/read${path}`);
  expect(mine.status).toBe(200);
  expect(await length()).toBe(before);
  expect(mine.headers['x-ratelimit-limit']).toBeUndefined();
  expect(mine.json()).toEqual((await ask(`/api/v1${path}`, { key })).json());
});

test('members see what their roles allow, even where the plan limits API keys', async () => {
  const id = await makeKeylessAccount({ plan: 'individual' });
  await fillAccount(id, { connections: 2, tickets: 4, activity: 50, days: 2 });
  const viewer = await signInAs(id, ['viewer']);
  expect((await viewer.ask('GET', '/read/ops/tickets')).status).toBe(200);
  for (const path of [
    '/read/activity',
    '/activity/search',
    '/activity/export',
    '/activity/verified',
    '/read/team/members',
  ]) {
    expect((await viewer.ask('GET', path)).json(), path).toMatchObject({ error: { code: 'forbidden' } });
  }
  const wrong = await viewer.ask('GET', '/read/ops/tickets?status=lost');
  expect([wrong.status, wrong.json()]).toMatchObject([400, { error: { parameter: 'status' } }]);
  expect((await viewer.ask('GET', '/read/ops/tickets?connection_id=999999999')).status).toBe(404);
  expect((await viewer.ask('GET', '/read/health/connections/0/checks/latest')).status).toBe(404);
});
