import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { commandsOf, operatePage, putCommand } from '../house/operate-page.ts';
import { freePort } from './free-port.ts';
import { startReceiver } from './otlp-receiver.ts';
import { COMPILED, temporaryFolder } from './running-service.ts';

// The pages as an operator follows them, on a store of their own: these services run health checks. Ports are replaced by free ones.
const folder = temporaryFolder();
const bin = join(folder.path, 'bin');
putCommand(bin);

afterAll(() => folder.remove());

const environment = () => {
  const { PATH = '' } = process.env;
  const path = bin + delimiter + PATH;
  return {
    PATH: path,
    HOME: folder.path,
    PORT: '0',
    LOG_LEVEL: 'warn',
    NODE_COMPILE_CACHE: COMPILED,
    DBVITALS_DATA_DIR: join(folder.path, 'data'),
  };
};

/** Runs a block that serves until it is ready, does `work`, and ends it. */
async function serving(block: string, work: (origin: string) => Promise<void>): Promise<void> {
  // So that the signal comes to the service: a block is `NAME=value dbvitals serve …`.
  const child = spawn('sh', ['-c', `exec env ${block}`], { cwd: folder.path, env: environment() });
  let said = '';
  const ready = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const [, origin] = /ready on (http:\S+)/.exec(said) ?? [];
        if (origin) resolve(origin);
      });
    }
    child.once('exit', (code) => reject(new Error(`it ended with ${code} and said ${said}`)));
  });
  const origin = await ready;
  const ended = once(child, 'exit');
  await work(origin).finally(() => child.kill('SIGTERM'));
  expect(await ended, said).toEqual([0, null]);
}

/** Runs a block to its end and gives what it printed. */
function run(block: string): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', block], {
    cwd: folder.path,
    env: environment(),
    encoding: 'utf8',
  });
  expect(status, `${block}${stderr}`).toBe(0);
  return stdout;
}

const ROOT = join(import.meta.dirname, '../..');
const FIGURE_FILES = [
  ...readdirSync(join(ROOT, 'docs/operate')).map((name) => `docs/operate/${name}`),
  'docs/scaling.md',
  'deploy/prometheus-rules.yaml',
  'deploy/grafana-dbvitals-service.json',
];

const isServe = (block: string) => /dbvitals serve/.test(block);

test('monitor.md does what it says, and its table has every figure', async () => {
  const page = operatePage('monitor');
  const port = String(await freePort());
  const receiver = await startReceiver();
  const at = (block = '') =>
    block.replaceAll('9464', port).replaceAll('http://127.0.0.1:4318', receiver.origin);
  const [serve, look, traced, ...others] = commandsOf(page).map(at);
  expect(others).toEqual([]);
  let figures = '';
  await serving(serve ?? '', async () => {
    expect(run(look ?? '')).toMatch(/^dbvitals_store_up 1$/m);
    figures = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  });
  const names = [...figures.matchAll(/^# TYPE (dbvitals_\w+) /gm)].map(([, name]) => name);
  const [, table = ''] = /^## Metrics\n(.*?)^## /ms.exec(page) ?? [];
  const told = [...table.matchAll(/^\| `(dbvitals_\w+)/gm)].map(([, name]) => name);
  const shown = new Set([...names, 'dbvitals_tls_certificate_expiry_timestamp_seconds']); // there with TLS
  expect(new Set(told)).toEqual(shown);

  // Every figure that another page, a rule or the dashboard names is one that the service tells, or that a page's own job makes.
  const every = new Set([...shown, ...[...figures.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name)]);
  const strange = FIGURE_FILES.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const named = [
      ...text.matchAll(
        /\b(?:dbvitals|process|nodejs)_[a-z0-9_]*(?:_(?:total|seconds|bytes|requests|due|running|up|info)\b)[a-z_]*/g,
      ),
    ];
    return named.flatMap(([name]) =>
      every.has(name.replace(/_(bucket|sum|count)$/, '')) ? [] : [`${file}: ${name}`],
    );
  });
  expect(strange).toEqual([]);

  await serving(traced ?? '', async (origin) => {
    expect((await fetch(`${origin}/api/v1/health/fleet`)).status).toBe(401);
  });
  expect(receiver.spans.filter(({ kind }) => kind === 2)).toMatchObject([
    { name: 'GET /api/v1/health/fleet', kind: 2 },
  ]);
  receiver.close();
});

test('tune.md does what it says', async () => {
  const port = String(await freePort());
  const blocks = commandsOf(operatePage('tune')).map((block) => block.replaceAll('9464', port));
  expect(blocks.map(isServe)).toEqual([false, true, true]);
  const [look = '', ...serve] = blocks;
  for (const block of serve) {
    await serving(block, async () => {
      expect(run(look)).toMatch(/^dbvitals_health_checks_longest_delay_seconds /m);
    });
  }
});
