import { readFileSync } from 'node:fs';
import http from 'node:http';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { operatePage } from '../house/operate-page.ts';
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

test("a request is one line of the log, whatever its text, with the client's request id", async () => {
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
  await says(new RegExp(id));
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

/** Lines of the log that `holds` says are meant. */
async function lines(holds: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>[]> {
  const { output } = await service;
  const all = output()
    .split('\n')
    .filter((text) => text.startsWith('{') && text.endsWith('}'));
  return all.map((text) => JSON.parse(text)).filter(holds);
}

const until = (holds: () => Promise<boolean>) => expect.poll(holds).toBe(true);

/** How many answers with a status the service counted, of one route. */
async function counted(route: string, status: number): Promise<number> {
  const text = await (await fetch(`${(await service).metrics}/metrics`)).text();
  const row = text
    .split('\n')
    .find(
      (line) => line.includes('answers_total') && line.includes(`"${route}"`) && line.includes(`"${status}"`),
    );
  return Number(row?.split(' ').at(-1) ?? 0);
}

test("a request's line names its key and its client's address", async () => {
  const { origin, says } = await service;
  const { key, keyId } = await account;
  for (const [given, expected] of [
    [key, { status: 200, key_id: keyId, source_ip: '127.0.0.1' }],
    [undefined, { status: 401, key_id: undefined, source_ip: '127.0.0.1' }],
  ] as const) {
    const { headers } = await ask('/api/v1/health/fleet', { origin, key: given });
    const id = headers['x-request-id'] ?? 'none';
    await says(new RegExp(id));
    const [line] = await lines(({ request_id }) => request_id === id);
    expect({ status: line?.['status'], key_id: line?.['key_id'], source_ip: line?.['source_ip'] }).toEqual(
      expected,
    );
    if (given === undefined) continue;
    const [, table = ''] = /^## The log\n.*?^(\| field .*?)\n\n/ms.exec(operatePage('monitor')) ?? [];
    const told = [...table.matchAll(/^\| (`.*?) \| /gm)].flatMap(
      ([, names = '']) => names.match(/\w+/g) ?? [],
    );
    expect(new Set(Object.keys(line ?? {}))).toEqual(new Set(['level', 'time', ...told]));
  }
});

test("a malformed request's id is in the log", async () => {
  const { origin, says } = await service;
  const answer = await sendRawOnce('GARBAGE\r\n\r\n', { origin });
  const id = answer.headers['x-request-id'] ?? 'none';
  await says(new RegExp(id));
  expect(await lines(({ request_id }) => request_id === id)).toMatchObject([
    { msg: 'malformed request', status: 400, source_ip: '127.0.0.1' },
  ]);
});

test('in a flood of 401 or 429 some lines are logged in full and the rest is counted', async () => {
  const { origin } = await service;
  const { key } = await makeAccount({ requestsPerMinute: 1 });
  expect((await ask('/api/v1/health/fleet', { origin, key })).status).toBe(200);
  const asked = 150;
  for (const [given, status] of [
    [undefined, 401],
    [key, 429],
  ] as const) {
    const told = async () => {
      const all = await lines((line) => line['status'] === status);
      const leftOut = all.reduce((sum, line) => sum + Number(line['left_out'] ?? 0), 0);
      return { written: all.filter(({ path }) => path !== undefined).length, leftOut };
    };
    const before = await told();
    const answers = await Promise.all(
      Array.from({ length: asked }, () => ask('/api/v1/health/fleet', { origin, key: given })),
    );
    expect(answers.filter((answer) => answer.status !== status)).toEqual([]);
    const grown = async () => {
      const { written, leftOut } = await told();
      return { written: written - before.written, leftOut: leftOut - before.leftOut };
    };
    const sum = async () => Object.values(await grown()).reduce((a, b) => a + b);
    await until(async () => (await sum()) >= asked);
    expect(await sum()).toBe(asked);
    expect((await grown()).leftOut).toBeGreaterThan(0);
    expect((await grown()).written).toBeGreaterThan(0);
  }
});

test('while the store hangs, every answered request is measured and logged, also those in the queue', async () => {
  const { origin } = await service;
  const { id, key } = await makeAccount();
  expect((await ask('/api/v1/team/roles', { origin, key })).status).toBe(200);
  const holder = new pg.Client({ connectionString: inject('sharedStore')['DATABASE_URL'] });
  await holder.connect();
  await holder.query('begin');
  // What the gate takes first, of this account alone: other files' services go on.
  await holder.query('select from activity_head where account_id = $1 for update', [id]);
  const path = '/api/v1/team/roles'; // as before, so that the kept answer comes to the gate at once
  const count = 1_300; // the gate's batch has 500
  const agent = new http.Agent({ keepAlive: true, maxSockets: count });
  const statuses = await Promise.all(
    Array.from({ length: count }, () => {
      return new Promise<number | undefined>((resolve, reject) => {
        const headers = { authorization: `Bearer ${key}` };
        http
          .get(origin + path, { agent, headers }, (answer) => {
            answer.resume().once('end', () => resolve(answer.statusCode));
          })
          .once('error', reject);
      });
    }),
  ).finally(() => agent.destroy());
  await holder.query('rollback');
  await holder.end();
  expect(statuses.filter((status) => status !== 500)).toEqual([]);
  const logged = () => lines(({ status, path }) => status === 500 && path === '/api/v1/team/roles');
  await until(async () => (await logged()).length >= count);
  const ids = (await logged()).map(({ request_id }) => request_id);
  expect(ids).toHaveLength(count);
  expect(new Set(ids).size).toBe(count);
  expect(await counted('/api/v1/team/roles', 500)).toBe(count);
  // Why stands in one line, without a stack.
  // An outage is told once, in a line without a stack.
  const failed = await lines(({ reason }) => reason !== undefined);
  expect(failed.map(({ msg }) => msg)).toContain('the store fails: requests are answered 500');
  expect(failed.filter(({ stack }) => stack !== undefined)).toEqual([]);
});

test('/livez and /readyz answer without a key, on both ports, and /metrics on its own alone', async () => {
  const { origin, metrics } = await service;
  await ask('/api/v1/health/fleet', { origin, key: (await account).key });
  for (const base of [origin, metrics]) {
    for (const path of ['/livez', '/readyz']) {
      expect((await fetch(base + path)).status, base + path).toBe(200);
      const head = await fetch(base + path, { method: 'HEAD' });
      expect([head.status, await head.text()], base + path).toEqual([200, '']);
    }
  }
  const scraped = await fetch(`${metrics}/metrics`);
  expect(scraped.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(await scraped.text()).toMatch(/^dbvitals_\w+\{.*status="200".*\} \d+$/m);
  expect((await fetch(`${origin}/metrics`)).status).toBe(404);
});

test('/metrics has every metric and label that the dashboard and alerts of deploy/ use', async () => {
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
  const elsewhere = [
    'dbvitals_tls_certificate_expiry_timestamp_seconds', // tls.test.ts has it
    'dbvitals_log_stream_behind_seconds', // log-streams.store.test.ts has it
    'up',
  ];
  for (const expression of expressions) {
    const names = expression.match(/\b(?:dbvitals|nodejs|process)_\w+/g) ?? ['up'];
    for (const name of names.filter((one) => !elsewhere.includes(one))) {
      expect(known.has(name), `${name} in ${expression}`).toBe(true);
    }
    for (const [, label = ''] of expression.matchAll(/[{,](\w+)(?:=~|!=|=)"/g)) {
      expect(label === 'job' || labels.has(label), `${label} in ${expression}`).toBe(true);
    }
  }
});

test("verdicts are counted, and the store's size is a metric", async () => {
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
