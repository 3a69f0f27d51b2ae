import fc from 'fast-check';
import { describe, expect, inject, test } from 'vitest';
import { succeedsOnce } from '../support/succeeds-once.ts';
import { makeAccount } from './account.ts';
import { byRequestId, readLog } from './activity-log.ts';
import { type Answer, ask, each, read } from './ask.ts';
import { askable, ENDPOINTS } from './endpoints.ts';
import { sendRaw, sendRawOnce } from './raw.ts';
import type { Failure } from './records.ts';

const FLEET = '/api/v1/health/fleet';
const account = makeAccount();

function code(answer: Answer): string {
  return answer.json<Failure>().error.code;
}

/** A request as text; the last lines are its headers. */
function request(line: string, ...headers: string[]): string {
  return [line, ...headers, '', ''].join('\r\n');
}

test('a path outside /api/ has a request id', async () => {
  for (const path of ['/', '/nothing', '/favicon.ico', '/apiary']) {
    const answer = await ask(path);
    expect(answer.status, path).toBe(404);
  }
  expect((await ask('/livez')).status).toBe(200);
  expect((await ask('/readyz')).status).toBe(200);
});

test('/api/ alone is under /api/: it wants a key, and has the limit headers', async () => {
  expect((await ask('/api/')).status).toBe(401);
  expect((await ask('/api/', { key: (await account).key })).status).toBe(404);
});

test('request ids differ, and a client can not set its own', async () => {
  const { key } = await account;
  const mine = '00000000-0000-4000-8000-000000000000';
  const answers = [
    await ask(FLEET, { key, headers: { 'x-request-id': mine } }),
    await ask(FLEET, { key, headers: { 'x-request-id': mine } }),
  ];
  const ids = answers.map(({ headers }) => headers['x-request-id']);
  expect(new Set([...ids, mine]).size).toBe(3);
});

test.each(ENDPOINTS.filter((path) => !path.includes('/1/') && !path.endsWith('activity')).map(askable))(
  'HEAD %s is GET without a body',
  async (path) => {
    const { key } = await account;
    const [get, head] = [await ask(path, { key }), await ask(path, { key, method: 'HEAD' })];
    expect(head.status).toBe(200);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect(head.headers['etag']).toBe(get.headers['etag']);
    expect(head.headers['content-type']).toBe(get.headers['content-type']);
  },
);

test('HEAD of a failure has its status and no body', async () => {
  const { key } = await account;
  expect((await ask('/api/v1/nothing', { key, method: 'HEAD' })).status).toBe(404);
  expect((await ask(FLEET, { method: 'HEAD' })).status).toBe(401);
  expect((await ask('/api/v1/ops/tickets?page=0', { key, method: 'HEAD' })).status).toBe(400);
});

test.each(ENDPOINTS)('OPTIONS %s answers 204 without a key', async (path) => {
  const answer = await ask(path, { method: 'OPTIONS' });
  expect(answer.status).toBe(204);
  expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS');
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
});

test('OPTIONS is not recorded, not even with a key', async () => {
  const { key } = await account;
  const answer = await ask(FLEET, { key, method: 'OPTIONS' });
  expect(byRequestId(await readLog(key)).has(answer.headers['x-request-id'])).toBe(false);
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'LOCK', 'TRACE'])('405: %s', async (method) => {
  const { key } = await account;
  for (const path of ENDPOINTS) {
    expect(code(await ask(path, { key, method }))).toBe('method_not_allowed');
  }
});

test('a method that HTTP does not know is answered in the envelope', async () => {
  const { key } = await account;
  const answer = await sendRawOnce(
    request(`BREW ${FLEET} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${key}`, 'Connection: close'),
  );
  expect([400, 405]).toContain(answer.status);
});

test('doubled and trailing slashes are served, never redirected', async () => {
  const { key } = await account;
  const { bytes } = await ask(FLEET, { key });
  for (const path of [
    `/${FLEET}`,
    `${FLEET}/`,
    `${FLEET}//`,
    '//api//v1///health//fleet//',
    '/api/v1/health/fleet/?_=1',
  ]) {
    const answer = await ask(path, { key });
    expect(answer.status, path).toBe(200);
    expect(answer.bytes, path).toEqual(bytes);
  }
});

test('percent-encoded letters of a path are served, case and doubled encoding are not', async () => {
  const { key } = await account;
  expect((await ask('/api/v1/health/fl%65et', { key })).status).toBe(200);
  expect((await ask('/api/v1/Health/fleet', { key })).status).toBe(404);
  expect((await ask('/api/v1/health/fl%2565et', { key })).status).toBe(404);
});

