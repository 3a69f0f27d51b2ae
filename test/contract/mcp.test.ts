import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fillAccount, makeAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { ask, read } from './ask.ts';
import { startAssistant, textOf } from './assistant.ts';
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

test('there is a read-only tool for each operation of the document, with its parameters and their rules', async () => {
  const document = (await ask('/openapi.json')).json<{ paths: Record<string, { get: Operation }> }>();
  const operations = Object.values(document.paths).map(({ get }) => get);
  const { client } = await startAssistant('x');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(operations.map((one) => one.operationId).sort());
  expect(tools).toHaveLength(8);
  for (const { operationId, summary, description, parameters } of operations) {
    const tool = tools.find(({ name }) => name === operationId);
    const taken = parameters.filter(({ in: place }) => place !== 'header');
    expect(tool, operationId).toMatchObject({
      title: summary,
      description: `${summary}. ${description}`,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
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
});

test('each tool gives what its endpoint answers, as text too, and is recorded and counted as one request', async () => {
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
  ];
  const { call, client, stderr } = await startAssistant(key);
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
    ({ properties }) => properties['user_agent'] === `dbvitals-mcp/${version}`,
  );
  const asked = entries.map(({ page_path, properties }) => ({ page_path, query: properties['query'] }));
  expect(asked).toEqual(
    reads.map(([, , path]) => {
      const { pathname, searchParams } = new URL(path, 'http://localhost');
      return { page_path: pathname, query: Object.fromEntries(searchParams) };
    }),
  );
  for (const { properties } of entries) {
    expect(properties).toMatchObject({ status: 200, api_key_name: 'suite', source_ip: '127.0.0.1' });
  }
  expect(stderr()).toBe('');
});

test('a wrong parameter is refused with its rule, and no request is made', async () => {
  const { key } = await makeAccount();
  const { call } = await startAssistant(key);
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
  const entries = await readLog(key);
  expect(entries.slice(before).map(({ properties }) => properties['user_agent'])).toEqual([null]);
});

test("what the API refuses is the tool's error: code, message, parameter, and the request id of the log", async () => {
  const { key } = await makeAccount();
  const { call } = await startAssistant(key);
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
});

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

test('a plan allows its own tools only', async () => {
  const { key } = await makeAccount({ plan: 'team' });
  const { call } = await startAssistant(key);
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

test('both revisions of the protocol are spoken', async () => {
  const { key } = await makeAccount();
  for (const protocol of [undefined, '2026-07-28']) {
    const { call, client } = await startAssistant(key, protocol === undefined ? {} : { protocol });
    expect(client.getNegotiatedProtocolVersion()).toBe(protocol ?? '2025-11-25');
    expect((await client.listTools()).tools).toHaveLength(8);
    expect((await call('getFleet')).structuredContent).toEqual(await read('/api/v1/health/fleet', key));
    expect(textOf(await call('listTickets', { from: '2026-02-30' }))).toMatch(/^invalid_parameter: /);
  }
});
