import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { ANY_KEY, formsOf, storeLeaks } from '../support/secret-scan.ts';
import type { NewKey } from './account.ts';
import { type Answer, ask } from './ask.ts';
import { command } from './command.ts';
import { freePort } from './free-port.ts';
import { embeddedUrl, startProcess, startService, temporaryFolder } from './running-service.ts';

const folder = temporaryFolder();
const data = { DBVITALS_DATA_DIR: join(folder.path, 'data') };
afterAll(() => folder.remove());

/** As anybody on the machine may read them. */
function argumentsOf(...which: string[]): string {
  return execFileSync('ps', ['-ww', '-o', 'args=', ...which], { encoding: 'utf8' });
}

/** Command lines of all processes, until it is stopped. */
function watchArguments(): { seen: Set<string>; stop(): Promise<void> } {
  const seen = new Set<string>();
  let watching = true;
  const watched = (async () => {
    while (watching) {
      for (const line of argumentsOf('-A').split('\n')) seen.add(line);
      await wait(300);
    }
  })();
  return {
    seen,
    stop: () => {
      watching = false;
      return watched;
    },
  };
}

test('no secret is in output, log, metrics, the store or an argument list, whatever fails', {
  timeout: 240_000,
}, async () => {
  const word = () => `p%${randomBytes(9).toString('base64')}=/ß`;
  const [inUrl, byInput, changed, unreachable, once] = [word(), word(), word(), word(), word()];
  const { privateKey: sshKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const keyFile = join(folder.path, 'id_rsa');
  writeFileSync(keyFile, sshKey, { mode: 0o600 });
  const metricsPort = String(await freePort());
  const service = await startService({ ...data, LOG_LEVEL: 'trace', METRICS_PORT: metricsPort });
  const [, firstKey = ''] = await service.says(/API key +(dbv_live_\w{49})/);
  await service.says(/curl .*\n/);
  const shown = service.output().length;
  const url = embeddedUrl(data.DBVITALS_DATA_DIR);
  const server = new URL(url['DATABASE_URL'] ?? '');
  const { owner, monitor, superuser } = JSON.parse(
    readFileSync(join(data.DBVITALS_DATA_DIR, 'postgres', 'dbvitals.json'), 'utf8'),
  );
  const secrets: string[] = [inUrl, byInput, changed, unreachable, once, owner, monitor, superuser];
  secrets.push(
    url['DBVITALS_SECRET_KEY'] ?? '',
    firstKey,
    ...sshKey.split('\n').filter((line) => line.length > 60),
  );

  const told: string[] = [];
  const environment = { ...data, LOG_LEVEL: 'trace' };
  const run = async (line: string, input?: string, settings: Record<string, string> = environment) => {
    const { exit, stdout, stderr } = await command(
      line.split(' ').map((part) => (part === 'FILE' ? keyFile : part)),
      {
        environment: settings,
        ...(input !== undefined && { input }),
      },
    );
    told.push(stdout, stderr);
    return { exit, told: `${line}: ${stdout}${stderr}` };
  };
  const made = await command(['key', 'create', '--account', '1', '--name', 'suite', '--json'], {
    environment,
  });
  const { key, id: keyId }: NewKey = JSON.parse(made.stdout);
  secrets.push(key);
  told.push(made.stdout.replace(key, ''), made.stderr);

  const arguments_ = watchArguments();
  const socket = `${server.hostname}/dbvitals`;
  const add = 'connection add --account 1 --every 10s';
  // Passwords that are wrong, hosts that are not there, TLS that is not spoken, keys that nobody accepts.
  await run(`${add} --name url --url postgres://dbvitals_owner:${encodeURIComponent(inUrl)}@${socket}`);
  await run(`${add} --name input --url postgres://dbvitals_owner@${socket} --password-stdin`, `${byInput}\n`);
  await run(`${add} --name gone --url postgres://a@127.0.0.1:1/shop --password-stdin`, `${unreachable}\n`);
  await run(
    `${add} --name tls --tls verify-full --url postgres://a@127.0.0.1:${metricsPort}/d --password-stdin`,
    `${unreachable}\n`,
  );
  await run(
    `${add} --name ssh --ssh a@127.0.0.1:1 --ssh-key-file FILE --url postgres://a@10.0.0.1/shop --password-stdin`,
    `${unreachable}\n`,
  );
  for (const id of ['2', '3', '4', '5', '6'])
    expect(await run(`check run --connection ${id}`)).toMatchObject({ exit: 0 });
  await run('connection change 2 --password-stdin', `${changed}\n`);
  await run('connection change 2 --url postgres://a:x%ZZ@h/d --password-stdin', `${changed}\n`);
  await run(`connection add --account 999 --name x --url postgres://a@h/d --password-stdin`, `${changed}\n`);
  await run(
    `check run --tls disable --url postgres://dbvitals_owner@${socket} --password-stdin`,
    `${once}\n`,
  );
  await run('connection list --account 1 --json');
  await run('key list --account 1');
  await run('activity tail --account 1');
  await run('secret rotate');
  await run('secret rotate', undefined, { ...url, DBVITALS_SECRET_KEY: randomBytes(32).toString('hex') });
  await run('account list', undefined, {
    ...url,
    DATABASE_URL: url['DATABASE_URL']?.replace(owner, encodeURIComponent(once)) ?? '',
  });
  await run('account list', undefined, {
    ...url,
    DATABASE_URL: `postgres://a:${encodeURIComponent(once)}@127.0.0.1:1/d`,
  });
  await run('account list', undefined, { ...url, DATABASE_URL: `postgres://a:${once}` });
  await run(`activity tail --url ${service.origin}`, undefined, { DBVITALS_API_KEY: key });
  await run(`activity tail --url ${service.origin}`, undefined, { DBVITALS_API_KEY: `${key.slice(0, -1)}!` });

  const refused = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  for (const asked of [key, firstKey, refused])
    for (const path of [
      '/health/fleet',
      '/health/connections',
      '/ops/tickets',
      '/activity',
      `/x/${asked}?_=${asked}`,
    ])
      told.push((await ask(`/api/v1${path}`, { key: asked, origin: service.origin })).text);
  const well = await ask('/api/v1/health/fleet', {
    key,
    origin: service.origin,
    headers: { 'user-agent': key },
  });
  const unknown = await ask('/api/v1/health/fleet', { key: refused, origin: service.origin });
  await run(`key revoke ${keyId}`);
  await arguments_.stop();
  told.push(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
  expect(await storeLeaks(url['DATABASE_URL'] ?? '', secrets)).toEqual([]);
  const logs = join(data.DBVITALS_DATA_DIR, 'postgres', 'data', 'log');
  if (existsSync(logs))
    for (const name of readdirSync(logs)) told.push(readFileSync(join(logs, name), 'utf8'));
  await service.stop();
  told.push(service.output().slice(shown));

  const text = told.join('\n');
  expect(text).toContain('CONN_AUTH_FAILED');
  expect(service.output().match(/"path":|"url":|"method":/g)?.length, 'requests are logged').toBeGreaterThan(
    10,
  );
  const steps = service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes('"step":'))
    .map((line) => JSON.parse(line));
  const stepsOf = ({ headers }: Answer) =>
    steps.filter(({ request_id }) => request_id === headers['x-request-id']).map(({ step }) => step);
  // Where the account changed meanwhile, the answer is prepared once more.
  expect(stepsOf(well).join(' ')).toMatch(/^edge identify( prepare gate)+ release$/);
  expect(stepsOf(unknown)).toEqual(['edge', 'identify', 'release']);
  for (const step of ['claim', 'load', 'connect', 'check', 'measure', 'silence', 'store'])
    expect(steps.map((line) => line.step)).toContain(step);
  expect(text.match(ANY_KEY)?.[0]).toBeUndefined();
  expect(secrets.flatMap(formsOf).filter((form) => text.includes(form))).toEqual([]);

  // The one command line with a password is the one that the operator typed, while the program starts.
  const lines = [...arguments_.seen].filter((line) => !line.includes('connection add'));
  expect(lines.length).toBeGreaterThan(20);
  expect(secrets.flatMap(formsOf).filter((form) => lines.join('\n').includes(form))).toEqual([]);
});

test('a password in --url leaves the argument list once the program runs', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const url = `postgres://ada:open%40sesame@127.0.0.1:${port}/shop`;
  const asking = startProcess(['check', 'run', '--tls', 'disable', '--url', url], {});
  await once(silent, 'connection');
  expect(argumentsOf('-p', String(asking.pid)).trim()).toBe(
    `dbvitals check run --tls disable --url postgres://ada:***@127.0.0.1:${port}/shop`,
  );
  await asking.stop('SIGKILL');
  silent.close();
});