test.each(['text/html', 'application/xml', 'image/*', '*/*;q=0', 'nonsense;;;', ''])(
  'Accept: %s gets JSON',
  async (accept) => {
    const { key } = await account;
    expect((await ask(FLEET, { key, headers: { accept } })).status).toBe(200);
    expect((await ask('/api/v1/nothing', { key, headers: { accept } })).status).toBe(404);
  },
);

test('Content-Type and a small body are ignored', async () => {
  const { key } = await account;
  for (const type of ['text/html', 'application/json', 'multipart/form-data', 'nonsense']) {
    const headers = { 'content-type': type };
    expect((await ask(FLEET, { key, headers, body: '{"broken' })).status, type).toBe(200);
  }
});

test('a body is passed over up to 64 KiB; past it the connection is closed', async () => {
  const authorization = `Authorization: Bearer ${(await account).key}`;
  const withBody = (length: number) =>
    `${request(`GET ${FLEET} HTTP/1.1`, 'Host: x', authorization, `Content-Length: ${length}`)}${'x'.repeat(length)}`;
  const next = request(`GET ${FLEET} HTTP/1.1`, 'Host: x', authorization, 'Connection: close');
  expect((await sendRaw(withBody(60_000) + next)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await sendRaw(withBody(300_000) + next)).map(({ status }) => status)).toEqual([200]);
});

test.each([65_537, 66_500, 67_999])(
  'a body of %i bytes with requests behind it, in one write: one answer, then closed',
  async (length) => {
    const authorization = `Authorization: Bearer ${(await account).key}`;
    const head = (...headers: string[]) =>
      request(`GET ${FLEET} HTTP/1.1`, 'Host: x', authorization, ...headers);
    const body = 'x'.repeat(length - 1);
    const chunks = `${(length - 1).toString(16)}\r\n${body}\r\n1\r\nx\r\n0\r\n\r\n`;
    for (const sent of [
      `${head(`Content-Length: ${length}`)}${body}x`,
      `${head('Transfer-Encoding: chunked')}${chunks}`,
    ]) {
      const all = await each(Array.from({ length: 8 }), 4, () =>
        sendRaw(sent + head() + head(), { quietMs: 10_000 }),
      );
      expect(all.map((answers) => answers.map(({ status }) => status))).toEqual(Array(8).fill([200]));
    }
  },
);

test('a client that sent whole requests and closes its sending side gets its answers', async () => {
  const authorization = `Authorization: Bearer ${(await account).key}`;
  const one = (path: string, ...more: string[]) =>
    request(`GET ${path} HTTP/1.1`, 'Host: x', authorization, ...more);
  const answered = async (bytes: string | string[]) =>
    (await sendRaw(bytes, { halfClose: true, quietMs: 10_000 })).map(({ status }) => status);
  expect(await answered(one(FLEET))).toEqual([200]);
  expect(await answered(one(FLEET) + one('/api/v1/nothing') + one(FLEET))).toEqual([200, 404, 200]);
  expect(await answered([one(FLEET), one(FLEET)])).toEqual([200, 200]);
  expect(await answered(`${one(FLEET, 'Content-Length: 5')}hello`)).toEqual([200]);
  expect(await answered(request(`GET ${FLEET} HTTP/1.0`, authorization))).toEqual([200]);
  expect(await answered(one(FLEET) + one(FLEET).slice(0, 30))).toEqual([200, 400]);
});

describe('past 64 KiB of a body the connection is closed, whenever the answer was sent', () => {
  const chunk = `8000\r\n${'x'.repeat(32_768)}\r\n`;
  const long = 'x'.repeat(100_000);
  const post = (...headers: string[]) => request(`POST ${FLEET} HTTP/1.1`, ...headers);
  test.each([
    ['without a key', 401, [post('Host: x', 'Content-Length: 100000'), long]],
    ['to a host that is none', 400, [post('Host: a b', 'Content-Length: 100000') + long]],
    ['with OPTIONS', 204, [request(`OPTIONS ${FLEET} HTTP/1.1`, 'Host: x', 'Content-Length: 100000') + long]],
    ['in chunks', 401, [post('Host: x', 'Transfer-Encoding: chunked'), chunk, chunk, chunk]],
    ['which is only announced', 401, [post('Host: x', 'Content-Length: 65537')]],
  ])('%s', async (_, status, packets) => {
    const next = request(`GET ${FLEET} HTTP/1.1`, 'Host: x');
    const method = status === 204 ? 'OPTIONS' : 'POST';
    const isClosedSoon = async () => {
      const began = performance.now();
      const answers = await sendRaw([...packets, next], { quietMs: 30_000, method });
      expect(answers.map((answer) => answer.status)).toEqual([status]);
      return performance.now() - began < 10_000; // Node's own limit for a body is 12 s
    };
    expect(await succeedsOnce(isClosedSoon)).toBe(true);
  });
  test('one of 64 KiB in chunks leaves the connection open', async () => {
    const chunks = ['Host: x', 'Transfer-Encoding: chunked'];
    const next = request(`GET ${FLEET} HTTP/1.1`, 'Host: x', 'Connection: close');
    const answers = await sendRaw([post(...chunks), chunk, `${chunk}0\r\n\r\n`, next], { method: 'POST' });
    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
  });
});

