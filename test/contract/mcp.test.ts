import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { fillAccount, makeAccount, makeKey } from './account.ts';
import { readLog } from './activity-log.ts';
import { ask, read } from './ask.ts';
import { connectAssistant, HTTP_PRODUCT, ROADS, type Road, startAssistant, textOf } from './assistant.ts';
import { fixtureJson } from './fixture-command.ts';
import type { Connection, List } from './records.ts';

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  parameters: {
    name: string;
    in: string;
    required?: boolean;
    description: string;
    schema: Record<string, unknown>;
  }[];
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** An account with something to read at every endpoint, and no entry by another than its key. */
async function filledAccount() {
  const account = await makeAccount();
  await fillAccount(account.id, { connections: 3, tickets: 20, activity: 0 });
  const add = ['member', 'add', '--account', String(account.id), '--role', 'viewer'];
  await fixtureJson([...add, '--name', 'Ada', '--email', 'ada@example.com']);
  const { data } = await read<List<Connection>>('/api/v1/health/connections', account.key);
  return { ...account, connectionId: data[0]?.id ?? 0 };
}

const USER_AGENTS: Record<Road, string> = {
  stdio: `dbvitals-mcp/${version}`,
  http: `dbvitals-mcp/${version} ${HTTP_PRODUCT}`,
};

