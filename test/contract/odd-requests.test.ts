import { expect, test } from 'vitest';
import { makeAccount } from './account.ts';
import { byRequestId, readLog } from './activity-log.ts';
import type { Answer } from './ask.ts';
import { sendRaw } from './raw.ts';

// Requests that clients rarely send, over a raw socket: HTTP libraries would correct them.

const LIST = '/api/v1/health/connections';
const FLEET = '/api/v1/health/fleet';
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST'] as const;
const account = makeAccount();

/** What a target gets for each of {@link METHODS}, and the path that the log shows; null = it is not below `/api/`. */
interface Routed {
  statuses: readonly number[];
  logged: string | null;
}

const served = (logged: string): Routed => ({ statuses: [200, 200, 204, 405], logged });
const invalid = (logged: string): Routed => ({ statuses: [400, 400, 204, 405], logged });
/** The path of an endpoint, whose connection doesn't exist. */
const absent = (logged: string): Routed => ({ statuses: [404, 404, 204, 405], logged });
const unknown = (logged: string): Routed => ({ statuses: [404, 404, 204, 404], logged });
const OUTSIDE: Routed = { statuses: [404, 404, 404, 404], logged: null };

const latest = (id: string) => `${LIST}/${id}/checks/latest`;

const TARGETS: Record<string, Routed> = {
  // queries
  [`${LIST}?per%5Fpage=%32`]: served(LIST),
  [`${LIST}?&&&`]: served(LIST),
  [`${LIST}?_=1&_x`]: served(LIST),
  [`${LIST}?__proto__=1`]: served(LIST),
  [`${LIST}?constructor=1`]: invalid(LIST),
  [`${LIST}?per_page=2+`]: invalid(LIST),
  [`${LIST}?page=1&page=2`]: invalid(LIST),
  [`${LIST}?%zz=1`]: invalid(LIST),
  [`${LIST}?per_page=2#x`]: invalid(LIST),
  [`${LIST}?per_page=%00`]: invalid(LIST),
  // paths
  [`${LIST}/?per_page=2`]: served(LIST),
  '//api//v1///health//fleet//': served(FLEET),
  '/%61pi/v1/health/fl%65et': served(FLEET),
  '/api/v1/Health/fleet': unknown('/api/v1/Health/fleet'),
  '/api/v1/health%2Ffleet': unknown(FLEET),
  '/api/v1/health/fl%2565et': unknown('/api/v1/health/fl%65et'),
  '/api/v1/health/%': unknown('/api/v1/health/%'),
  '/api/v1/%E0%80%80': unknown('/api/v1/%E0%80%80'),
  '/api/v1/./health/fleet': unknown('/api/v1/./health/fleet'),
  '/api/v1/x/../health/fleet': unknown('/api/v1/x/../health/fleet'),
  [`${LIST};x`]: unknown(`${LIST};x`),
  '/api': unknown('/api'),
  '/api/?x=1': unknown('/api'),
  '/API/v1/health/fleet': OUTSIDE,
  '/api%2Fv1/health/fleet': OUTSIDE,
  '/api#x': OUTSIDE,
  '/apiary': OUTSIDE,
  // ids
  [latest('0')]: absent(latest('0')),
  [latest('abc')]: absent(latest('abc')),
  [latest('1%2F2')]: absent(latest('1/2')),
  [latest('%25')]: absent(latest('%')),
  [latest(':id')]: absent(latest(':id')),
  [latest('1;2')]: absent(latest('1;2')),
  [latest('9'.repeat(300))]: absent(latest('9'.repeat(300))),
  [`${latest('0')}/`]: absent(latest('0')),
  [`${latest('0')}?x=1`]: invalid(latest('0')),
  [latest('')]: unknown(`${LIST}/checks/latest`),
  [latest('1#')]: unknown(latest('1#')),
  [`${LIST}/1/checks`]: unknown(`${LIST}/1/checks`),
  // other forms
  [`http://h${FLEET}`]: served(FLEET),
  [`HTTP://h:99${LIST}?per_page=1`]: served(LIST),
  'http://h': OUTSIDE,
  '*': OUTSIDE,
};

function sendLatin1(method: string, target: string, ...headers: string[]): Promise<Answer[]> {
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: h', ...headers, 'Connection: close', '', ''];
  return sendRaw(Buffer.from(lines.join('\r\n'), 'latin1'), { method, outsideApi: true });
}

test('odd targets are routed and logged by their one meaning', async () => {
  const { key } = await account;
  const authorization = `Authorization: Bearer ${key}`;
  const expected: [string, string, number, string | null | undefined, boolean][] = [];
  const found: typeof expected = [];
  const ids: string[] = [];
  for (const [target, { statuses, logged }] of Object.entries(TARGETS)) {
    const answers = await Promise.all(METHODS.map((method) => sendLatin1(method, target, authorization)));
    for (const [n, method] of METHODS.entries()) {
      const [answer] = answers[n] ?? [];
      const isLogged = logged !== null && method !== 'OPTIONS';
      const hasBudget = logged !== null;
      expected.push([method, target, statuses[n] ?? 0, isLogged ? logged : undefined, hasBudget]);
      found.push([
        method,
        target,
        answer?.status ?? 0,
        undefined,
        'x-ratelimit-limit' in (answer?.headers ?? {}),
      ]);
      ids.push(answer?.headers['x-request-id'] ?? '');
    }
  }
  const entries = byRequestId(await readLog(key));
  for (const [n, id] of ids.entries()) {
    const row = found[n];
    if (row) row[3] = entries.get(id)?.page_path;
  }
  expect(found).toEqual(expected);
});

test.each<[string[], number]>([
  [['Authorization: bearer KEY'], 200],
  [['Authorization:  Bearer   KEY\t '], 200],
  [['Authorization: Bearer KEY x'], 401],
  [['Authorization: Bearer KEY', 'Expect: x'], 200],
  [['Authorization: Bearer KEY', 'Upgrade: websocket'], 200],
  [['Authorization: Bearer KEY', 'Accept-Encoding;'], 400],
  [['Authorization: Bearer KEY', 'X : y'], 400],
  [['Authorization: Bearer KEY', 'X-Forwarded-For: junk'], 200],
  [['Authorization: Bearer KEY', 'Content-Length: x'], 400],
  [['Authorization: Bearer KEY', 'If-None-Match: *'], 304],
])('headers %j get %i', async (headers, status) => {
  const { key } = await account;
  const lines = headers.map((line) => line.replace('KEY', key));
  const answers = await sendLatin1('GET', FLEET, ...lines);
  expect(answers.map((answer) => answer.status)).toEqual([status]);
});

test.each(['x', '/api/v1/\xe9', `${FLEET}?\x80`])('malformed target %j gets 400', async (target) => {
  const { key } = await account;
  for (const method of ['GET', 'OPTIONS', 'POST']) {
    const answers = await sendLatin1(method, target, `Authorization: Bearer ${key}`);
    expect(answers.map(({ status, headers }) => [status, 'x-ratelimit-limit' in headers])).toEqual([
      [400, true],
    ]);
  }
});