test.each([
  ['not HTTP at all', 'GARBAGE\r\n\r\n'],
  ['a request line cut short', 'GET\r\n\r\n'],
  ['no HTTP version', `GET ${FLEET}\r\n\r\n`],
  ['another protocol', request(`GET ${FLEET} HTTQ/1.1`, 'Host: x')],
  ['a version yet to come', request(`GET ${FLEET} HTTP/9.9`, 'Host: x')],
  ['a version of other bytes', request(`GET ${FLEET} HTTP/2.0`, 'Host: x')],
  ['a version without headers', request(`GET ${FLEET} HTTP/0.9`, 'Host: x')],
  ['no Host', request(`GET ${FLEET} HTTP/1.1`, 'Connection: close')],
  ['a header without a name', request(`GET ${FLEET} HTTP/1.1`, 'Host: x', ': value')],
  ['a header without a colon', request(`GET ${FLEET} HTTP/1.1`, 'Host: x', 'nonsense')],
  ['NUL in a header', request(`GET ${FLEET} HTTP/1.1`, 'Host: x', 'X-Y: a\0b')],
  ['blank in the path', request('GET /api/v1/health /fleet HTTP/1.1', 'Host: x')],
  [
    'Content-Length twice',
    request(`GET ${FLEET} HTTP/1.1`, 'Host: x', 'Content-Length: 1', 'Content-Length: 2'),
  ],
  ['Content-Length that is no number', request(`GET ${FLEET} HTTP/1.1`, 'Host: x', 'Content-Length: abc')],
  [
    'a chunk size that is no number',
    `${request(`POST ${FLEET} HTTP/1.1`, 'Host: x', 'Transfer-Encoding: chunked')}zz\r\n`,
  ],
  [
    'Content-Length and Transfer-Encoding',
    `${request(`POST ${FLEET} HTTP/1.1`, 'Host: x', 'Content-Length: 6', 'Transfer-Encoding: chunked')}0\r\n\r\nG`,
  ],
  ['CONNECT', request('CONNECT x:443 HTTP/1.1', 'Host: x:443')],
  ['the greeting of TLS', Buffer.from('1603010200010001fc0303', 'hex')],
])('malformed HTTP gets a 4xx in the envelope: %s', async (_, bytes) => {
  const [answer, ...more] = await sendRaw(bytes);
  // A body that breaks off after a whole request may meet the answer to that request instead.
  expect(answer?.status).toBeGreaterThanOrEqual(400);
  expect(answer?.status).toBeLessThan(500);
  expect(more.map(({ status }) => status).filter((status) => status < 400)).toEqual([]);
  await read(FLEET, (await account).key);
});

test('400 bad_request: no Host, and two of them', async () => {
  const authorization = `Authorization: Bearer ${(await account).key}`;
  expect(code(await sendRawOnce(request(`GET ${FLEET} HTTP/1.1`, authorization, 'Connection: close')))).toBe(
    'bad_request',
  );
  expect(
    code(
      await sendRawOnce(
        request(`GET ${FLEET} HTTP/1.1`, 'Host: a', 'Host: b', authorization, 'Connection: close'),
      ),
    ),
  ).toBe('bad_request');
});

// Those whose links are made of the host.
const LINKED = ['/api/v1/health/connections', '/api/v1/ops/tickets', '/api/v1/activity'];

test.each([
  '1.2.3.256',
  '127.0.0.1:99999',
  '127.0.0.1:0',
  '[::::]',
  '[::1%25lo]',
  'a.b.c.1',
  '0x7f.1',
  'a:80:80',
])('400: the host %s', async (host) => {
  const authorization = `Authorization: Bearer ${(await account).key}`;
  for (const path of LINKED) {
    const bytes = request(`GET ${path} HTTP/1.1`, `Host: ${host}`, authorization, 'Connection: close');
    expect(code(await sendRawOnce(bytes)), path).toBe('bad_request');
  }
});

