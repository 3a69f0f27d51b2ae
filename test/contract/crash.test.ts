import { setTimeout as wait } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { byRequestId, readLog } from './activity-log.ts';
import { startLoad } from './load.ts';
import { startService } from './running-service.ts';

const KILLS = 5;

test('kill -9 of the service under load loses and duplicates no entry of an answered request', async () => {
  const { key } = await makeAccount();
  const start = () => startService(inject('sharedStore'), ['--no-monitor']);
  let service = await start();
  const load = startLoad(key, 12, () => service.origin);
  const good = () => load.answers.filter(({ status }) => status === 200).length;
  for (let kill = 0; kill <= KILLS; kill += 1) {
    const before = good();
    await expect.poll(good).toBeGreaterThan(before + 20);
    if (kill === KILLS) break;
    await wait(100 + kill * 37);
    await service.stop('SIGKILL');
    service = await start();
  }
  await load.stop();
  await service.stop();

  expect(load.broken).toBeGreaterThan(0);
  const log = await readLog(key);
  expect(log.map(({ id }) => id)).toEqual(log.map((_, at) => at + 1));
  const requests = byRequestId(log);
  const missing = load.answers.filter(
    ({ status, headers }) => status === 200 && !requests.has(headers['x-request-id']),
  );
  expect(missing).toHaveLength(0);
  expect(load.answers.filter(({ status }) => status !== 200 && status !== 500)).toEqual([]);
});

test('SIGTERM under load drains: every recorded request is answered, and it exits with 0 within 10 s', async () => {
  const { key } = await makeAccount();
  const service = await startService(inject('sharedStore'), ['--no-monitor']);
  const load = startLoad(key, 16, () => service.origin);
  await expect.poll(() => load.answers.length).toBeGreaterThan(100);
  const told = Date.now();
  expect(await service.stop('SIGTERM')).toBe(0);
  expect(Date.now() - told).toBeLessThan(10_000);
  await load.stop();
  const answered = new Set(load.answers.map(({ headers }) => headers['x-request-id']));
  const dropped = [...byRequestId(await readLog(key)).values()].filter(({ page_path, properties }) => {
    return page_path === '/api/v1/health/fleet' && !answered.has(String(properties['request_id']));
  });
  expect(dropped).toEqual([]);
  expect(load.answers.length).toBeGreaterThan(100);
});
