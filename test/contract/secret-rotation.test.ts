import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewKey } from './account.ts';
import { read } from './ask.ts';
import { command, commandJson } from './command.ts';
import { startLoad } from './load.ts';
import type { Connection, HealthCheck, List } from './records.ts';
import {
  type Environment,
  embeddedUrl,
  type Service,
  startService,
  temporaryFolder,
} from './running-service.ts';

// Two services and their monitors on an embedded store whose own service was killed, by the way of docs/secrets.md.
const folder = temporaryFolder();
const environment = { DBVITALS_DATA_DIR: join(folder.path, 'data') };
const secretFile = join(environment.DBVITALS_DATA_DIR, 'secret.key');
const [before, after] = [randomBytes(32).toString('hex'), randomBytes(32).toString('base64')];
let url: string;
let key: string;
const connections: string[] = [];
let services: Service[] = [];

const withKeys = (...keys: string[]): Environment => ({
  DATABASE_URL: url,
  DBVITALS_SECRET_KEY: keys.join(','),
});

beforeAll(async () => {
  const holder = await startService(environment, ['--no-monitor']);
  await holder.says(/API key/);
  ({ DATABASE_URL: url = '' } = embeddedUrl(environment.DBVITALS_DATA_DIR));
  const atStart = readFileSync(secretFile, 'utf8').trim();
  await commandJson(['secret', 'rotate'], { environment: withKeys(before, atStart) });
  ({ key } = await commandJson<NewKey>(['key', 'create', '--account', '1', '--name', 'suite'], {
    environment,
  }));
  await commandJson(['account', 'change', '1', '--requests-per-minute', '100000'], { environment });
  for (const name of ['one', 'two']) {
    const add = ['connection', 'add', '--account', '1', '--name', name, '--url', url, '--every', '10s'];
    const { id } = await commandJson<Connection>(add, { environment: withKeys(before) });
    connections.push(String(id));
  }
  await holder.stop('SIGKILL');
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  // Takes the server over that was left, and stops it.
  await command(['migrate'], { environment });
  folder.remove();
});

/** The latest health check of each connection. */
async function latest(): Promise<(number | null)[]> {
  const { data } = await read<List<Connection>>('/api/v1/health/connections', key, {
    origin: services[0]?.origin ?? '',
  });
  return connections.map((id) => data.find((of) => of.id === Number(id))?.latest_check_id ?? null);
}

async function checkNow(...keys: string[]): Promise<void> {
  const run = ['check', 'run', '--connection', connections[0] ?? ''];
  const { checks } = await commandJson<HealthCheck>(run, { environment: withKeys(...keys) });
  expect(checks.find(({ check_id }) => check_id === 'CONN_AUTH_FAILED')?.status).toBe('ok');
}

test('rotating the key while services answer and check fails no run and loses no answer', async () => {
  const outputs: (() => string)[] = [];
  const begin = async (settings: Environment) => {
    const service = await startService(settings, ['--concurrency', '2']);
    outputs.push(service.output);
    return service;
  };
  services = [await begin(withKeys(before)), await begin(withKeys(before))];
  let [asked] = services;
  const load = startLoad(key, 1, () => asked?.origin ?? '', 20);

  /** Every connection is checked once more, by whichever of the two. */
  const checkedByThemselves = async () => {
    const already = await latest();
    const anew = async () => (await latest()).every((check, at) => check !== already[at]);
    await expect.poll(anew, { interval: 500 }).toBe(true);
  };
  const restart = async (...keys: string[]) => {
    for (const at of [0, 1]) {
      asked = services[1 - at];
      const already = load.answers.length;
      await expect.poll(() => load.answers.length).toBeGreaterThan(already + 10); // as a proxy lets what is under way end
      const told = Date.now();
      await services[at]?.stop();
      expect(Date.now() - told, 'nobody waits for clients that went elsewhere').toBeLessThan(10_000);
      services[at] = await begin(withKeys(...keys));
    }
    await checkNow(...keys);
  };

  await restart(before, after);
  await restart(after, before);
  const rotate = ['secret', 'rotate'];
  const done = await commandJson(rotate, { environment: withKeys(after, before) });
  // The account's key, the key of each connection that was checked before, and the seals' key once it was made.
  const counts = { rewrapped: expect.any(Number), unchanged: expect.any(Number), forgotten: 0 };
  expect(done).toMatchObject(counts);
  expect(Number(Object(done).rewrapped)).toBeGreaterThan(0);
  await checkedByThemselves();
  await restart(after);
  await checkedByThemselves();
  expect(await commandJson(rotate, { environment: withKeys(after) })).toMatchObject({ rewrapped: 0 });

  await load.stop();
  await Promise.all(services.map((service) => service.stop()));
  expect(load.answers.length).toBeGreaterThan(60);
  expect(load.answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(load.broken).toBe(0);
  for (const output of outputs) expect(output()).not.toMatch(/"level":(50|60)|can't be decrypted/);
}, 200_000);

test('afterwards the old key decrypts nothing, and the error is one sentence', async () => {
  const run = ['check', 'run', '--connection', connections[0] ?? ''];
  const checked = await command(run, { environment: withKeys(before) });
  expect([checked.exit, checked.stdout]).toEqual([1, '']);
  expect(checked.stderr).toMatch(
    /^error: The stored password of connection \d+ can't be decrypted: [^\n]+\.\n$/,
  );
  const rotated = await command(['secret', 'rotate'], { environment: withKeys(before) });
  expect([rotated.exit, rotated.stdout]).toEqual([1, '']);
  expect(rotated.stderr).toMatch(
    /^error: No key of DBVITALS_SECRET_KEY decrypts [^\n]+ nothing was changed: [^\n]+\.\n$/,
  );
});

test('the key in the data folder is rotated by editing its lines', async () => {
  const own = randomBytes(32).toString('hex');
  writeFileSync(secretFile, `${own}\n${after}\n`);
  const { exit, stdout } = await command(['secret', 'rotate'], { environment });
  // The keys of the account's passwords, of its seals, and of what each checked connection hides.
  expect([exit, stdout]).toEqual([0, expect.stringMatching(/^Encrypted with the first key: [1-5]\./)]);
  writeFileSync(secretFile, `${own}\n`);
  const run = ['check', 'run', '--connection', connections[0] ?? ''];
  expect((await command(run, { environment })).exit).toBe(0);
});
