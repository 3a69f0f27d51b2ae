import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EmbeddedStore, joinEmbedded } from './embedded.ts';
import { createCluster, serverPid, serverPrograms } from './server.ts';

let folder: string;
const held: EmbeddedStore[] = [];

beforeEach(() => {
  // Other users can't enter mktemp's folders. As root, the server's own user can't either.
  folder = join(mkdtempSync(join(tmpdir(), 'dbvitals embedded ')), 'data folder');
});

afterEach(async () => {
  for (const store of held.splice(0)) await store.leave();
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

async function joined(): Promise<EmbeddedStore> {
  const store = await joinEmbedded(folder, () => {});
  held.push(store);
  return store;
}

async function ask(store: EmbeddedStore, statement: string): Promise<Record<string, unknown> | undefined> {
  const client = new pg.Client(store.address[0]);
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(statement)).rows[0];
  } finally {
    await client.end();
  }
}

const cluster = () => join(folder, 'postgres');

test('the embedded store is its own PostgreSQL on a Unix socket, with a password, without TCP', async () => {
  const store = await joined();
  const settings = `select current_setting('listen_addresses') as tcp, current_setting('password_encryption') as passwords,
                           (select rolsuper from pg_roles where rolname = current_user) as super`;
  expect(await ask(store, settings)).toEqual({ tcp: '', passwords: 'scram-sha-256', super: false });
  const wrong = new pg.Client({ ...store.address[0], password: 'wrong' });
  await expect(wrong.connect()).rejects.toThrow(/password authentication failed/);
  expect(statSync(join(cluster(), 'dbvitals.json')).mode & 0o077).toBe(0);
});

test('an installation and a start with a strict umask: the user of the server can still read its programs', async () => {
  const programs = join(folder, '..', 'native');
  cpSync(serverPrograms(), programs, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'go=', programs]);
  const before = process.umask(0o077);
  try {
    await createCluster(cluster(), 'a password', {}, {}, programs);
  } finally {
    process.umask(before);
  }
  expect(existsSync(join(cluster(), 'PG_VERSION'))).toBe(true);
});

test('four processes that start at once share one server, and the last to leave stops it', async () => {
  const stores = await Promise.all(Array.from({ length: 4 }, () => joined()));
  expect(await Promise.all(stores.map((store) => ask(store, 'select 1 as one')))).toEqual(
    Array(4).fill({ one: 1 }),
  );
  for (const store of stores.slice(1)) await store.leave();
  expect(serverPid(cluster())).not.toBeNull();
  await stores[0]?.leave();
  expect(serverPid(cluster())).toBeNull();
  held.length = 0;
});

test('only one process at a time serves from it', async () => {
  const [first, second] = [await joined(), await joined()];
  await first.claimForServing();
  await expect(second.claimForServing()).rejects.toThrow(/in use by another "dbvitals serve"/);
  await first.leave();
  await second.claimForServing();
  held.shift();
});

test('a process joins the server that a killed process left running', async () => {
  const script = `
    const { joinEmbedded } = await import(${JSON.stringify(new URL('./embedded.ts', import.meta.url).href)});
    const store = await joinEmbedded(${JSON.stringify(folder)}, () => {});
    await store.claimForServing();
    console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 2],
  });
  if (child.stdout) await once(child.stdout, 'data');
  const pid = serverPid(cluster());
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(serverPid(cluster())).toBe(pid);
  const store = await joined();
  await expect.poll(() => store.claimForServing().then(() => 'claimed', String)).toBe('claimed');
  expect(serverPid(cluster())).toBe(pid);
});

test('a killed server is started again', async () => {
  const store = await joined();
  await store.claimForServing();
  const pid = serverPid(cluster());
  process.kill(pid ?? 0, 'SIGKILL');
  await expect
    .poll(() => ask(store, 'select 1 as one').catch(() => null), { interval: 100 })
    .toEqual({ one: 1 });
  expect(serverPid(cluster())).not.toBe(pid);
  const claims = `select count(*)::int as claims from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock'`;
  await expect.poll(() => ask(store, claims)).toEqual({ claims: 1 });
  const second = await joined();
  await expect(second.claimForServing()).rejects.toThrow(/in use/);
});

test.each([20, 200])('leaving %i ms after the server was killed leaves no process running', async (ms) => {
  const store = await joined();
  process.kill(serverPid(cluster()) ?? 0, 'SIGKILL');
  await wait(ms);
  await store.leave();
  held.length = 0;
  await wait(1_500);
  expect(serverPid(cluster())).toBeNull();
});

test('a path that is too long for a socket is rejected before anything is created', async () => {
  folder = join(folder, 'x'.repeat(100));
  await expect(joined()).rejects.toThrow(/too long for a Unix socket/);
  expect(existsSync(cluster())).toBe(false);
});

test("another user's folder is rejected with a sentence", async () => {
  await (await joined()).leave();
  held.length = 0;
  const file = join(cluster(), 'dbvitals.json');
  const kept = readFileSync(file);
  rmSync(file);
  mkdirSync(file);
  chmodSync(file, 0o700);
  await expect(joined()).rejects.toThrow(/run dbvitals as the user that created it/);
  expect(kept.length).toBeGreaterThan(0);
});
