import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { authentication } from '../../../test/support/hostile-server.ts';
import { startTestStore, type TestStore, WATCHER_PASSWORD } from '../../../test/support/store.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { ConnectionKey } from '../monitor-deps.ts';
import { startPulses } from '../pulse/start-pulses.ts';
import { runHealthCheck } from '../run.ts';
import { authPlugins } from '../session/mysql-login.ts';
import { PasswordRefused } from '../session/session.ts';
import { forgetToken } from './token-command.ts';

const file = (name: string) => join(import.meta.dirname, '../../../test/certificates', name);
const authority = readFileSync(file('authority.pem'), 'utf8');
const identity = { cert: readFileSync(file('server.pem')), key: readFileSync(file('server.key')) };
const folder = mkdtempSync(join(tmpdir(), 'dbvitals-login-'));

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await store.stop();
});

/** A PostgreSQL on `localhost`, with TLS or without: `served` gets each connection after that was agreed. */
async function serve(isTls: boolean, served: (stream: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(isTls ? 'S' : 'N');
      const stream = isTls ? new TLSSocket(socket, { isServer: true, ...identity }) : socket;
      stream.on('error', () => {});
      served(stream);
    });
  }).listen(0, '127.0.0.1');
  server.unref();
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Adds a connection that logs in by a token of the source `mine`. */
async function byToken(port: number) {
  const key = await store.watched({ connection_type: 'direct', host: 'localhost', port, tls: 'verify-full' });
  await store.set(key, { ca_certificate: authority, token_source: 'mine' }, { password: null, sshKey: null });
  return key;
}

/** Runs a check of a new connection whose token a shell script prints. */
async function run(port: number, script: string, changed: Record<string, unknown> = {}) {
  const key = await byToken(port);
  for (const [column, value] of Object.entries(changed))
    await store.writer.query(`update connection set ${column} = $2 where connection_id = $1`, [
      key.connectionId,
      value,
    ]);
  return runAs(key, script);
}

async function runAs(key: ConnectionKey, script: string) {
  const tokenCommands = { mine: { command: ['/bin/sh', '-c', script], hosts: ['localhost'] } };
  const stored = await runHealthCheck({ ...store.deps, tokenCommands }, key);
  if (!stored) throw new Error('nothing was stored');
  return stored;
}

/** The store's PostgreSQL behind TLS. */
const serveStore = () =>
  serve(true, (secure) => {
    const behind = connect(join(store.address[0]?.host ?? '', '.s.PGSQL.5432'));
    behind.on('error', () => {});
    secure.pipe(behind).pipe(secure);
  });

const GOOD = `printf '%s' '${WATCHER_PASSWORD}'`;

test('a server gets the token as a password, by SCRAM where it asks for that', async () => {
  const stored = await run(await serveStore(), GOOD);
  expect(stored.score).toBeGreaterThan(0);
  expect(stored.cost.statements).toBeGreaterThan(10);
});

test('each way in which a command fails is one sentence of the run, and no ticket is lost', async () => {
  const port = await serveStore();
  const key = await byToken(port);
  const before = await runAs(key, GOOD);
  await runAs(key, GOOD); // volatile findings open a ticket now
  const tickets = async () =>
    (
      await store.writer.query(
        `select ticket_id from ticket
          where account_id = $1 and resolved_at is null and check_id <> 'CONN_AUTH_FAILED' order by 1`,
        [key.accountId],
      )
    ).rows;
  const open = await tickets();
  expect(open.length).toBeGreaterThan(0);
  for (const [script, why] of [
    ['echo hidden >&2; exit 3', 'it exited with code 3'],
    ['kill -9 $$', 'SIGKILL ended it'],
    ['sleep 60', 'it did not end within 10 s'],
    ['yes hidden', 'it printed more than 16384 bytes'],
    ["printf 'hidden\\nhidden\\n'", 'it printed more than one line of text without spaces'],
    ['true', 'it printed nothing'],
    [`printf '%s' '${jwt(-1)}'`, 'the token that it printed has expired'],
  ] as const) {
    forgetToken('mine', { host: 'localhost', port, username: 'watcher' });
    const { checks } = await runAs(key, script);
    expect(checks).toHaveLength(1);
    expect(checks[0]).toMatchObject({
      check_id: 'CONN_AUTH_FAILED',
      metric_line: `No login was tried: the token source mine gave no token: ${why}.`,
    });
    expect(JSON.stringify(checks)).not.toContain('hidden');
    expect(await tickets()).toEqual(open);
  }
  // A token that ends within a minute is used, and the next run asks for another.
  const { checks } = await runAs(key, `printf '%s' '${jwt(50)}'`);
  expect(checks[0]?.metric_line).not.toMatch(/No login was tried/);
  const after = await runAs(key, GOOD);
  expect(after.score).toBe(before.score);
});

/** A token of Entra's form that ends in so many seconds. */
function jwt(seconds: number): string {
  const claims = { exp: Math.floor(Date.now() / 1_000) + seconds };
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
}

