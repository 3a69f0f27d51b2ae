import { setTimeout as wait } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { ask } from './ask.ts';
import { freePort } from './free-port.ts';
import { startService } from './running-service.ts';

const FLEET = '/api/v1/health/fleet';
const account = makeAccount();

test('while draining, /readyz is 503 and requests are still answered', async () => {
  const { key } = await account;
  const metricsPort = await freePort();
  const settings = {
    ...inject('sharedStore'),
    DBVITALS_DRAIN_SECONDS: '12',
    METRICS_PORT: String(metricsPort),
  };
  const { origin, stop } = await startService(settings, ['--no-monitor']);
  const ready = async (base: string) => (await fetch(`${base}/readyz`)).status;
  const metrics = `http://127.0.0.1:${metricsPort}`;
  expect([await ready(origin), await ready(metrics)]).toEqual([200, 200]);
  expect((await ask(FLEET, { key, origin })).headers['connection']).not.toBe('close');

  const began = performance.now();
  let ended = false;
  const exit = stop().finally(() => {
    ended = true;
  });
  while ((await ready(origin)) === 200) await wait(20);
  expect(await ready(metrics)).toBe(503);
  for (const base of [origin, metrics])
    expect((await fetch(`${base}/readyz`, { method: 'HEAD' })).status).toBe(503);
  const statuses = new Set<number>();
  for (let turn = 0; turn < 5; turn += 1) {
    const { status, headers } = await ask(FLEET, { key, origin });
    statuses.add(status);
    expect(headers['connection']).toBe('close'); // a client that keeps connections goes elsewhere
    expect(await ready(origin)).toBe(503);
  }
  expect([...statuses]).toEqual([200]);
  expect(ended).toBe(false);
  expect(await exit).toBe(0);
  expect(performance.now() - began).toBeGreaterThan(11_900);
});
