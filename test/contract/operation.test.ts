import { readFileSync } from 'node:fs';
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

test('what the dashboard and the alerts of deploy/ name is in /metrics, with such labels', async () => {
  const { origin, metrics } = await service;
  await ask('/api/v1/health/fleet', { origin, key: (await account).key });
  const figures = await (await fetch(`${metrics}/metrics`)).text();
  const known = new Set([...figures.matchAll(/^(\w+)(?:\{| )/gm)].map(([, name]) => name));
  const labels = new Set([...figures.matchAll(/[{,](\w+)="/g)].map(([, label]) => label));
  const read = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');
  const { panels } = JSON.parse(read('grafana-dbvitals-service.json'));
  const expressions: string[] = [
    ...panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr)),
    ...[...read('prometheus-rules.yaml').matchAll(/^ +expr: (\|\n(?: {10}.*\n)+|.*\n)/gm)].map(
      ([, expr]) => expr,
    ),
  ];
  expect(expressions.length).toBeGreaterThan(40);
  const withTls = 'dbvitals_tls_certificate_expiry_timestamp_seconds'; // tls.test.ts has it
  for (const expression of expressions) {
    const names = expression.match(/\b(?:dbvitals|nodejs|process)_\w+/g) ?? ['up'];
    for (const name of names.filter((one) => one !== withTls && one !== 'up')) {
      expect(known.has(name), `${name} in ${expression}`).toBe(true);
    }
    for (const [, label = ''] of expression.matchAll(/[{,](\w+)(?:=~|!=|=)"/g)) {
      expect(label === 'job' || labels.has(label), `${label} in ${expression}`).toBe(true);
    }
  }
});

test('verdicts are counted, and the store tells its size', async () => {
  const { origin, metrics } = await service;
  const { key } = await makeAccount({ requestsPerMinute: 2 });
  const figure = async (name: string) => {
    const text = await (await fetch(`${metrics}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    );
  };
  const [admitted, limited] = ['admitted', 'limited'].map(
    (verdict) => `dbvitals_gate_verdicts_total{verdict="${verdict}"}`,
  ) as [string, string];
  const before = [await figure(admitted), await figure(limited)];
  for (let turn = 0; turn < 5; turn += 1) await ask('/api/v1/health/fleet', { origin, key });
  const after = [await figure(admitted), await figure(limited)];
  expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual([2, 3]);
  expect(await figure('dbvitals_store_size_bytes')).toBeGreaterThan(1e6);
  expect(await figure('dbvitals_store_up')).toBe(1);
  expect(await figure('dbvitals_gate_queue_requests')).toBe(0);
});