test.each(ROADS)(
  '%s: a read-only tool for each operation of the document, with its parameters and their rules',
  async (road) => {
    const document = (await ask('/openapi.json')).json<{ paths: Record<string, { get: Operation }> }>();
    const operations = Object.values(document.paths).map(({ get }) => get);
    const { key } = await makeAccount();
    const { client } = await connectAssistant(road, key);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(operations.map((one) => one.operationId).sort());
    expect(tools).toHaveLength(17);
    for (const { operationId, summary, description, parameters } of operations) {
      const tool = tools.find(({ name }) => name === operationId);
      const taken = parameters.filter(({ in: place }) => place !== 'header');
      expect(tool, operationId).toMatchObject({
        title: summary,
        description: `${summary}. ${description}`,
        annotations: {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
        outputSchema: { type: 'object' },
      });
      expect(tool?.inputSchema, operationId).toEqual({
        type: 'object',
        properties: Object.fromEntries(
          taken.map(({ name, schema, description: what }) => [name, { ...schema, description: what }]),
        ),
        required: taken.filter(({ required }) => required).map(({ name }) => name),
        additionalProperties: false,
      });
      expect(JSON.stringify(tool?.outputSchema), operationId).not.toContain('$ref');
    }
    expect(client.getServerVersion()).toMatchObject({ name: 'dbvitals', version });
    expect(client.getInstructions()).toMatch(/recorded in the account's activity log/);
  },
);

test.each(ROADS)(
  '%s: each tool gives what its endpoint answers, as text too, and is recorded and counted as one request',
  async (road) => {
    const { key, connectionId } = await filledAccount();
    const reads: [tool: string, given: Record<string, unknown>, path: string][] = [
      ['listConnections', { page: 2, per_page: 2 }, '/api/v1/health/connections?page=2&per_page=2'],
      ['listConnections', {}, '/api/v1/health/connections?page=1&per_page=50'],
      [
        'getLatestHealthCheck',
        { id: connectionId },
        `/api/v1/health/connections/${connectionId}/checks/latest`,
      ],
      ['getFleet', {}, '/api/v1/health/fleet'],
      [
        'listTickets',
        { status: 'open', connection_id: connectionId, from: '2020-01-01', per_page: 5 },
        `/api/v1/ops/tickets?page=1&per_page=5&status=open&connection_id=${connectionId}&from=2020-01-01`,
      ],
      ['getTicketStatistics', {}, '/api/v1/ops/stats'],
      [
        'listActivity',
        { order: 'asc', after_id: 1, per_page: 3, action_type: 'member_added' },
        '/api/v1/activity?order=asc&page=1&per_page=3&action_type=member_added&after_id=1',
      ],
      ['listMembers', {}, '/api/v1/team/members'],
      ['listRoles', {}, '/api/v1/team/roles'],
      [
        'listMeasures',
        { id: connectionId, per_page: 5 },
        `/api/v1/health/connections/${connectionId}/measures?page=1&per_page=5`,
      ],
      [
        'listMeasureHistory',
        { id: connectionId, metric: 'cache_hit_ratio', step: '1d' },
        `/api/v1/health/connections/${connectionId}/measures/history?metric=cache_hit_ratio&step=1d`,
      ],
      [
        'listFleetMeasures',
        { metric: 'cache_hit_ratio' },
        '/api/v1/health/measures?metric=cache_hit_ratio&page=1&per_page=50',
      ],
      ['listFleetChanges', { per_page: 3 }, '/api/v1/health/changes?page=1&per_page=3'],
    ];
    const { call, client, stderr } = await connectAssistant(road, key);
    await client.listTools(); // the client then holds each answer to its tool's schema
    const before = (await readLog(key)).at(-1)?.id ?? 0;
    for (const [tool, given, path] of reads) {
      const result = await call(tool, given);
      expect(result.isError, `${tool}: ${JSON.stringify(result.content)}`).toBeUndefined();
      const answer = await read<Record<string, unknown>>(path, key);
      expect(answer['data'], tool).not.toEqual([]);
      expect(result.structuredContent, tool).toEqual(answer);
      expect(JSON.parse(textOf(result)), tool).toEqual(answer);
    }
    const entries = (await readLog(key, before)).filter(
      ({ properties }) => properties['user_agent'] === USER_AGENTS[road],
    );
    const asked = entries.map(({ page_path, properties }) => ({ page_path, query: properties['query'] }));
    expect(asked).toEqual(
      reads.map(([, , path]) => {
        const { pathname, searchParams } = new URL(path, 'http://localhost');
        return { page_path: pathname, query: Object.fromEntries(searchParams) };
      }),
    );
    for (const { properties } of entries) {
      expect(properties).toMatchObject({
        method: 'GET',
        status: 200,
        api_key_name: 'suite',
        source_ip: '127.0.0.1',
      });
    }
    expect(stderr()).toBe('');
  },
);

test.each(ROADS)('%s: a wrong parameter is refused with its rule, and no endpoint is asked', async (road) => {
  const { key } = await makeAccount();
  const { call } = await connectAssistant(road, key);
  const before = (await readLog(key)).length;
  const wrong: [tool: string, given: Record<string, unknown>, told: RegExp][] = [
    ['listConnections', { page: 0 }, /page must be >= 1/],
    ['listConnections', { per_page: 101 }, /per_page must be <= 100/],
    ['listConnections', { per_page: '50' }, /per_page must be integer/],
    ['listConnections', { pgae: 1 }, /must NOT have additional properties/],
    ['getLatestHealthCheck', {}, /required property 'id'/],
    ['getLatestHealthCheck', { id: '../../fleet' }, /id must be integer/],
    ['getLatestHealthCheck', { id: 2 ** 53 }, /id must be <= 9007199254740991/],
    ['getFleet', { page: 1 }, /must NOT have additional properties/],
    ['listTickets', { status: 'Open' }, /status must be equal to one of the allowed values/],
    ['listTickets', { severity: 'fatal' }, /severity must be equal to one of the allowed values/],
    ['listTickets', { from: 'yesterday' }, /from must match pattern/],
    ['listActivity', { after_id: -1 }, /after_id must be >= 0/],
    ['listActivity', { order: 'random' }, /order must be equal to one of the allowed values/],
    ['listActivity', { action_type: '' }, /action_type must NOT have fewer than 1 characters/],
  ];
  for (const [tool, given, told] of wrong) {
    const result = await call(tool, given);
    expect(result.isError, tool).toBe(true);
    expect(textOf(result), `${tool} ${JSON.stringify(given)}`).toMatch(told);
  }
  await expect(call('deleteConnection', { id: 1 })).rejects.toThrow(/deleteConnection not found/);
  const entries = (await readLog(key)).slice(before);
  const paths = entries
    .filter(({ properties }) => properties['user_agent'])
    .map(({ page_path }) => page_path);
  // By HTTP each message is a request of its own, the client's first ones too.
  const messages = road === 'stdio' ? [] : [...wrong.keys(), wrong.length];
  expect(paths.slice(-messages.length || paths.length)).toEqual(messages.map(() => '/mcp'));
});

test.each(ROADS)(
  "%s: what the API refuses is the tool's error: code, message, parameter, and the request id of the log",
  async (road) => {
    const { key } = await makeAccount();
    const { call } = await connectAssistant(road, key);
    const refused: [tool: string, given: Record<string, unknown>, told: RegExp][] = [
      [
        'listTickets',
        { from: '2026-02-02', to: '2026-01-01' },
        /^invalid_parameter: .+\nParameter: from\nRequest/,
      ],
      ['listTickets', { from: '2026-02-30' }, /^invalid_parameter: .+\nParameter: from\nRequest/],
      ['listTickets', { connection_id: 999_999_999 }, /^not_found: .+check the identifier\.\nRequest/],
      ['getLatestHealthCheck', { id: 999_999_999 }, /^not_found: .+check the identifier\.\nRequest/],
    ];
    const ids: string[] = [];
    for (const [tool, given, told] of refused) {
      const result = await call(tool, given);
      expect(result.isError, tool).toBe(true);
      expect(result.structuredContent, tool).toBeUndefined();
      expect(textOf(result), tool).toMatch(told);
      ids.push(/Request id: ([0-9a-f-]{36})$/.exec(textOf(result))?.[1] ?? '');
    }
    const logged = (await readLog(key)).map(({ properties }) => properties['request_id']);
    expect(logged).toEqual(expect.arrayContaining(ids));
    expect(new Set(ids).size).toBe(refused.length);
  },
);

test("a wrong key is the tool's error, says what to do, and is not shown", async () => {
  const wrong = `dbv_live_${'0'.repeat(49)}`;
  const { call, stderr } = await startAssistant(wrong);
  const result = await call('getFleet');
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(
    /^invalid_api_key: .+\nCalling again does not help: .*DBVITALS_API_KEY.+\nRequest id: /,
  );
  expect(textOf(result) + stderr()).not.toContain(wrong);
});

test.each(ROADS)('%s: a plan allows its own tools only', async (road) => {
  const { key } = await makeAccount({ plan: 'team' });
  const { call } = await connectAssistant(road, key);
  for (const tool of ['listConnections', 'getFleet'])
    expect((await call(tool)).isError, tool).toBeUndefined();
  for (const tool of ['listTickets', 'getTicketStatistics', 'listActivity', 'listMembers', 'listRoles']) {
    const result = await call(tool);
    expect(result.isError, tool).toBe(true);
    expect(textOf(result), tool).toMatch(
      /^tier_insufficient: .+\nCalling again does not help: .+\nRequest id: /,
    );
  }
});

test.each(ROADS)('%s: both revisions of the protocol are spoken', async (road) => {
  const { key } = await makeAccount();
  for (const protocol of [undefined, '2026-07-28']) {
    const { call, client } = await connectAssistant(road, key, protocol === undefined ? {} : { protocol });
    expect(client.getNegotiatedProtocolVersion()).toBe(protocol ?? '2025-11-25');
    expect((await client.listTools()).tools).toHaveLength(17);
    expect((await call('getFleet')).structuredContent).toEqual(await read('/api/v1/health/fleet', key));
    expect(textOf(await call('listTickets', { from: '2026-02-30' }))).toMatch(/^invalid_parameter: /);
  }
});

const MESSAGE_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params });
const INITIALIZE = message('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'suite', version: '1' },
});
const callOf = (name: string, given: object = {}) => message('tools/call', { name, arguments: given });

