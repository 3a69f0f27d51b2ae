import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { fillAccount, makeAccount, makeKey } from './account.ts';
import { readLog } from './activity-log.ts';
import { read } from './ask.ts';
import { command } from './command.ts';
import { fixtureJson } from './fixture-command.ts';
import { freePort } from './free-port.ts';
import { type GaugePoint, startReceiver } from './otlp-receiver.ts';
import type { Fleet, Single, Stats } from './records.ts';
import { startProcess, startService, temporaryFolder } from './running-service.ts';

/** An exporter of a service with a key, or with a file that contains one, until the test ends. */
async function startExporter(key: string, { url = inject('origin'), keyFile = '' } = {}) {
  const args = ['exporter', '--url', url, '--listen', '127.0.0.1:0'];
  const exporter = keyFile
    ? startProcess([...args, '--key-file', keyFile], {})
    : startProcess(args, { DBVITALS_API_KEY: key });
  onTestFinished(async () => {
    await exporter.stop();
    expect(exporter.output()).not.toContain(key);
  });
  const [, metrics = ''] = await exporter.says(/ready on (http:\/\/\S+)/);
  return {
    exporter,
    /** The figures by name and labels, such as `dbvitals_connections{status="healthy"}`. */
    async scrape(): Promise<Map<string, number>> {
      const response = await fetch(metrics);
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(text).not.toContain(key);
      const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      return new Map(
        lines.map((line) => {
          const [, name = '', value = ''] = /^(.+) (\S+)$/.exec(line) ?? [];
          return [name, Number(value)];
        }),
      );
    },
  };
}

const requestsOf = async (reader: string, keyName: string) =>
  (await readLog(reader)).filter(({ properties }) => properties['api_key_name'] === keyName);

const isOfMeasures = ({ page_path }: { page_path: string }) => page_path.endsWith('/measures');

/** Scrapes until every part was read, within 100 scrapes. */
async function scrapeWhole(scrape: () => Promise<Map<string, number>>): Promise<Map<string, number>> {
  const parts = ['fleet', 'statistics', 'connections', 'tickets', 'measures'];
  for (let scrapes = 0; scrapes < 100; scrapes += 1) {
    const figures = await scrape();
    if (parts.every((part) => figures.has(`dbvitals_data_timestamp_seconds{part="${part}"}`))) return figures;
  }
  throw new Error('A part was not read in 100 scrapes.');
}

test('each scrape costs one request, one more for each connection with new values, and all figures match the API', async () => {
  const { id, key } = await makeAccount();
  const { key: own } = await makeKey(id, 'prometheus');
  await fillAccount(id, { connections: 130, tickets: 40, activity: 500 });
  const { scrape } = await startExporter(own);
  expect(await requestsOf(key, 'prometheus')).toHaveLength(0);
  const first = await scrape();
  expect(first.get('dbvitals_up')).toBe(1);
  expect(first.has('dbvitals_tickets_resolved_this_week')).toBe(false);
  await scrapeWhole(scrape);
  const before = (await requestsOf(key, 'prometheus')).length;
  let figures = first;
  for (let scrapes = 1; scrapes <= 12; scrapes += 1) {
    figures = await scrape();
    expect(await requestsOf(key, 'prometheus')).toHaveLength(before + scrapes);
  }
  const requests = await requestsOf(key, 'prometheus');
  const measured = requests.filter(isOfMeasures).map(({ page_path }) => page_path);
  expect(new Set(measured).size).toBe(measured.length);

  const { data, summary } = await read<Fleet>('/api/v1/health/fleet', key);
  const { data: statistics } = await read<Single<Stats>>('/api/v1/ops/stats', key);
  for (const status of ['healthy', 'warning', 'critical', 'never_run'] as const) {
    expect(figures.get(`dbvitals_connections{status="${status}"}`)).toBe(summary[status]);
  }
  for (const { id, name, score, status } of data) {
    const labels = `connection_id="${id}",connection="${name}"`;
    expect(figures.get(`dbvitals_connection_score{${labels}}`)).toBe(score ?? undefined);
    expect(figures.get(`dbvitals_connection_status{${labels},status="${status}"}`)).toBe(1);
  }
  const starting = (name: string) => [...figures].filter(([series]) => series.startsWith(name));
  const sum = (name: string) => starting(name).reduce((all, [, value]) => all + value, 0);
  expect(starting('dbvitals_connection_last_check_timestamp_seconds{')).toHaveLength(
    summary.total - summary.never_run,
  );
  expect(sum('dbvitals_open_tickets{')).toBe(statistics.open_count);
  expect(sum('dbvitals_connection_open_tickets{')).toBe(statistics.open_count);
  expect(figures.get('dbvitals_open_tickets{severity="critical"}')).toBe(statistics.critical_open);
  expect(figures.get('dbvitals_tickets_resolved_this_week')).toBe(statistics.resolved_this_week);
  expect(figures.get('dbvitals_ticket_resolution_average_seconds')).toBeCloseTo(
    (statistics.avg_resolution_hours ?? 0) * 3_600,
  );
  expect(figures.get('dbvitals_limit_requests')).toBe(100_000);
  expect(starting('dbvitals_measured_timestamp_seconds{')).toHaveLength(measured.length);
  expect(figures.get('dbvitals_limit_remaining_requests')).toBeLessThan(100_000);
  expect(figures.get('dbvitals_api_requests_total{status="200"}')).toBe(requests.length);
  for (const part of ['fleet', 'statistics', 'connections', 'tickets']) {
    const at = figures.get(`dbvitals_data_timestamp_seconds{part="${part}"}`);
    expect(Math.abs(Date.now() / 1_000 - (at ?? 0)), part).toBeLessThan(60);
  }
});