test('no host is answered 500', async () => {
  const authorization = `Authorization: Bearer ${(await account).key}`;
  const piece = fc.constantFrom(
    ...'0129afxAZ.-_:[]%@/?#\\ ,',
    '127.0.0.1',
    '::1',
    ':80',
    ':99999',
    'xn--',
    '0x',
    '\u00e9',
  );
  const host = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''));
  const answers = await each(fc.sample(host, 240), 12, async (text) => {
    const path = LINKED[text.length % LINKED.length];
    const bytes = request(`GET ${path} HTTP/1.1`, `Host: ${text}`, authorization, 'Connection: close');
    return { text, status: (await sendRawOnce(bytes)).status };
  });
  expect(answers.filter(({ status }) => status !== 200 && status !== 400)).toEqual([]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
});

test('HTTP/1.0 is answered, and its links lead to where it came in', async () => {
  const authorization = `Authorization: Bearer ${(await account).key}`;
  for (const path of LINKED) {
    const answer = await sendRawOnce(request(`GET ${path} HTTP/1.0`, authorization));
    expect(answer.status).toBe(200);
    expect(answer.headers['link']).toMatch(/^<http:/);
    for (const [, origin] of (answer.headers['link'] ?? '').matchAll(/<(http.*?)\/api\/v1\//g)) {
      expect(origin).toBe(inject('origin'));
    }
  }
});

test('pipelined requests are answered in order, one each', async () => {
  const authorization = `Authorization: Bearer ${(await account).key}`;
  const one = (path: string, ...last: string[]) =>
    request(`GET ${path} HTTP/1.1`, 'Host: x', authorization, ...last);
  const answers = await sendRaw(one(FLEET) + one('/api/v1/nothing') + one(FLEET, 'Connection: close'));
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 200]);
});

test('malformed bytes after good requests: those are answered first, then 400, and the connection is closed', async () => {
  const { key } = await account;
  const authorization = `Authorization: Bearer ${key}`;
  const good = request(`GET ${FLEET} HTTP/1.1`, 'Host: x', authorization);
  const keyless = request(`GET ${FLEET} HTTP/1.1`, 'Host: x');
  const withBody = `${request(`GET ${FLEET} HTTP/1.1`, 'Host: x', authorization, 'Content-Length: 5')}hello`;
  const chunked = request(`POST ${FLEET} HTTP/1.1`, 'Host: x', authorization, 'Transfer-Encoding: chunked');
  const broken = 'GARBAGE\r\n\r\n';
  for (const [bytes, statuses] of [
    [good + broken, [200, 400]],
    [
      [good, broken],
      [200, 400],
    ],
    [good + good + keyless + good + broken, [200, 200, 401, 200, 400]],
    [
      [good + good, broken + good],
      [200, 200, 400],
    ],
    [
      [good, good.slice(0, 20), `\0${good}`],
      [200, 400],
    ],
    [
      [good.slice(0, -1), good.slice(-1) + broken],
      [200, 400],
    ],
    [withBody + broken, [200, 400]],
    [`${good + request(`GET ${FLEET} HTTP/1.1`, 'Host: x', `X: ${'x'.repeat(90_000)}`)}`, [200, 431]],
    [good + request('CONNECT x:443 HTTP/1.1', 'Host: x:443'), [200, 400]],
    // Nothing tells whether what breaks off within its body was meant: one answer, whichever it is.
    [`${good}${chunked}zz\r\n`, [200, 400]],
  ] as [string | string[], number[]][]) {
    const answers = await sendRaw(bytes);
    expect(
      answers.map(({ status }) => (status === 405 ? 400 : status)),
      JSON.stringify(bytes).slice(0, 200),
    ).toEqual(statuses);
    const recorded = byRequestId(await readLog(key));
    for (const { status, headers } of answers.filter((one) => one.status === 200))
      expect(recorded.get(headers['x-request-id'])?.properties['status']).toBe(status);
  }
});