/** What a server hears that asks for the password in clear text. */
async function heardBy(isTls: boolean, script: string) {
  const heard: Buffer[] = [];
  const port = await serve(isTls, (stream) => {
    stream.on('data', (bytes) => {
      heard.push(bytes);
      if (heard.length === 1) stream.write(authentication(3));
      else stream.end();
    });
  });
  const stored = await run(port, script);
  return { stored, heard: Buffer.concat(heard).toString('latin1') };
}

test('a server with a verified certificate may ask for the token in clear text, as RDS does', async () => {
  const { heard } = await heardBy(true, 'echo a-token-of-the-tests');
  expect(heard).toContain('a-token-of-the-tests');
});

test('a server without TLS hears no token', async () => {
  const { stored, heard } = await heardBy(false, 'echo a-token-of-the-tests');
  expect(heard).toBe('');
  expect(stored.checks[0]).toMatchObject({
    check_id: 'CONN_UNREACHABLE',
    metric_line: /does not support TLS/,
  });
  expect(JSON.stringify(stored)).not.toContain('a-token');
});

test('a refused token is not used again', async () => {
  const count = join(folder, 'count');
  const script = `echo run >> ${count}; echo a-token`;
  const refuse = (stream: Socket) =>
    stream.once('data', () => {
      const fields = 'SFATAL\0VFATAL\0C28P01\0Mrefused\0\0';
      const length = Buffer.alloc(4);
      length.writeInt32BE(fields.length + 4);
      stream.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)]));
    });
  const port = await serve(true, refuse);
  for (let turn = 0; turn < 2; turn++)
    expect((await run(port, script)).checks[0]?.check_id).toBe('CONN_AUTH_FAILED');
  expect(readFileSync(count, 'utf8')).toBe('run\nrun\n');
});

test('pulses log in by a token, and go on in their session while the command gives none', async () => {
  const port = await serveStore();
  const key = await byToken(port);
  await store.writer.query(
    'update connection set pulse_seconds = case connection_id when $1 then 1 else 0 end',
    [key.connectionId],
  );
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, '1 d', now() + interval '1 d')`,
    [key.accountId, key.connectionId],
  );
  const file = join(folder, 'token');
  const runs = join(folder, 'token-runs');
  writeFileSync(file, WATCHER_PASSWORD);
  const command = ['/bin/sh', '-c', `echo run >> ${runs}; cat ${file}`];
  const tokenCommands = { mine: { command, hosts: ['localhost'] } };
  const pulses = startPulses({ ...store.deps, tokenCommands, wake: () => {} });
  onTestFinished(() => pulses.stop());
  const root = await store.superuser('store');
  const reads = async () => {
    const { rows } = await root.query<{ pid: number; at: Date }>(
      `select pid, query_start as at from pg_stat_activity where usename = 'watcher' and application_name = 'dbvitals'`,
    );
    expect(rows).toHaveLength(1);
    return rows[0];
  };
  const first = await waitFor(reads);
  rmSync(file);
  forgetToken('mine', { host: 'localhost', port, username: 'watcher' });
  await waitFor(() => expect(readFileSync(runs, 'utf8')).toBe('run\nrun\n'));
  const second = await reads();
  await waitFor(async () => {
    const third = await reads();
    expect(third?.pid).toBe(first?.pid);
    expect(Number(third?.at)).toBeGreaterThan(Number(second?.at));
  });
  expect(readFileSync(runs, 'utf8')).toBe('run\nrun\n');
  expect(store.said.map(({ message }) => message)).not.toContain('the pulse can not read the server');
});

test.each([
  ['host', '127.0.0.1'],
  ['token_source', 'other'],
  ['username', 'admin'],
])('a connection whose %s was changed in the store gets no token', async (column, value) => {
  const ran = join(folder, `ran-${column}`);
  const stored = await run(1, `touch ${ran}; echo a-token`, { [column]: value });
  expect(stored.checks[0]?.metric_line).toMatch(/stored settings were changed outside dbvitals/);
  expect(() => readFileSync(ran)).toThrow(/ENOENT/);
});

test('the store itself refuses a token without verified TLS', async () => {
  const key = await store.watched({ connection_type: 'direct', host: 'localhost', tls: 'require' });
  const made = store.writer.query(`update connection set token_source = 'mine' where connection_id = $1`, [
    key.connectionId,
  ]);
  await expect(made).rejects.toThrow(/token_over_tls/);
});

test('MySQL gets a token in clear text only with a verified certificate, and only by mysql_clear_password', async () => {
  const target = {
    ...({ engine: 'mysql', connectionType: 'direct', host: 'db', port: 3306, database: '' } as const),
    ...({ username: 'watcher', password: 'a-token', isToken: true } as const),
    passwordExposable: false,
    caCertificate: null,
    tunnel: null,
  };
  const answer = (tls: 'verify-full' | 'require', plugin: string) =>
    authPlugins({ ...target, tls })[plugin]?.({} as never)?.(Buffer.alloc(0));
  expect(String(answer('verify-full', 'mysql_clear_password'))).toBe('a-token\0');
  expect(() => answer('require', 'mysql_clear_password')).toThrow(PasswordRefused);
  expect(() => answer('verify-full', 'dialog')).toThrow(PasswordRefused);
});
