import { afterAll, expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { ask } from './ask.ts';
import { freePort } from './free-port.ts';
import { sendRawOnce } from './raw.ts';
import { startService } from './running-service.ts';

const service = start();
const account = makeAccount();

afterAll(async () => {
  await (await service).stop();
});

async function start() {
  const metricsPort = await freePort();
  const settings = { ...inject('sharedStore'), LOG_LEVEL: 'info', METRICS_PORT: String(metricsPort) };
  const started = await startService(settings, ['--no-monitor']);
  return { ...started, metrics: `http://127.0.0.1:${metricsPort}` };
}

test('a request is one line of the log, whatever its text, with the id that the client got', async () => {
  const { origin, output, says } = await service;
  const { key } = await account;
  const hostile = '%0d%0a%7b%22level%22:30%7d%1b[31m%00%E2%80%AE';
  const head = `GET /api/v1/${hostile}?_=${hostile} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
  const bytes = Buffer.concat([
    Buffer.from(`${head}Authorization: Bearer ${key}\r\nUser-Agent: `),
    Buffer.from('evil\t"}\xff\x85', 'latin1'),
    Buffer.from('\r\n\r\n'),
  ]);
  const answer = await sendRawOnce(bytes, { origin });
  const id = answer.headers['x-request-id'] ?? 'none';
  await says(new RegExp(id), 5);
  const lines = output()
    .split('\n')
    .filter((line) => line.includes(id));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ method: 'GET', status: answer.status });
  for (const line of output()
    .split('\n')
    .filter((text) => text.startsWith('{')))
    JSON.parse(line);
  expect(output()).not.toContain('\x1b');
  expect(output()).not.toContain(key.slice(9, 40));
});

test('/livez and /readyz answer without a key, on both ports, and /metrics on its own alone', async () => {
  const { origin, metrics } = await service;
  await ask('/api/v1/health/fleet', { origin, key: (await account).key });
  for (const base of [origin, metrics]) {
    for (const path of ['/livez', '/readyz'])
      expect((await fetch(base + path)).status, base + path).toBe(200);
  }
  const scraped = await fetch(`${metrics}/metrics`);
  expect(scraped.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(await scraped.text()).toMatch(/^dbvitals_\w+\{.*status="200".*\} \d+$/m);
  expect((await fetch(`${origin}/metrics`)).status).toBe(404);
});
