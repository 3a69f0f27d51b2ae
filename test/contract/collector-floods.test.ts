import net from 'node:net';
import { expect, test } from 'vitest';
import { succeedsOnce } from '../support/succeeds-once.ts';
import { makeEpisode, NO_RUN, startAttacked } from './collector-attack.ts';
import { type CollectorClient, newPair, quietResult, VERSION } from './collector-client.ts';
import { command } from './command.ts';

// Collectors that send too much, too often or too slowly: no other account waits for them.

const { site, enrol, addCollected, startRun, countPulses, removeConnection } = startAttacked();

test('a flood of events delays no other account, and what is kept of it is bounded', async () => {
  const id = await addCollected('own', 'flood', site.stranger.account);
  expect(await succeedsOnce(sendBesideFlood)).toBe(true);
  const [episodes = 0] = await countPulses(id);
  expect(episodes).toBeGreaterThan(0);
  expect(episodes).toBeLessThanOrEqual(1_000);
  await removeConnection(id);
});

/** Whether another account is answered before the flood is over. The more time its requests take, the longer they pause. */
async function sendBesideFlood(): Promise<boolean> {
  let isOver = false;
  const flood = Array.from({ length: 8 }, (_, request) => {
    const events = Array.from({ length: 200 }, (_each, n) =>
      makeEpisode('flood', { began_at: Date.now() - 1_000 * (200 * request + n), root: `${n}/${request}` }),
    );
    return site.stranger.send('pulse', { events });
  });
  const all = Promise.all(flood).finally(() => {
    isOver = true;
  });
  await Promise.race(flood);
  for (let n = 0; n < 3; n++) expect((await site.own.send('result', quietResult(NO_RUN))).status).toBe(409);
  const isBefore = !isOver;
  const statuses = new Set((await all).map(({ status }) => status));
  expect([...statuses].filter((status) => status !== 200 && status !== 429)).toEqual([]);
  expect(statuses).toContain(200);
  return isBefore;
}

test('a flood of asks gives a run each ten seconds at most', async () => {
  const { connectionId, run } = await startRun(site.own, 'asks');
  expect((await site.own.send('result', quietResult(run))).status).toBe(200);
  const began = performance.now();
  const ask = { connection: 'asks', ask: { holding: ['blocked'], cleared: [] } };
  for (let n = 0; n < 3; n++)
    expect((await site.own.send('pulse', { events: Array.from({ length: 200 }, () => ask) })).status).toBe(
      200,
    );
  const { rows } = await site.store.query<{ seconds: number }>(
    `select extract(epoch from s.due_at - h.created_at)::float8 as seconds
       from connection_schedule s
       join connection c using (account_id, connection_id)
       join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
      where s.connection_id = $1`,
    [connectionId],
  );
  expect(rows[0]?.seconds).toBeGreaterThanOrEqual(10);
  // The first ask gives it; one that comes ten seconds after a run gives another.
  expect(rows[0]?.seconds).toBeLessThan(12 + (performance.now() - began) / 1_000);
  await removeConnection(connectionId);
});

test('a look that a collector does not take is no reason to ask without a pause', async () => {
  const id = await addCollected('own', 'untaken');
  await site.own.send('result', quietResult((await site.own.work()).body.jobs?.[0]?.run ?? ''));
  await site.store.query(
    `update collected_connection set look_until = now() + interval '1 min' where connection_id = $1`,
    [id],
  );
  const began = performance.now();
  for (let n = 0; n < 3; n++)
    expect((await site.own.work({ looking: [] })).body).toMatchObject({ jobs: [], looks: ['untaken'] });
  expect(performance.now() - began).toBeGreaterThan(2_500);
  await removeConnection(id);
});

test('a copy of a collector, on a machine that was cloned, does not make both ask without a pause', async () => {
  const asked = { one: 0, other: 0 };
  const until = performance.now() + 5_000;
  const ask = async (who: keyof typeof asked) => {
    while (performance.now() < until) {
      asked[who] += 1;
      await Promise.race([site.own.work(), new Promise((resolve) => setTimeout(resolve, 5_000))]);
    }
  };
  await Promise.all([ask('one'), ask('other')]);
  expect(asked.one + asked.other).toBeLessThan(6);
});

test('a slow body, and one that never ends, is cut off', async () => {
  const { hostname, port } = new URL(site.service.origin);
  const socket = net.connect(Number(port), hostname);
  const began = performance.now();
  socket.write(resultHead(site.own));
  const drip = setInterval(() => socket.write('x'), 500);
  await new Promise((closed) =>
    socket
      .once('close', closed)
      .on('error', () => {})
      .resume(),
  );
  clearInterval(drip);
  expect(performance.now() - began).toBeLessThan(60_000);
});

/** The head of a signed request for a result, whose body is to follow. */
function resultHead(client: CollectorClient): string {
  const { headers } = client.sign('result', quietResult(NO_RUN));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /collector/result HTTP/1.1\r\nhost: a\r\n${lines.join('')}content-length: 100000\r\n\r\n`;
}

test('collectors that hang up before their body, or are slow with it, keep no place from others', async () => {
  const { hostname, port } = new URL(site.service.origin);
  const answered = async (client: CollectorClient) =>
    (await client.send('result', quietResult(NO_RUN))).status;
  // They are gone before their signatures are proved.
  await site.store.query('begin');
  await site.store.query('select from collector where collector_id = $1 for update', [
    site.stranger.collector,
  ]);
  for (let n = 0; n < 6; n++) {
    const socket = net.connect(Number(port), hostname).on('error', () => {});
    await new Promise<void>((sent) => socket.write(resultHead(site.stranger), () => sent()));
    setTimeout(() => socket.destroy(), 200);
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  await site.store.query('rollback');
  expect([await answered(site.stranger), await answered(site.own)]).toEqual([409, 409]);
  const slow = Array.from({ length: 30 }, () => net.connect(Number(port), hostname).on('error', () => {}));
  for (const socket of slow) socket.write(resultHead(site.stranger));
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await answered(site.own)).toBe(409);
  for (const socket of slow) socket.destroy();
});

test('a guess costs its address, and no collector', async () => {
  const content = {
    token: `dbv_enrol_1_${'a'.repeat(43)}`,
    name: 'a',
    public_key: newPair().publicKey,
    version: VERSION,
  };
  const guess = async () => (await enrol(content)).status;
  expect(await guess()).toBe(401);
  // An address has 300 in a minute.
  const guesses = async () => new Set(await Promise.all(Array.from({ length: 25 }, guess)));
  await expect.poll(guesses, { timeout: 120_000, interval: 0 }).toContain(429);
  expect((await site.own.work({ free: 0, version: '0.9.0' })).status).toBe(409);
  expect((await command(['collector', 'list', '--account', `${site.account.id}`])).stdout).toContain('own');
});
