import { inspect } from 'node:util';
import { expect, inject, test } from 'vitest';
import { makeAccount } from '../../test/contract/account.ts';
import { freePort } from '../../test/contract/free-port.ts';
import { createClient, DbvitalsError } from '../src/index.ts';
import { answering } from './answering.ts';

const KEY = 'dbv_live_a-key-that-no-error-may-show';
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/** What a call fails with. */
async function failed(call: Promise<unknown>): Promise<DbvitalsError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof DbvitalsError)) throw new Error(`no error of the client: ${error}`);
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(KEY);
  return error;
}

const client = (baseUrl: string, retry = false) => createClient({ baseUrl, apiKey: KEY, retry });

test('a wrong key', async () => {
  const error = await failed(client(inject('origin'), true).fleet());
  expect(error).toMatchObject({ code: 'invalid_api_key', status: 401, parameter: null, retryAfter: null });
  expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(error.message).toMatch(/use a live key of your account/);
});

test('a plan that does not include the endpoint, a resource that is not there, a wrong parameter', async () => {
  const { key } = await makeAccount({ plan: 'team' });
  const dbvitals = createClient({ baseUrl: inject('origin'), apiKey: key });
  expect(await failed(dbvitals.ticketStatistics())).toMatchObject({ code: 'tier_insufficient', status: 403 });
  expect(await failed(dbvitals.latestCheck(999_999_999))).toMatchObject({ code: 'not_found', status: 404 });
  expect(await failed(dbvitals.connections({ per_page: 101 }).pages().next())).toMatchObject({
    code: 'invalid_parameter',
    status: 400,
    parameter: 'per_page',
    message: expect.stringContaining('per_page'),
  });
});

test('no server, and a host that does not exist', async () => {
  const refused = await failed(client(`http://127.0.0.1:${await freePort()}`).fleet());
  expect(refused).toMatchObject({ code: 'unreachable', status: null, requestId: null });
  expect(refused.message).toContain('(ECONNREFUSED)');
  const unknown = await failed(client('http://no-such-host.invalid').fleet());
  expect(unknown.code).toBe('unreachable');
  expect(unknown.message).toMatch(/check its address/);
});

test('HTML from a proxy, with 200 and with 502', async () => {
  for (const [status, advice] of [
    [200, /give the address/],
    [502, /proxy before the service/],
  ] as const) {
    const { origin } = await answering((_, response) => {
      response
        .writeHead(status, { 'content-type': 'text/html', 'x-request-id': 'proxy-7' })
        .end('<h1>hi</h1>');
    });
    const error = await failed(client(origin).fleet());
    expect(error).toMatchObject({ code: 'not_dbvitals', status, requestId: 'proxy-7' });
    expect(error.message).toMatch(advice);
  }
});

test.each<[string, string, string]>([
  ['JSON of another service', '{"ok":true}', 'not_dbvitals'],
  ['a JSON array', '[1]', 'not_dbvitals'],
  ['JSON null', 'null', 'not_dbvitals'],
  ['half a JSON text', '{"data":[{"id":1,"na', 'cut_short'],
  ['nothing', '', 'cut_short'],
])('200 with %s', async (_, text, code) => {
  const { origin } = await answering((_request, response) => {
    response.writeHead(200, { ...JSON_TYPE, 'x-request-id': 'r-1' }).end(text);
  });
  expect(await failed(client(origin).fleet())).toMatchObject({ code, status: 200, requestId: 'r-1' });
});

test.each([
  ['length', { 'content-length': '100' }],
  ['chunks', {}],
])('a body that breaks off, told by its %s', async (_, headers) => {
  const { origin } = await answering((_request, response) => {
    response.writeHead(200, { ...JSON_TYPE, ...headers, 'x-request-id': 'r-2' });
    response.write('{"data":[');
    setTimeout(() => response.destroy(), 50);
  });
  const error = await failed(client(origin).fleet());
  expect(error).toMatchObject({ code: 'cut_short', status: 200, requestId: 'r-2' });
  expect(error.message).toMatch(/try again/);
});

test('an error without the envelope', async () => {
  const { origin } = await answering((_, response) => {
    response.writeHead(403, { ...JSON_TYPE, 'x-request-id': 'r-3' }).end('{"message":"denied"}');
  });
  expect(await failed(client(origin).fleet())).toMatchObject({
    code: 'not_dbvitals',
    status: 403,
    requestId: 'r-3',
  });
});

test('a redirect is not followed: the key reaches no other host', async () => {
  const other = await answering((_, response) => response.writeHead(200, JSON_TYPE).end('{"data":[]}'));
  for (const status of [301, 302, 307, 308]) {
    const { origin } = await answering((_, response) => {
      response.writeHead(status, { location: `${other.origin}/secret?token=1`, 'x-request-id': 'r-4' }).end();
    });
    const error = await failed(client(origin, true).fleet());
    expect(error).toMatchObject({ code: 'redirected', status, requestId: 'r-4' });
    expect(error.message).toContain(other.origin);
    expect(error.message).not.toContain('token');
  }
  expect(other.asked).toEqual([]);
});

