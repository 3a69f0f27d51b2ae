import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fillAccount, makeAccount, makeKey, makeKeylessAccount } from './account.ts';
import { type Answer, ask } from './ask.ts';
import { askable, ENDPOINTS } from './endpoints.ts';
import { fixtureJson } from './fixture-command.ts';
import { committed, events, expectSchema, type Json, operations } from './openapi-assertions.ts';
import type { Failure, Fleet } from './records.ts';

// Headers of HTTP itself, which OpenAPI leaves to it.
const UNDESCRIBED = [
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
];

const EXAMPLES = new URL('../../src/api/openapi/example-answers.json', import.meta.url);

const filled = fill();
const individual = makeAccount({ plan: 'individual' });

async function fill(): Promise<{ key: string; connectionId: number }> {
  const id = await makeKeylessAccount();
  const member = ['member', 'add', '--account', String(id), '--role', 'owner'];
  await fixtureJson([...member, '--name', 'Ada Lovelace', '--email', 'ada@example.com']);
  await fillAccount(id, { connections: 3, tickets: 20, activity: 100, days: 5 });
  const { key } = await makeKey(id, 'dashboard');
  const fleet = (await ask('/api/v1/health/fleet', { key })).json<Fleet>();
  return { key, connectionId: fleet.data[0]?.id ?? 0 };
}

const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;

/** The operation's path for an account that is filled; lists are short, so that they can be examples. */
function pathOf(operation: (typeof operations)[number], connectionId: number): string {
  const paginated = operation.parameters.some(({ name }) => name === 'per_page');
  const path = askable(operation.path.replace('{id}', String(connectionId)));
  return paginated ? withQuery(path, 'per_page=2') : path;
}

function expectDescribed(answer: Answer, headers: Record<string, unknown> = {}): void {
  const described = Object.keys(headers).map((name) => name.toLowerCase());
  const sent = Object.keys(answer.headers).filter((name) => !UNDESCRIBED.includes(name));
  expect(sent.sort()).toEqual(described.sort());
}

test('the document has the operations and nothing else', () => {
  expect(operations.map(({ path }) => path.replace('{id}', '1'))).toEqual(ENDPOINTS);
  expect(Object.keys(JSON.parse(committed).paths).length).toBe(ENDPOINTS.length);
});

test('the examples are real answers, with the fields that answers have now', async () => {
  const { key, connectionId } = await filled;
  const examples = JSON.parse(readFileSync(EXAMPLES, 'utf8')) as Record<string, Json>;
  const answers: Record<string, Json> = {};
  for (const operation of operations) {
    const body = (await ask(pathOf(operation, connectionId), { key })).json<Json>();
    const { data } = body as { data: { checks?: unknown[] } };
    // Shortened: a run lists every check there is.
    data.checks?.splice(3);
    const { length } = Array.isArray(data) ? data : [1];
    if (length > 3) body['data'] = (data as unknown as unknown[]).slice(0, 3);
    // Sample data has no seals, and perhaps no alerts or episodes: their examples are kept.
    answers[operation.operationId] = length === 0 ? (examples[operation.operationId] ?? body) : body;
  }
  // `npm run openapi:examples` takes them into the document.
  if (process.env['WRITE_EXAMPLES']) writeFileSync(EXAMPLES, `${JSON.stringify(answers, null, 2)}\n`);
  expect(form(JSON.parse(readFileSync(EXAMPLES, 'utf8')))).toEqual(form(answers));
});

interface Wrong {
  query?: string;
  key?: string | null;
  plan?: 'individual';
  scoped?: true;
  id?: string;
  requestsPerMinute?: number;
  headers?: Record<string, string>;
}

const WRONG: [status: string, told: string, wrong: Wrong][] = [
  ['400', 'an unknown parameter', { query: 'surely_unknown=1' }],
  ['401', 'no key', { key: null }],
  ['401', 'an unknown key', { key: 'dbv_live_none' }],
  ['403', 'a plan without it', { plan: 'individual' }],
  ['404', 'a key whose scopes leave it out', { scoped: true }],
  ['404', 'what is not there', { id: '0', query: 'connection_id=999999999' }],
  ['414', 'a long URL', { query: `_=${'x'.repeat(9_000)}` }],
  ['429', 'a spent window', { requestsPerMinute: 1 }],
  ['431', 'long headers', { headers: { 'x-long': 'x'.repeat(17_000) } }],
];

