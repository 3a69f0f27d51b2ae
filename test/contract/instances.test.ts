import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, inject, test } from 'vitest';
import { makeAccount, makeKey } from './account.ts';
import { byRequestId, readLog } from './activity-log.ts';
import { type Answer, ask, each } from './ask.ts';
import { command } from './command.ts';
import { fixtureJson } from './fixture-command.ts';
import type { Connection } from './records.ts';
import { startService } from './running-service.ts';

const FLEET = '/api/v1/health/fleet';

// Behind a trusted proxy, so that what is refused spends the budget of an address of this file alone.
const settings = { ...inject('sharedStore'), DBVITALS_TRUST_PROXY: '127.0.0.1' };
const services = Promise.all([
  startService(settings, ['--no-monitor']),
  startService(settings, ['--no-monitor']),
]);

afterAll(async () => {
  await Promise.all((await services).map((service) => service.stop()));
});

/** Asks the services by turns. */
async function askTurn(turn: number, key: string, path = FLEET, headers = {}): Promise<Answer> {
  const { origin } = (await services)[turn % 2] ?? { origin: '' };
  return ask(path, { origin, key, headers: { 'x-forwarded-for': '203.0.113.20', ...headers } });
}

test('one limit holds over two processes: 300 at once with a limit of 100, exactly 100 admitted', async () => {
  const { id, key } = await makeAccount({ requestsPerMinute: 100 });
  const reader = await makeKey(id, 'reader');
  const turns = Array.from({ length: 300 }, (_, turn) => turn);
  const answers = await Promise.all(turns.map((turn) => askTurn(turn, key)));
  const of = (status: number) => answers.filter((answer) => answer.status === status);
  const recorded = byRequestId(await readLog(reader.key));
  for (const [requestId, { properties }] of recorded)
    if (properties['api_key_name'] === 'reader') recorded.delete(requestId);
  expect([...recorded.values()].filter(({ properties }) => properties['status'] === 200)).toHaveLength(100);

  const [admitted, limited, failed] = [of(200), of(429), of(500)];
  expect(admitted.length + limited.length + failed.length).toBe(300);
  // A slow machine gives some of so many a 500 after their two seconds, whether they are recorded or not.
  expect(100 - admitted.length).toBeLessThanOrEqual(failed.length);
  expect(200 - limited.length).toBeLessThanOrEqual(failed.length);
  for (const { headers, status } of [...admitted, ...limited])
    expect(recorded.get(headers['x-request-id'])?.properties['status']).toBe(status);
  const remaining = new Set(admitted.map(({ headers }) => Number(headers['x-ratelimit-remaining'])));
  expect(remaining.size).toBe(admitted.length);
  expect([...remaining].filter((left) => left < 0 || left > 99)).toEqual([]);
  const answered = [...admitted, ...limited];
  expect(new Set(answered.map(({ headers }) => headers['x-ratelimit-reset'])).size).toBe(1);
});

test('one log over two processes and several keys: gapless, in time order, every answer in it once', async () => {
  const { id, key } = await makeAccount();
  const other = await makeKey(id, 'other');
  const turns = Array.from({ length: 600 }, (_, turn) => turn);
  const answers = await each(turns, 48, (turn) => askTurn(turn, turn % 3 ? key : other.key));
  const log = await readLog(key);
  expect(log.map((entry) => entry.id)).toEqual(log.map((_, at) => at + 1));
  const times = log.map(({ occurred_at }) => occurred_at);
  expect(times).toEqual(times.toSorted());
  const requests = byRequestId(log);
  for (const { headers } of answers) expect(requests.has(headers['x-request-id'])).toBe(true);
});

test('a change is shown by both processes at once', async () => {
  const { id, key } = await makeAccount();
  const { id: connection } = await fixtureJson<Connection>([
    'connection',
    'add',
    '--account',
    String(id),
    '--name',
    'turn 0',
    '--url',
    'postgres://watcher@127.0.0.1:1/shop',
  ]);
  for (let turn = 1; turn <= 4; turn += 1) {
    const tags = [(await askTurn(0, key)).headers['etag'], (await askTurn(1, key)).headers['etag']];
    await fixtureJson(['connection', 'change', String(connection), '--name', `turn ${turn}`]);
    for (const [process, etag] of tags.entries()) {
      const answer = await askTurn(process, key, FLEET, { 'if-none-match': etag });
      expect(answer.status).toBe(200);
      expect(answer.text).toContain(`turn ${turn}`);
    }
  }
});

test('revoke under load: no request that starts after the revoke has returned is accepted, by either process', async () => {
  const { id } = await makeAccount();
  const { id: keyId, key } = await makeKey(id, 'leaked');
  const seen: { started: number; status: number }[] = [];
  let returned = Number.POSITIVE_INFINITY;
  const loops = Array.from({ length: 8 }, async (_, loop) => {
    for (let after = 0; after < 5; ) {
      const started = performance.now();
      const { status } = await askTurn(loop, key);
      seen.push({ started, status });
      if (started > returned) after += 1;
      // Refusals spend the address's budget, which is to last until the loops end.
      if (status === 401) await wait(60);
    }
  });
  const accepted = () => seen.filter(({ status }) => status === 200).length;
  await expect.poll(accepted).toBeGreaterThan(20);
  const { exit } = await command(['key', 'revoke', String(keyId)]);
  returned = performance.now();
  await Promise.all(loops);
  expect(exit).toBe(0);
  const after = seen.filter(({ started }) => started > returned);
  expect(after.filter(({ status }) => status !== 401)).toEqual([]);
  expect(after.length).toBeGreaterThanOrEqual(40);
});