test('concurrent scrapes share one request', async () => {
  const { id, key } = await makeAccount();
  const { key: own } = await makeKey(id, 'prometheus');
  const { scrape } = await startExporter(own);
  await Promise.all(Array.from({ length: 10 }, scrape));
  expect((await requestsOf(key, 'prometheus')).length).toBeLessThanOrEqual(10);
  expect((await scrape()).get('dbvitals_up')).toBe(1);
});

test('at the rate limit the figures are kept, and nothing is requested until the window ends', async () => {
  const { id, key } = await makeAccount({ requestsPerMinute: 30 });
  const { key: own } = await makeKey(id, 'prometheus');
  const { exporter, scrape } = await startExporter(own);
  await scrape();
  await command(['account', 'change', String(id), '--requests-per-minute', '1']);
  for (let scrapes = 0; scrapes < 5; scrapes += 1) {
    const figures = await scrape();
    expect(figures.get('dbvitals_up')).toBe(1);
    expect(figures.get('dbvitals_connections{status="healthy"}')).toBe(0);
  }
  await exporter.says(/Too many requests.*\(request [0-9a-f-]+\)/);
  await command(['account', 'change', String(id), '--requests-per-minute', '100']);
  const asked = await requestsOf(key, 'prometheus');
  expect(asked.map(({ properties }) => properties['status'])).toEqual([200, 429]);
});

test('a plan without tickets has no ticket figures, and they are not requested again', async () => {
  const { key } = await makeAccount({ plan: 'team' });
  const { scrape } = await startExporter(key);
  let figures = new Map<string, number>();
  for (let scrapes = 0; scrapes < 8; scrapes += 1) figures = await scrape();
  expect(figures.get('dbvitals_up')).toBe(1);
  expect(figures.get('dbvitals_api_requests_total{status="403"}')).toBe(2);
  expect([...figures.keys()].filter((name) => name.includes('ticket'))).toEqual([]);
});