/** Sends a message, or another body, to `/mcp`. */
function send(body: unknown, key?: string, more: { method?: string; headers?: Record<string, string> } = {}) {
  const { method = 'POST', headers } = more;
  return ask('/mcp', {
    key,
    method,
    // A body that is too large ends its connection.
    alone: true,
    headers: { ...MESSAGE_HEADERS, ...headers },
    ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

test('without a key that lives and has access, no message is answered, not even the first', async () => {
  const { id } = await makeAccount();
  const revoked = await makeKey(id, 'revoked');
  await send(callOf('getFleet'), revoked.key);
  await fixtureJson(['key', 'revoke', `${revoked.id}`]);
  const individual = await makeAccount({ plan: 'individual', kind: 'individual' });
  const refused: [who: string, key: string | undefined, status: number, code: string][] = [
    ['no key', undefined, 401, 'unauthorized'],
    ['an unknown key', `dbv_live_${'0'.repeat(49)}`, 401, 'invalid_api_key'],
    ['a revoked key', revoked.key, 401, 'invalid_api_key'],
    ['a plan without the API', individual.key, 403, 'tier_insufficient'],
  ];
  for (const [who, used, status, code] of refused) {
    for (const body of [INITIALIZE, message('tools/list'), callOf('getFleet'), 'x'.repeat(70_000)]) {
      const answer = await send(body, used);
      expect(answer.status, who).toBe(status);
      expect(answer.json(), who).toMatchObject({ error: { code } });
      if (status === 401) expect(answer.headers['www-authenticate'], who).toMatch(/^Bearer realm=/);
    }
  }
  await expect(connectAssistant('http', revoked.key)).rejects.toThrow();
});

test('what is no single message in a POST gets an error at once, and counts as one request', async () => {
  const { key } = await makeAccount();
  const listen = {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'suite', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
    notifications: { toolsListChanged: true },
  };
  const current = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
  const odd: [what: string, answer: ReturnType<typeof send>, status: number, told: RegExp][] = [
    ['a batch', send([callOf('getFleet'), callOf('listRoles')], key), 400, /"bad_request".*batch/],
    ['an empty batch', send([], key), 400, /"bad_request".*batch/],
    ['no JSON', send('{"half":', key), 400, /"bad_request".*not JSON/],
    ['no body', send('', key), 400, /"bad_request".*not JSON/],
    ['no message', send({ hello: 1 }, key), 400, /-32600|-32700/],
    ['null', send('null', key), 400, /-32600/],
    ['deep JSON', send(`${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`, key), 400, /-32600|-32700/],
    ['a huge body', send('x'.repeat(65_537), key), 413, /"body_too_large"/],
    ['another type', send('{}', key, { headers: { 'content-type': 'text/plain' } }), 415, /-32000/],
    ['nothing acceptable', send(INITIALIZE, key, { headers: { accept: 'text/html' } }), 406, /-32000/],
    ['any type', send(INITIALIZE, key, { headers: { accept: '*/*' } }), 200, /"serverInfo"/],
    [
      'JSON alone',
      send(message('tools/list'), key, { headers: { accept: 'application/json' } }),
      200,
      /"tools"/,
    ],
    ['a stream', send('', key, { method: 'GET' }), 405, /"method_not_allowed".*POST/],
    ['its end', send('', key, { method: 'DELETE' }), 405, /"method_not_allowed".*POST/],
    [
      'a subscription',
      send(message('subscriptions/listen', listen), key, { headers: current }),
      200,
      /-32603/,
    ],
    ['an unknown method', send(message('resources/list'), key), 200, /-32601/],
    ['an unknown tool', send(callOf('deleteConnection'), key), 200, /deleteConnection not found/],
    ['a notification', send({ jsonrpc: '2.0', method: 'notifications/initialized' }, key), 202, /^$/],
    ['an answer', send({ jsonrpc: '2.0', id: 1, result: {} }, key), 202, /^$/],
  ];
  for (const [what, sent, status, told] of odd) {
    const answer = await sent;
    expect(answer.status, `${what}: ${answer.text}`).toBe(status);
    expect(answer.text, what).toMatch(told);
    expect(answer.headers['x-ratelimit-remaining'], what).toMatch(/^\d+$/);
    if (status === 405) expect(answer.headers['allow'], what).toBe('POST, OPTIONS');
  }
  const entries = (await readLog(key)).filter(({ page_path }) => page_path === '/mcp');
  const statuses = entries.map(({ properties }) => properties['status']);
  expect(statuses.toSorted()).toEqual(odd.map(([, , status]) => status).toSorted());
});

test('a page of another origin is refused, whatever it sends, and nothing is counted', async () => {
  const { key } = await makeAccount();
  const { host } = new URL(inject('origin'));
  for (const origin of ['https://evil.example.com', `http://${host}`, 'null']) {
    const answer = await send(callOf('getFleet'), key, { headers: { origin } });
    expect(answer.status, origin).toBe(403);
    expect(answer.json(), origin).toMatchObject({ error: { code: 'origin_not_allowed' } });
  }
  const preflight = await send('', undefined, {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.example.com' },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
  expect((await readLog(key)).filter(({ action_type }) => action_type === 'api_request')).toHaveLength(0);
});

test('a tool reads nothing of another account, by no argument and by no session', async () => {
  const [own, other] = [await filledAccount(), await filledAccount()];
  const sessions = { 'mcp-session-id': 'f6a1c9b2-0000-4000-8000-000000000000', 'last-event-id': '1' };
  const given: [name: string, given: Record<string, unknown>, told: RegExp][] = [
    ['getLatestHealthCheck', { id: other.connectionId }, /^not_found: /],
    ['listMeasures', { id: other.connectionId }, /^not_found: /],
    ['listTickets', { connection_id: other.connectionId }, /^not_found: /],
    ['getLatestHealthCheck', { id: `${own.connectionId}/../${other.connectionId}` }, /id must be integer/],
    ['listChanges', { id: '../measures?metric=x' }, /id must be integer/],
    ['getFleet', { account_id: other.id }, /must NOT have additional properties/],
    ['getFleet', { tag: ['x&account_id=1#/../..'] }, /^invalid_parameter: /],
    ['getFleet', { tag: ['x'.repeat(9_000)] }, /^uri_too_long: /],
  ];
  for (const [name, args, told] of given) {
    const answer = await send(callOf(name, args), own.key, { headers: sessions });
    expect(
      answer.json<{ result: { isError: boolean; content: { text: string }[] } }>().result,
      name,
    ).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(told) }],
    });
  }
  // At the same time, with the same ids of messages.
  const accounts = Array.from({ length: 10 }, () => [own, other]).flat();
  const fleets = await Promise.all(
    accounts.map(({ key }) => send(callOf('getFleet'), key, { headers: sessions })),
  );
  for (const [n, { key }] of accounts.entries()) {
    expect(fleets[n]?.headers['mcp-session-id']).toBeUndefined();
    expect(fleets[n]?.json()).toMatchObject({
      result: { structuredContent: await read('/api/v1/health/fleet', key) },
    });
  }
  for (const { properties } of await readLog(own.key))
    expect(JSON.stringify(properties).length).toBeLessThan(2_000);
});

test('over the limit a tool says when to call again, other messages get 429, and all are recorded', async () => {
  const { id, key } = await makeAccount({ requestsPerMinute: 2 });
  expect((await send(INITIALIZE, key)).status).toBe(200);
  const allowed = await send(callOf('getFleet'), key);
  expect(allowed.json()).toMatchObject({ result: { structuredContent: { data: [] } } });
  expect(allowed.headers['x-ratelimit-remaining']).toBe('0');
  // The first is over the limit by the gate's verdict, the second by what the service remembers.
  for (const call of [callOf('getFleet'), callOf('listRoles')]) {
    const limited = await send(call, key);
    expect(limited.status).toBe(200);
    expect(limited.headers['retry-after']).toMatch(/^\d+$/);
    expect(limited.json()).toMatchObject({
      id: 7,
      result: {
        isError: true,
        content: [{ text: expect.stringMatching(/^rate_limited: .+\nCall again in \d+ s/) }],
      },
    });
  }
  const listed = await send(message('tools/list'), key);
  expect(listed.status).toBe(429);
  expect(listed.headers['retry-after']).toMatch(/^\d+$/);
  expect(listed.json()).toMatchObject({ error: { code: 'rate_limited' } });
  const { key: other } = await makeKey(id, 'other');
  const entries = (await readLog(other)).filter(({ properties }) => properties['api_key_name'] === 'suite');
  expect(entries.map(({ page_path, properties }) => `${page_path} ${properties['status']}`)).toEqual([
    '/mcp 200',
    '/api/v1/health/fleet 200',
    '/api/v1/health/fleet 429',
    '/api/v1/team/roles 429',
    '/mcp 429',
  ]);
});

test("a key's scopes hold for tools", async () => {
  const { id } = await makeAccount();
  const create = ['key', 'create', '--account', `${id}`, '--name', 'health', '--scope', 'health'];
  const { key } = await fixtureJson<{ key: string }>(create);
  const { call } = await connectAssistant('http', key);
  expect((await call('getFleet')).isError).toBeUndefined();
  expect(textOf(await call('listTickets'))).toMatch(/^not_found: /);
});
