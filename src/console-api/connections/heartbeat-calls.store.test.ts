import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { renewHeartbeat, revokeHeartbeat } from '../../connections/backups/backup-heartbeat.ts';
import { openPool } from '../../store/connect.ts';
import { consoleOn } from '../console-fixture.ts';

let store: TestStore;
let app: Awaited<ReturnType<typeof consoleOn>>;
let reader: ReturnType<typeof openPool>;

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'console', { max: 1 });
  app = await consoleOn(store, reader, () => Promise.reject(new Error('not in this test')));
});
afterAll(async () => {
  await app.close();
  await reader.end();
  await store.stop();
});

async function heartbeat() {
  const accountId = await store.account();
  const connectionId = await store.connection(accountId);
  const change = <T>(work: Parameters<typeof changeAccount<T>>[2]) =>
    changeAccount(store.writer, accountId, work);
  const reports = async () =>
    (
      await store.writer.query(
        'select succeeded, bytes from backup_report where account_id = $1 order by at, bytes',
        [accountId],
      )
    ).rows;
  return { change, connectionId, reports, token: await renewHeartbeat(change, connectionId) };
}

let nextAddress = 1;
/** An address that no other test has. */
const newAddress = () => `203.0.113.${nextAddress++}`;

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

async function call(
  path: string,
  {
    method = 'POST',
    address = newAddress(),
    headers = {},
    payload,
  }: {
    method?: Method;
    address?: string;
    headers?: Record<string, string>;
    payload?: string;
  } = {},
) {
  const began = performance.now();
  const answer = await app.inject({
    method,
    url: `/heartbeat/${path}`,
    headers: {
      'dbvitals-caller': JSON.stringify({ requestId: 'x', address, origin: 'http://localhost' }),
      ...headers,
    },
    ...(payload !== undefined && { payload }),
  });
  const { statusCode: status, body, headers: sent } = answer;
  const { date: _date, 'x-request-id': _id, ...same } = sent;
  return { status, body, headers: same, ms: performance.now() - began };
}

test('a job reports success, size, failure and exit code', async () => {
  const { token, reports } = await heartbeat();
  const paths = [
    token,
    `${token}?size=1234`,
    `${token}/fail`,
    `${token}/start`,
    `${token}/0?size=5`,
    `${token}/255?size=6`,
  ];
  for (const path of paths) expect(await call(path)).toMatchObject({ status: 200, body: 'ok\n' });
  expect(await reports()).toEqual([
    { succeeded: true, bytes: null },
    { succeeded: true, bytes: 1_234 },
    { succeeded: false, bytes: null },
    { succeeded: true, bytes: 5 },
    { succeeded: false, bytes: 6 },
  ]);
});

// As by the page's own line: "$URL/$??size=$(stat -c %s shop.dump)".
test('a job that failed and has no file reports so', async () => {
  const { token, reports } = await heartbeat();
  expect(await call(`${token}/2?size=`)).toMatchObject({ status: 200, body: 'ok\n' });
  expect(await reports()).toEqual([{ succeeded: false, bytes: null }]);
});

test('what is no POST, and what a browser or a preview sends, reports nothing', async () => {
  const { token, reports } = await heartbeat();
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
    const answer = await call(token, { method });
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'POST']);
  }
  expect((await call('a'.repeat(43), { method: 'GET' })).status).toBe(405);
  expect(await reports()).toEqual([]);
});

test.each(['-1', '1e9', '1.5', ' 1', '0x10', '9007199254740992', '9'.repeat(400), '1;drop', 'NaN', '%00'])(
  'size=%s is refused, with a known token as with an unknown one',
  async (size) => {
    const { token, reports } = await heartbeat();
    const [known, unknown] = [
      await call(`${token}?size=${size}`),
      await call(`${'x'.repeat(43)}?size=${size}`),
    ];
    expect(known.status).toBe(400);
    expect(unknown).toMatchObject({ status: 400, body: known.body, headers: known.headers });
    expect(await reports()).toEqual([]);
  },
);

test('other parameters, two sizes and other ends of the path are refused', async () => {
  const { token, reports } = await heartbeat();
  const statuses = [
    await call(`${token}?size=1&size=2`),
    await call(`${token}?bytes=1`),
    await call(`${token}/256`),
    await call(`${token}/-1`),
    await call(`${token}/FAIL`),
    await call(`${token}/fail/fail`),
  ].map(({ status }) => status);
  expect(statuses).toEqual([400, 400, 404, 404, 404, 404]);
  expect(await reports()).toEqual([]);
});

test('the largest size that is exact is stored', async () => {
  const { token, reports } = await heartbeat();
  expect((await call(`${token}?size=9007199254740991`)).status).toBe(200);
  expect(await reports()).toEqual([{ succeeded: true, bytes: 9_007_199_254_740_991 }]);
});

test('a body of any kind is not read', async () => {
  const { token, reports } = await heartbeat();
  const bodies: [string, string][] = [
    ['text/plain', 'log of the job'],
    ['application/json', '{"broken'],
    ['application/x-www-form-urlencoded', 'a=b'],
    ['multipart/form-data; boundary=x', 'no form'],
    ['nonsense', 'x'.repeat(200_000)],
  ];
  for (const [at, [type, payload]] of bodies.entries())
    expect((await call(`${token}?size=${at}`, { headers: { 'content-type': type }, payload })).status).toBe(
      200,
    );
  expect(await reports()).toHaveLength(5);
});

test('a guesser gets one answer, at one time, whatever a token was', async () => {
  const [revoked, replaced] = [await heartbeat(), await heartbeat()];
  await revokeHeartbeat(revoked.change, revoked.connectionId);
  await renewHeartbeat(replaced.change, replaced.connectionId);
  const tokens = [
    revoked.token,
    replaced.token,
    'A'.repeat(43),
    'short',
    'x'.repeat(2_000),
    "'%20or%201=1",
    '..%2f..',
    '',
  ];
  const answers = [];
  for (const token of tokens)
    for (const end of ['', '/fail', '/start']) answers.push(await call(token + end));
  const [first] = answers;
  for (const { status, body, headers, ms } of answers) {
    expect({ status, body, headers }).toEqual({ status: 404, body: first?.body, headers: first?.headers });
    expect(ms).toBeGreaterThanOrEqual(245);
  }
});

test('guessing from an address is limited, for an IPv6 address by its network, and others are not affected', async () => {
  const address = (n: number) => `2001:db8:1:2::${n.toString(16)}`;
  const guess = (n: number) => call(String(n).padStart(43, 'g'), { address: address(n + 1) });
  const statuses = new Map<number, number>();
  const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => guess(n)));
  for (let round = 1; round < 11; round += 1)
    answers.push(...(await Promise.all(Array.from({ length: 30 }, (_, n) => guess(round * 30 + n)))));
  for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  expect([statuses.get(404), statuses.get(429)]).toEqual([300, 30]);
  const { token } = await heartbeat();
  const refused = await call(token, { address: address(9_999) });
  expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
  expect((await call(token)).status).toBe(200);
});

test('the calls of a token are limited, known or not', async () => {
  const { token, reports } = await heartbeat();
  const flood = async (path: string) => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => call(`${path}?size=${n}`)));
    return answers.map(({ status }) => status);
  };
  expect(await flood(token)).toEqual([...Array(10).fill(200), 429, 429]);
  expect(await flood('f'.repeat(43))).toEqual([...Array(10).fill(404), 429, 429]);
  expect(await reports()).toHaveLength(10);
});