test('while the service is away, up is 0 and the last figures stay; then it recovers', async () => {
  const { key } = await makeAccount();
  const environment = { ...inject('sharedStore'), PORT: String(await freePort()) };
  const first = await startService(environment, ['--no-monitor']);
  const { exporter, scrape } = await startExporter(key, { url: first.origin });
  await scrape();
  await first.stop('SIGKILL');
  const figures = await scrape();
  expect(figures.get('dbvitals_up')).toBe(0);
  expect(figures.get('dbvitals_connections{status="critical"}')).toBe(0);
  await exporter.says(/can't be reached \(ECONNREFUSED\)/);
  const second = await startService(environment, ['--no-monitor']);
  expect((await scrape()).get('dbvitals_up')).toBe(1);
  await second.stop();
});

test('with a wrong key, up is 0 and the reason is printed once', async () => {
  const { exporter, scrape } = await startExporter('dbv_live_nonsense');
  for (let scrapes = 0; scrapes < 3; scrapes += 1) {
    const figures = await scrape();
    expect(figures.get('dbvitals_up')).toBe(0);
    expect(figures.has('dbvitals_tickets_resolved_this_week')).toBe(false);
  }
  expect(exporter.output().match(/use a live key/g)).toHaveLength(1);
  expect(await exporter.stop()).toBe(0);
});

test('every metric has a help text and a type, and a name as Prometheus asks', async () => {
  const { key } = await makeAccount();
  const { exporter } = await startExporter(key);
  const [, metrics = ''] = await exporter.says(/ready on (http:\/\/\S+)/);
  const response = await fetch(metrics);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  expect(types.length).toBeGreaterThan(12);
  for (const [, name = '', type] of types) {
    expect(name).toMatch(/^dbvitals_[a-z]+(_[a-z]+)*$/);
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, 'm'));
  }
  expect((await fetch(new URL('/', metrics))).status).toBe(404);
});

test("an account's latest values are served from the store, without a key, and by a key in a file without the store", async () => {
  const { id, key } = await makeAccount();
  await fillAccount(id, { connections: 3, tickets: 10, activity: 0 });
  const exporter = startProcess(
    ['exporter', '--account', String(id), '--listen', '127.0.0.1:0'],
    inject('environment'),
  );
  onTestFinished(async () => {
    await exporter.stop();
  });
  const [, metrics = ''] = await exporter.says(/ready on (http:\/\/\S+)/);
  const response = await fetch(metrics);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = (await response.text()).split('\n');
  const ratios = lines.filter((line) => /^dbvitals_measure\{.*metric="connections_used_ratio"/.test(line));
  expect(ratios).toHaveLength(3);
  for (const line of ratios) {
    expect(line).toMatch(
      /^dbvitals_measure\{connection_id="\d+",connection="[^"]+",check_id="..\w+",.*\} 0\.\d+$/,
    );
  }
  expect(lines.filter((line) => line.startsWith('dbvitals_measured_timestamp_seconds{'))).toHaveLength(3);

  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const keyFile = join(folder.path, 'key');
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600 });
  const byKey = await scrapeWhole((await startExporter(key, { keyFile })).scrape);
  const values = lines.filter((line) => line.startsWith('dbvitals_measure{'));
  const valuesByKey = [...byKey].filter(([name]) => name.startsWith('dbvitals_measure{'));
  expect(valuesByKey.map(([name, value]) => `${name} ${value}`).toSorted()).toEqual(values.toSorted());
  expect(byKey.get('dbvitals_measures_left_out')).toBe(0);
});

test('an OpenTelemetry collector gets the same values by a key and from the store, by the names of its conventions', async () => {
  const { id, key } = await makeAccount();
  await fillAccount(id, { connections: 5, tickets: 10, activity: 0 });
  const sent = async (args: string[], environment: Record<string, string>) => {
    const receiver = await startReceiver();
    const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin, OTEL_RESOURCE_ATTRIBUTES: 'region=eu' };
    const exporter = startProcess(['exporter', '--otlp', ...args], { ...environment, ...collector });
    await exporter.says(/sends measured values/);
    expect(await exporter.stop()).toBe(0); // sends them once more
    receiver.close();
    expect(exporter.output()).not.toContain(key);
    expect(receiver.bytes().includes(key)).toBe(false);
    return receiver.points;
  };
  const ofStore = await sent(['--account', String(id)], inject('environment'));
  const ofService = await sent(['--url', inject('origin')], { DBVITALS_API_KEY: key });
  const lines = (points: GaugePoint[]) =>
    points
      .filter(({ name }) => name !== 'dbvitals.measured_time')
      .map(({ resource: _, ...point }) => JSON.stringify(point))
      .toSorted();
  expect(lines(ofService)).toEqual(lines(ofStore));
  const named = (name: string) => ofService.filter((point) => point.name === name);
  expect(named('dbvitals.measured_time')).toHaveLength(5);
  const [used] = named('dbvitals.connections_used_ratio');
  expect(used).toMatchObject({
    unit: '1',
    attributes: {
      'db.system.name': expect.stringMatching(/^(?:postgresql|mysql|mariadb)$/),
      'dbvitals.connection.id': expect.any(Number),
      'dbvitals.connection.name': expect.any(String),
      'dbvitals.check.id': expect.stringMatching(/_CONN_SATURATION$/),
    },
    resource: { 'service.name': 'dbvitals', region: 'eu' },
  });
  expect(new Set(ofService.map(({ unit }) => unit))).toEqual(
    new Set(
      ofService.map(({ unit }) => unit).filter((unit) => /^(?:1|s|By|1\/s|By\/s|\{connection\})$/.test(unit)),
    ),
  );
});

