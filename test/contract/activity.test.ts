import { expect, test } from 'vitest';
import { makeAccount, makeKey } from './account.ts';
import { byRequestId, readLog } from './activity-log.ts';
import { type Answer, ask, each, read } from './ask.ts';
import { fixtureJson } from './fixture-command.ts';
import { type Connection, type Entry, type HealthCheck, integer, type List, time } from './records.ts';

const PATH = '/api/v1/activity';

async function entryOf(answer: Answer, key: string): Promise<Entry | undefined> {
  return byRequestId(await readLog(key)).get(answer.headers['x-request-id']);
}

test('200: ids count from 1 without a gap, occurred_at never decreases, each entry has its five fields', async () => {
  const { key } = await makeAccount();
  await each(Array.from({ length: 150 }), 16, () => ask('/api/v1/health/fleet', { key }));
  const log = await readLog(key);
  expect(log.map(({ id }) => id)).toEqual(log.map((_, at) => at + 1));
  expect(log.length).toBeGreaterThan(150);
  const times = log.map(({ occurred_at }) => occurred_at);
  expect(times).toEqual(times.toSorted());
  for (const entry of log) {
    expect(entry).toEqual({
      id: integer,
      action_type: expect.stringMatching(/^[a-z_]+$/),
      page_path: expect.stringMatching(/^\//),
      properties: expect.any(Object),
      occurred_at: time,
    });
  }
});

test('200: by default the latest entry is first, and the current request is not listed yet', async () => {
  const { key } = await makeAccount();
  const before = await ask('/api/v1/health/fleet', { key });
  const { data } = await read<List<Entry>>(PATH, key);
  expect(data[0]?.properties['request_id']).toBe(before.headers['x-request-id']);
  expect(data.map(({ id }) => id)).toEqual(data.map((_, at) => data.length - at));
});

test('200: every request of a live key is recorded, whatever its status, with these properties', async () => {
  const { key, keyId } = await makeAccount();
  const fleet = await ask('/api/v1/health/fleet', { key });
  const etag = fleet.headers['etag'] ?? '';
  const cases: [number, string | null, string, Record<string, string>, Parameters<typeof ask>[1]][] = [
    [200, null, '/api/v1/health/fleet', {}, {}],
    [200, null, '/api/v1/health/connections', { page: '1', per_page: '5' }, {}],
    [200, null, '/api/v1/health/fleet', { _: '17' }, { method: 'HEAD' }],
    [304, null, '/api/v1/health/fleet', {}, { headers: { 'if-none-match': etag } }],
    [400, 'invalid_parameter', '/api/v1/ops/tickets', { status: 'closed' }, {}],
    [400, 'invalid_parameter', '/api/v1/ops/tickets', { '<b>': '☃ ü' }, {}],
    [404, 'not_found', '/api/v1/nothing', {}, {}],
    [404, 'not_found', '/api/v1/health/connections/999999999/checks/latest', {}, {}],
    [405, 'method_not_allowed', '/api/v1/ops/stats', {}, { method: 'DELETE' }],
    [
      405,
      'method_not_allowed',
      '/api/v1/ops/stats',
      {},
      { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } },
    ],
  ];
  for (const [status, errorCode, path, query, question] of cases) {
    const search = new URLSearchParams(query).toString();
    const answer = await ask(search ? `${path}?${search}` : path, {
      ...question,
      key,
      headers: { 'user-agent': 'collector/1.0', 'x-forwarded-for': '203.0.113.7', ...question?.headers },
    });
    expect(answer.status, path).toBe(status);
    expect(await entryOf(answer, key)).toEqual({
      id: integer,
      action_type: 'api_request',
      page_path: path,
      properties: {
        method: question?.method ?? 'GET',
        status,
        error_code: errorCode,
        query,
        request_id: answer.headers['x-request-id'],
        api_key_id: keyId,
        api_key_name: 'suite',
        source_ip: '127.0.0.1',
        user_agent: 'collector/1.0',
      },
      occurred_at: time,
    });
  }
});

test('200: a 429 is recorded with its key', async () => {
  const { id } = await makeAccount({ requestsPerMinute: 20 });
  const [busy, reader] = [await makeKey(id, 'busy'), await makeKey(id, 'reader')];
  const answers = await each(Array.from({ length: 30 }), 4, () =>
    ask('/api/v1/health/fleet', { key: busy.key }),
  );
  const requests = byRequestId(await readLog(reader.key));
  for (const answer of answers) {
    const { properties } = requests.get(answer.headers['x-request-id']) ?? { properties: {} };
    expect(properties).toMatchObject({
      status: answer.status,
      error_code: answer.status === 429 ? 'rate_limited' : null,
      api_key_id: busy.id,
      api_key_name: 'busy',
      user_agent: null,
    });
  }
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
});

