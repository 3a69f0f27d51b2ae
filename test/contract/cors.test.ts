import { afterAll, expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { ask } from './ask.ts';
import { startService } from './running-service.ts';

const ALLOWED = 'https://console.example.com';
const FLEET = '/api/v1/health/fleet';

const service = startService(
  { ...inject('sharedStore'), DBVITALS_CORS_ORIGINS: `${ALLOWED}, https://other.example.com` },
  ['--no-monitor'],
);
const account = makeAccount();

afterAll(async () => {
  await (await service).stop();
});

test('off unless configured', async () => {
  const answer = await ask(FLEET, { key: (await account).key, headers: { origin: ALLOWED } });
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
});

test('a preflight from an allowed origin gets its headers, without a key', async () => {
  const { origin } = await service;
  const answer = await ask(FLEET, {
    origin,
    method: 'OPTIONS',
    headers: {
      origin: ALLOWED,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization,if-none-match',
    },
  });
  expect(answer.status).toBe(204);
  expect(answer.headers['access-control-allow-origin']).toBe(ALLOWED);
  expect(answer.headers['access-control-allow-methods']).toMatch(/GET/);
  expect(answer.headers['access-control-allow-headers']?.toLowerCase()).toMatch(/authorization/);
  expect(answer.headers['vary']?.toLowerCase()).toMatch(/origin/);
});

test('an allowed origin can read answers and these headers, also of errors', async () => {
  const { origin } = await service;
  for (const [key, status] of [
    [(await account).key, 200],
    [undefined, 401],
  ] as const) {
    const answer = await ask(FLEET, { origin, key, headers: { origin: ALLOWED } });
    expect(answer.status).toBe(status);
    expect(answer.headers['access-control-allow-origin']).toBe(ALLOWED);
    const exposed = answer.headers['access-control-expose-headers']?.toLowerCase() ?? '';
    for (const name of [
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'link',
      'etag',
      'retry-after',
      'x-request-id',
    ]) {
      expect(exposed).toContain(name);
    }
    expect(answer.headers['vary']?.toLowerCase()).toMatch(/origin/);
  }
});

test.each([
  'https://evil.example.com',
  'https://console.example.com.evil.com',
  'http://console.example.com',
  'null',
  '',
])('the origin %s is not allowed', async (foreign) => {
  const { origin } = await service;
  const answer = await ask(FLEET, { origin, key: (await account).key, headers: { origin: foreign } });
  expect(answer.status).toBe(200);
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
});

test('pages of an allowed origin may send messages of assistants, and others may not', async () => {
  const { origin } = await service;
  const { key } = await account;
  const preflight = await ask('/mcp', { origin, method: 'OPTIONS', headers: { origin: ALLOWED } });
  expect(preflight.status).toBe(204);
  expect(preflight.headers['access-control-allow-origin']).toBe(ALLOWED);
  expect(preflight.headers['access-control-allow-methods']).toBe('POST');
  expect(preflight.headers['access-control-allow-headers']?.toLowerCase()).toMatch(
    /authorization, content-type, mcp-protocol-version/,
  );
  const send = (from: string) =>
    ask('/mcp', {
      origin,
      key,
      method: 'POST',
      headers: {
        origin: from,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
  const allowed = await send(ALLOWED);
  expect(allowed.json()).toMatchObject({ id: 1, result: {} });
  expect(allowed.headers['access-control-allow-origin']).toBe(ALLOWED);
  expect((await send('https://console.example.com.evil.com')).status).toBe(403);
});