test('requests sent ahead in great number are all answered, in order', async () => {
  const authorization = `Authorization: Bearer ${(await account).key}`;
  const paths = Array.from({ length: 500 }, (_, n) => [FLEET, '/api/v1/nothing', '/livez'][n % 3] ?? '');
  const all = paths.map((path) => request(`GET ${path} HTTP/1.1`, 'Host: x', authorization)).join('');
  const answers = await sendRaw(`${all}${request('GET /livez HTTP/1.1', 'Host: x', 'Connection: close')}`, {
    outsideApi: true,
  });
  expect(answers.map(({ status }) => status)).toEqual(
    [...paths, '/livez'].map((path) => (path === '/api/v1/nothing' ? 404 : 200)),
  );
});

test.each([
  '%',
  '%zz',
  '%C3',
  '%E0%80%80',
  '%ED%A0%80',
  '%00',
  '%FF%FE',
  '%0d%0aX-Injected:%20yes',
  '..%2f..%2fetc',
  '%5c',
  '%F0%9F%92%A9',
])('a path with %s is answered with 4xx, recorded, and splits no header', async (bytes) => {
  const { key } = await account;
  for (const path of [
    `/api/v1/${bytes}`,
    `/api/v1/health/connections/${bytes}/checks/latest`,
    `${FLEET}?_=${bytes}`,
  ]) {
    const answer = await ask(path, { key });
    expect(answer.status, path).toBeLessThan(500);
    if (!path.includes('?')) expect([400, 404], path).toContain(answer.status);
    expect(answer.headers['x-injected']).toBeUndefined();
    const entry = byRequestId(await readLog(key)).get(answer.headers['x-request-id']);
    expect(entry?.properties['status'], path).toBe(answer.status);
    expect(JSON.stringify(entry)).not.toContain('\\u0000');
  }
});

test('a User-Agent of any bytes is recorded', async () => {
  const { key } = await account;
  for (const agent of [
    Buffer.from([0xe9, 0xff, 0x80]),
    Buffer.from('☃ 💩'),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from('a\tb'),
    Buffer.from('x'.repeat(8_000)),
  ]) {
    const answer = await sendRawOnce(
      Buffer.concat([
        Buffer.from(
          `GET ${FLEET} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\nUser-Agent: `,
        ),
        agent,
        Buffer.from('\r\n\r\n'),
      ]),
    );
    expect(answer.status).toBe(200);
    const entry = byRequestId(await readLog(key)).get(answer.headers['x-request-id']);
    expect(entry?.properties['user_agent']).toEqual(expect.any(String));
  }
});

test('what a terminal acts on is told escaped: in the log, and of a parameter that is refused', async () => {
  const { key } = await account;
  const path = '/api/v1/%1b[31m%7f%c2%9b31m%c2%85%e2%80%a8';
  const answer = await ask(path, { key });
  const { text } = await ask('/api/v1/activity?per_page=1', { key });
  expect(text).toContain(String(answer.headers['x-request-id']));
  expect(text).toContain('\\\\u009b31m');
  const refused = await ask('/api/v1/activity?%c2%9b31m=1', { key });
  expect(refused.json<Failure>().error.parameter).toBe('\\u009b31m');
  for (const told of [text, refused.text]) expect(told).not.toMatch(/\p{Cc}|[\u2028\u2029]/u);
});

test('414: a URL over 8 KiB', async () => {
  const { key } = await account;
  const url = (length: number) => `${FLEET}?_=`.padEnd(length, 'x');
  expect((await ask(url(8_192), { key })).status).toBe(200);
  expect(code(await ask(url(8_193), { key }))).toBe('uri_too_long');
  expect(code(await ask(url(12_000), { key }))).toBe('uri_too_long');
});

test('431: headers over 16 KiB', async () => {
  const { key } = await account;
  const headers = { 'x-padding': 'x'.repeat(17_000) };
  expect(code(await ask(FLEET, { key, headers, alone: true }))).toBe('headers_too_large');
  const [answer] = await sendRaw(
    request(`GET ${FLEET} HTTP/1.1`, 'Host: x', `X-Padding: ${'x'.repeat(200_000)}`),
  );
  expect(answer?.status).toBe(431);
  const [long] = await sendRaw(request(`GET ${FLEET}?_=${'x'.repeat(100_000)} HTTP/1.1`, 'Host: x'));
  expect([414, 431]).toContain(long?.status);
});

test('a thousand small headers are answered', async () => {
  const { key } = await account;
  for (const count of [500, 1_500, 2_500]) {
    const padding = Array.from({ length: count }, (_, n) => `a${n}: b`);
    const [answer] = await sendRaw(
      request(
        `GET ${FLEET} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${key}`,
        'Connection: close',
        ...padding,
      ),
      { origin: inject('origin') },
    );
    expect([200, 431], String(count)).toContain(answer?.status);
  }
});