test('200: a 403 is recorded, also on the Individual plan', async () => {
  const { id, key } = await makeAccount({ plan: 'individual' });
  const individual = await ask('/api/v1/health/fleet', { key });
  await fixtureJson(['account', 'change', String(id), '--plan', 'team']);
  const team = await ask('/api/v1/ops/stats', { key });
  await fixtureJson(['account', 'change', String(id), '--plan', 'enterprise']);
  const requests = byRequestId(await readLog(key));
  for (const answer of [individual, team]) {
    expect(requests.get(answer.headers['x-request-id'])?.properties).toMatchObject({
      status: 403,
      error_code: 'tier_insufficient',
    });
  }
});

test('200: page_path is the matched path: slashes folded, escapes decoded once', async () => {
  const { key } = await makeAccount();
  const cases: [string, string][] = [
    ['//api//v1///health/fleet', '/api/v1/health/fleet'],
    ['/api/v1/health/fleet/', '/api/v1/health/fleet'],
    ['/api/v1/he%61lth/fleet', '/api/v1/health/fleet'],
    ['/api/v1/caf%C3%A9', '/api/v1/café'],
    ['/api/v1/he%2561lth/fleet', '/api/v1/he%61lth/fleet'],
  ];
  for (const [asked, recorded] of cases) {
    expect((await entryOf(await ask(asked, { key }), key))?.page_path).toBe(recorded);
  }
});

test('200: the log never contains an API key, wherever the client put it', async () => {
  const { id, key } = await makeAccount();
  const other = await makeKey(id, 'other');
  for (const path of [
    `/api/v1/${other.key}`,
    `/api/v1/health/fleet?key=${other.key}`,
    `/api/v1/health/fleet?${other.key}=1`,
    `/api/v1/health/fleet?_=${encodeURIComponent(`Bearer ${other.key}`)}`,
    `/api/v1/${other.key.replace('_live', '%5Flive')}`,
  ]) {
    await ask(path, { key, headers: { 'user-agent': `curl ${other.key}`, referer: other.key } });
  }
  const text = JSON.stringify(await readLog(key));
  expect(text).not.toContain(other.key.slice(9, 30));
  expect(text).not.toContain(key.slice(9, 30));
  expect(text).toContain('dbv_live_…');
});

test('200: each change by a command is recorded with its properties', async () => {
  const { id, key } = await makeAccount();
  const account = ['--account', String(id)];
  const connection = await fixtureJson<Connection>([
    'connection',
    'add',
    ...account,
    '--name',
    'down',
    '--url',
    'postgres://watcher:unspoken@127.0.0.1:1/shop',
  ]);
  const check = await fixtureJson<HealthCheck>(['check', 'run', '--connection', String(connection.id)]);
  await fixtureJson(['connection', 'change', String(connection.id), '--name', 'still down']);
  await fixtureJson(['connection', 'remove', String(connection.id)]);
  const named = await makeKey(id, 'named');
  await fixtureJson(['key', 'regenerate', String(named.id)]);
  const revoked = await makeKey(id, 'revoked');
  await fixtureJson(['key', 'revoke', String(revoked.id)]);
  const member = await fixtureJson<{ id: number }>([
    'member',
    'add',
    ...account,
    '--name',
    'Ada',
    '--email',
    'ada@example.com',
    '--role',
    'admin',
  ]);
  await fixtureJson(['member', 'change', String(member.id), '--role', 'viewer']);
  await fixtureJson(['member', 'remove', String(member.id)]);
  await fixtureJson(['account', 'change', String(id), '--name', 'Renamed']);

  const events = (await readLog(key)).filter(({ action_type }) => action_type !== 'api_request');
  // Entries of one transaction may stand in either order.
  expect(events.map(({ action_type }) => action_type).toSorted()).toEqual(
    [
      'account_created',
      'api_key_created',
      'api_key_created',
      'api_key_created',
      'api_key_regenerated',
      'api_key_revoked',
      'connection_added',
      'health_check_completed',
      'ticket_opened',
      'connection_changed',
      'connection_removed',
      'ticket_resolved',
      'member_added',
      'member_changed',
      'member_removed',
      'account_changed',
    ].toSorted(),
  );
  expect(events[0]?.action_type).toBe('account_created');
  const completed = events.find(({ action_type }) => action_type === 'health_check_completed');
  expect(completed?.properties).toMatchObject({ connection_id: connection.id, score: check.score });
  expect(JSON.stringify(events)).not.toContain('unspoken');
});

test('200: entries of another account are not listed', async () => {
  const [one, two] = [await makeAccount(), await makeAccount()];
  const foreign = await ask('/api/v1/health/fleet', { key: two.key });
  expect(byRequestId(await readLog(one.key)).has(foreign.headers['x-request-id'])).toBe(false);
  expect((await readLog(one.key))[0]?.id).toBe(1);
});