test('a collector that is away is named, and gets the values when it is back', async () => {
  const { id, key } = await makeAccount();
  await fillAccount(id, { connections: 1, tickets: 1, activity: 0 });
  const port = await freePort();
  const exporter = startProcess(['exporter', '--otlp', '--url', inject('origin')], {
    DBVITALS_API_KEY: key,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_METRIC_EXPORT_INTERVAL: '500',
  });
  await exporter.says(/The collector got no values: [^\n]+\n/);
  const receiver = await startReceiver(port);
  await receiver.arrived;
  expect(await exporter.stop()).toBe(0);
  receiver.close();
  expect(new Set(receiver.points.map(({ name }) => name))).toContain('dbvitals.measured_time');
});

test('a replaced key file counts from the next request on', async () => {
  const { key } = await makeAccount();
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const keyFile = join(folder.path, 'key');
  writeFileSync(keyFile, 'dbv_live_nonsense');
  const { exporter, scrape } = await startExporter(key, { keyFile });
  expect((await scrape()).get('dbvitals_up')).toBe(0);
  await exporter.says(/use a live key/);
  writeFileSync(keyFile, key);
  expect((await scrape()).get('dbvitals_up')).toBe(1);
  rmSync(keyFile);
  expect((await scrape()).get('dbvitals_up')).toBe(1);
});

test("a key's scopes leave parts out, which is no failure", async () => {
  const { id } = await makeAccount();
  const create = ['key', 'create', '--account', `${id}`, '--name', 'ops', '--scope', 'ops'];
  const { key } = await fixtureJson<{ key: string }>(create);
  const { scrape } = await startExporter(key);
  let figures = new Map<string, number>();
  for (let scrapes = 0; scrapes < 6; scrapes += 1) figures = await scrape();
  expect(figures.get('dbvitals_up')).toBe(1);
  expect(figures.get('dbvitals_tickets_resolved_this_week')).toBe(0);
  expect(figures.get('dbvitals_api_requests_total{status="404"}')).toBe(2);
});

test('an exporter needs a service or an account that exists', async () => {
  expect(await command(['exporter'])).toMatchObject({
    exit: 2,
    stderr: 'error: Give --url to read a service, or --account to read the store.\n',
  });
  expect(await command(['exporter', '--account', '1', '--url', 'http://127.0.0.1:1'])).toMatchObject({
    exit: 2,
  });
  const wrong: [args: string[], exit: number, told: RegExp][] = [
    [['--account', '1', '--key-file', 'x'], 2, /--key-file needs --url/],
    [
      ['--url', 'http://127.0.0.1:1', '--key-file', '/no/such/file'],
      1,
      /--key-file cannot be read \(ENOENT\)/,
    ],
    [['--url', 'http://127.0.0.1:1', '--key-file', '/dev/null'], 2, /must contain an API key alone/],
    [['--url', 'http://127.0.0.1:1', '--key', 'x'], 2, /--help/],
    [['--url', 'http://127.0.0.1:1', '--otlp'], 2, /Set OTEL_EXPORTER_OTLP_ENDPOINT/],
    [['--url', 'http://127.0.0.1:1', '--otlp', '--listen', '127.0.0.1:0'], 2, /not both/],
  ];
  for (const [args, exit, told] of wrong) {
    const ended = await command(['exporter', ...args]);
    expect({ exit: ended.exit, stdout: ended.stdout }, args.join(' ')).toEqual({ exit, stdout: '' });
    expect(ended.stderr).toMatch(told);
  }
  expect(await command(['exporter', '--account', '987654321', '--listen', '127.0.0.1:0'])).toMatchObject({
    exit: 1,
    stdout: '',
    stderr: 'error: There is no account 987654321.\n',
  });
});