describe.each(operations)('$operationId', (operation) => {
  test('200: a real answer is what the document says, and so is its example', async () => {
    const { key, connectionId } = await filled;
    const answer = await ask(pathOf(operation, connectionId), { key });
    const content = operation.responses['200']?.content?.['application/json'];
    expectDescribed(answer, operation.responses['200']?.headers);
    expectSchema(content?.schema ?? {}, answer.json(), 'the answer');
    expectSchema(content?.schema ?? {}, content?.example, 'the example');
  });

  test('304: as described', async () => {
    const { key, connectionId } = await filled;
    const path = pathOf(operation, connectionId);
    const etag = (await ask(path, { key })).headers['etag'];
    expect('304' in operation.responses).toBe(etag !== undefined);
    if (etag === undefined) return;
    const again = await ask(path, { key, headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    expectDescribed(again, operation.responses['304']?.headers);
  });

  const names = operation.parameters.map(({ name }) => name);
  const looksUp = names.includes('id') || names.includes('connection_id');
  test.each(WRONG.filter(([, , { id }]) => id === undefined || looksUp))(
    '%s for %s: as described',
    async (status, _, wrong) => {
      const answer = await askWrongly(operation, wrong);
      expect(String(answer.status)).toBe(status);
      const described = operation.responses[status];
      expectDescribed(answer, described?.headers);
      const content = described?.content?.['application/json'];
      expectSchema(content?.schema ?? {}, answer.json(), 'the answer');
      const { code, message } = answer.json<Failure>().error;
      const example = content?.examples?.[wrong.scoped ? 'out_of_scope' : code]?.value;
      expectSchema(content?.schema ?? {}, example, 'the example');
      if (status !== '400') expect((example as unknown as Failure).error.message).toBe(message);
    },
  );

  test('the parameters are those that the service takes, with these bounds, values and defaults', async () => {
    const { key, connectionId } = await filled;
    const path = askable(operation.path.replace('{id}', String(connectionId)));
    const parameters = operation.parameters.filter((parameter) => parameter.in === 'query');
    const told = (await ask(withQuery(path, 'surely_unknown=1'), { key })).json<Failure>().error.message;
    const names = parameters.map(({ name }) => name).join(', ');
    expect(told).toBe(
      names
        ? `There is no such parameter: the allowed ones are ${names}.`
        : 'This endpoint takes no parameters.',
    );
    const status = async (name: string, value: unknown) =>
      (await ask(withQuery(path, `${name}=${encodeURIComponent(String(value))}`), { key })).status;
    for (const { name, schema } of parameters) {
      const { minimum, maximum, enum: values } = schema;
      if (minimum !== undefined) {
        expect(await status(name, minimum - 1), `${name} below its minimum`).toBe(400);
        expect(await status(name, minimum), `${name} at its minimum`).not.toBe(400);
        expect(await status(name, `${minimum}.5`), `${name} is no integer`).toBe(400);
      }
      if (maximum !== undefined) {
        expect(await status(name, maximum), `${name} at its maximum`).not.toBe(400);
        expect(await status(name, BigInt(maximum) + 1n), `${name} above its maximum`).toBe(400);
      }
      for (const value of values ?? []) expect(await status(name, value), `${name}=${value}`).toBe(200);
      if (values) expect(await status(name, 'surely_unknown')).toBe(400);
      if (schema.default === undefined) continue;
      const [plain, given] = await Promise.all(
        ['per_page=7', `per_page=7&${name}=${schema.default}`].map((query) =>
          ask(withQuery(path, name === 'per_page' ? query.slice(11) : query), { key }),
        ),
      );
      expect(meta(given)).toEqual(meta(plain));
    }
  });
});

async function askWrongly(operation: (typeof operations)[number], wrong: Wrong): Promise<Answer> {
  const { key, connectionId } = await filled;
  const path = askable(operation.path.replace('{id}', wrong.id ?? String(connectionId)));
  const url =
    wrong.query !== undefined && wrong.id !== undefined && operation.path.includes('{id}')
      ? path
      : withQuery(path, wrong.query ?? '');
  const { plan, scoped, requestsPerMinute, headers = {} } = wrong;
  if (plan) return ask(path, { key: (await individual).key });
  if (scoped) return ask(path, { key: await scopedKeyFor(operation) });
  if (requestsPerMinute !== undefined) {
    const spent = await makeAccount({ requestsPerMinute });
    await ask('/api/v1/health/fleet', { key: spent.key });
    return ask(path, { key: spent.key });
  }
  return ask(url, { key: wrong.key === null ? undefined : (wrong.key ?? key), headers });
}

/** A key that may do something, but not this. */
async function scopedKeyFor({ path }: (typeof operations)[number]): Promise<string> {
  const scope = path.startsWith('/api/v1/team/') ? 'activity' : 'team';
  const { id } = await makeAccount();
  const words = ['key', 'create', '--account', `${id}`, '--name', 'scoped', '--scope', scope];
  return (await fixtureJson<{ key: string }>(words)).key;
}

/** What a list says of itself, without what later requests change. */
function meta(answer: Answer | undefined): unknown {
  const body = answer?.json<{ data: Json[]; meta: Json }>();
  return [body?.meta['page'], body?.meta['per_page'], (body?.data ?? []).length > 0 ? 'rows' : 'none'];
}

/** The names of the fields, however deep; what is open or varies with the record is left out. */
function form(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(form);
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, name === 'properties' ? null : form(part)]),
  );
}

test('every event is marked as sent, and each example is what its schema says', () => {
  expect(events.map(({ kind }) => kind)).toEqual([
    'health_check.completed',
    'ops.ticket_created',
    'ops.ticket_resolved',
    'alert.triggered',
    'alert.resolved',
    'ops.ticket_reopened',
    'ops.ticket_escalated',
    'destination.disabled',
    'api_key.expiring',
    'collector.silent',
    'collector.returned',
    'test',
  ]);
  for (const { kind, status, schema, example } of events) {
    expect(status).toBe('sent');
    expectSchema(schema, example, kind);
    expect((example as Json)['event']).toBe(kind);
    expect((example as Json)['api_version']).toBe('v1');
  }
});