test('a next page on another host is read from ours', async () => {
  const other = await answering((_, response) => response.writeHead(200, JSON_TYPE).end('{"data":[]}'));
  const { origin, asked } = await answering(({ url }, response) => {
    const more = !url?.includes('page=2');
    const link = `<${other.origin}/api/v1/ops/tickets?to=2026-01-01T00:00:00.000001Z&page=2&per_page=1>; rel="next"`;
    response
      .writeHead(200, { ...JSON_TYPE, link })
      .end(`{"data":[],"meta":{"total":2,"page":1,"per_page":1,"has_more":${more}}}`);
  });
  for await (const _ of client(origin).tickets({ status: 'open' }));
  expect(other.asked).toEqual([]);
  expect(asked.map(({ url }) => url)).toEqual([
    '/api/v1/ops/tickets?per_page=100&status=open',
    '/api/v1/ops/tickets?per_page=100&status=open&page=2&to=2026-01-01T00%3A00%3A00.000001Z',
  ]);
});

test('more pages, but no Link header', async () => {
  const { origin } = await answering((_, response) => {
    response
      .writeHead(200, JSON_TYPE)
      .end('{"data":[],"meta":{"total":2,"page":1,"per_page":1,"has_more":true}}');
  });
  const pages = client(origin).tickets().pages();
  await pages.next();
  const error = await failed(pages.next());
  expect(error.code).toBe('not_dbvitals');
  expect(error.message).toMatch(/Link header/);
});

test('temporary failures are retried a few times only', async () => {
  const { origin, asked } = await answering((_, response) => {
    const good = asked.length > 2;
    response.writeHead(good ? 200 : 503, { ...JSON_TYPE, ...(good ? {} : { 'retry-after': '0' }) });
    response.end(
      good ? '{"data":[],"summary":{}}' : '{"error":{"code":"internal_error","message":"Try again."}}',
    );
  });
  await client(origin, true).fleet();
  expect(asked).toHaveLength(3);

  const down = await answering((_, response) => {
    response.writeHead(500, { ...JSON_TYPE, 'retry-after': '0' });
    response.end('{"error":{"code":"internal_error","message":"Try again."}}');
  });
  expect(await failed(client(down.origin, true).fleet())).toMatchObject({
    code: 'internal_error',
    status: 500,
  });
  expect(down.asked).toHaveLength(6);
});

test('a Retry-After of more than an hour is left to the caller', async () => {
  const { origin, asked } = await answering((_, response) => {
    response.writeHead(429, { ...JSON_TYPE, 'retry-after': '99999999' });
    response.end('{"error":{"code":"rate_limited","message":"Wait.","retry_after":99999999}}');
  });
  expect(await failed(client(origin, true).fleet())).toMatchObject({
    code: 'rate_limited',
    retryAfter: 99_999_999,
  });
  expect(asked).toHaveLength(1);
});

test.each([
  ['no URL', { baseUrl: 'dbvitals.example.com', apiKey: KEY }],
  ['a file', { baseUrl: 'file:///etc/passwd', apiKey: KEY }],
  ['a key in the URL', { baseUrl: `https://${KEY}@dbvitals.example.com`, apiKey: KEY }],
  ['a query in the URL', { baseUrl: `https://dbvitals.example.com/?key=${KEY}`, apiKey: KEY }],
  ['an empty key', { baseUrl: 'https://dbvitals.example.com', apiKey: '' }],
  ['a key with its line end', { baseUrl: 'https://dbvitals.example.com', apiKey: `${KEY}\n` }],
])('%s is refused before anything is asked', async (_, options) => {
  const error = await failed((async () => createClient(options))());
  expect(error.code).toBe('invalid_option');
});

test('a base URL with a path of its own and a slash at its end', async () => {
  const { origin, asked } = await answering((_, response) => {
    response.writeHead(200, JSON_TYPE).end('{"data":[],"summary":{}}');
  });
  await client(`${origin}/health/`).fleet();
  expect(asked.map(({ url }) => url)).toEqual(['/health/api/v1/health/fleet']);
});

test('an abort ends a request and a wait with its reason', async () => {
  const reason = new Error('enough');
  const hanging = await answering(() => {});
  const limited = await answering((_, response) => {
    response.writeHead(429, { ...JSON_TYPE, 'retry-after': '3000' });
    response.end('{"error":{"code":"rate_limited","message":"Wait.","retry_after":3000}}');
  });
  for (const { origin, asked } of [hanging, limited]) {
    const until = new AbortController();
    const call = client(origin, true).fleet({ signal: until.signal });
    const outcome = call.catch((error: unknown) => error);
    await expect.poll(() => asked.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    until.abort(reason);
    expect(await outcome).toBe(reason);
  }
  await expect(client(hanging.origin).fleet({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(hanging.asked).toHaveLength(1);
});
