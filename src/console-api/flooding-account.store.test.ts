import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONSOLE_CHANGES } from '../../test/support/console-changes.ts';
import { consoleReads, insertSession, type OwnRows } from '../../test/support/console-reads.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { hashNewPassword } from '../accounts/sign-in/password.ts';
import { verifyAccount } from '../activity/seals/verify-account.ts';
import { hashToken, newToken } from '../platform/token.ts';
import { openPool } from '../store/connect.ts';
import { readAs } from '../store/read.ts';
import { consoleOn } from './console-fixture.ts';
import { ROUTES } from './routes.ts';
import { READER_CONNECTIONS, WRITER_CONNECTIONS } from './turns/in-turn.ts';

// The pools are as large as those of a service: open-console.ts.
const statementTimeout = 10_000;
/** More than a pool has connections, and fewer than a session may have under way. */
const AT_ONCE = 8;

let store: TestStore;
let reader: pg.Pool;
let writer: pg.Pool;
let app: Awaited<ReturnType<typeof consoleOn>>;
let lock: pg.Client;
beforeAll(async () => {
  store = await startTestStore();
  writer = openPool(store.address, 'writer', { max: WRITER_CONNECTIONS, statementTimeout });
  reader = openPool(store.address, 'console', { max: READER_CONNECTIONS, pipeline: true, statementTimeout });
  const verify = async (accountId: number) => {
    const { result } = await readAs(reader, accountId, (run) => verifyAccount(run, accountId, new Set()));
    return { ...result, checked_at: null };
  };
  app = await consoleOn({ ...store, writer }, reader, verify);
  lock = await store.superuser('store');
});
afterAll(async () => {
  await app.close();
  await Promise.all([writer.end(), reader.end()]);
  await store.stop();
});

async function signIn(accountId: number, name: string): Promise<string> {
  const token = newToken();
  await store.writer.query(insertSession, [accountId, `${name}-${accountId}@example.com`, hashToken(token)]);
  return token;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Calls a heartbeat, as a backup job does. */
async function beat(token: string): Promise<number> {
  const caller = { requestId: 'x', address: '127.0.0.1', origin: 'http://localhost' };
  const { statusCode } = await app.inject({
    method: 'POST',
    url: `/heartbeat/${token}`,
    headers: { 'dbvitals-caller': JSON.stringify(caller) },
  });
  return statusCode;
}

async function ask(token: string, method: Method, path: string, body?: object): Promise<number> {
  const caller = { requestId: 'x', address: '127.0.0.1', origin: 'http://localhost' };
  const { statusCode } = await app.inject({
    method,
    url: `/console/api${path}`,
    headers: {
      'dbvitals-caller': JSON.stringify(caller),
      cookie: `dbvitals_session=${token}`,
      origin: 'http://localhost',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return statusCode;
}

const ROWS: OwnRows = {
  connection: 999,
  key: 999,
  ticket: 999,
  destination: 999,
  delivery: 999,
  runs: [1, 2],
};
const LARGEST_RANGE = '?from=2020-01-01&to=2090-01-01';

/** Every route for members, with what makes it ask the store: streams are tested by their own limits. */
const REQUESTS = ROUTES.filter(
  ({ permission, response, path }) =>
    permission !== 'anyone' && response !== 'stream' && !path.startsWith('/sessions'),
).map(({ method, path }) => {
  const route = `${method} ${path}`;
  const [, read, sent] = consoleReads(ROWS).find(([name]) => name === route) ?? [];
  const [, , change] = CONSOLE_CHANGES.find(([name]) => name === route) ?? [];
  const place = path.replace(':id', '999').replace(/:\w+/g, 'x');
  // The log's present end waits for its writers.
  const searched = path.startsWith('/activity') || path === '/read/activity' ? LARGEST_RANGE : '';
  return {
    route,
    method: method as Method,
    path: read ?? `${place}${searched}`,
    body: method === 'GET' ? undefined : (change ?? sent ?? {}),
  };
});

test('while one account floods any route, and its changes hang, another reads and changes at once', async () => {
  const [greedy, modest] = [await store.account(), await store.account()];
  const own = await signIn(modest, 'modest');
  const failures: string[] = [];
  const expectServed = async (route: string) => {
    const statuses = [
      await ask(own, 'GET', '/fleet'),
      await ask(own, 'GET', '/read/activity'),
      await ask(own, 'POST', '/views', { page: 'fleet', name: route, query: '' }),
    ];
    await store.writer.query('delete from saved_view where account_id = $1', [modest]); // an account may have few
    if (statuses.join() !== '200,200,201') failures.push(`${route}: ${statuses}`);
  };
  // Every change of the account waits for its log's head, as behind a statement that hangs.
  await lock.query('begin');
  await lock.query('select from activity_head where account_id = $1 for update', [greedy]);
  const flood: Promise<number>[] = [];
  for (const { route, method, path, body } of REQUESTS) {
    const token = await signIn(greedy, `greedy-${route}`);
    flood.push(...Array.from({ length: AT_ONCE }, () => ask(token, method, path, body)));
    await expectServed(route);
    await lock.query('rollback');
    const statuses = await Promise.all(flood.splice(0));
    if (statuses.some((status) => status >= 500)) failures.push(`${route} itself: ${statuses}`);
    await lock.query('begin');
    await lock.query('select from activity_head where account_id = $1 for update', [greedy]);
  }
  await lock.query('rollback');
  expect(REQUESTS.length).toBeGreaterThan(80);
  expect(failures).toEqual([]);
});

const setPassword = 'update login set password = $2 where account_id = $1';
const addLinkFor = `
  insert into link (account_id, token_hash, purpose, member_id, expires_at)
  select account_id, $2, 'reset', member_id, now() + interval '1 day' from member where account_id = $1`;
const join = `
  insert into member (account_id, name, email, roles, status, joined_at, login_id)
  select $1, 'also', 'also@example.com', array['viewer'], 'active', now(), login_id from member where account_id = $2`;

test('while the log of one account hangs, who signs in to it or calls its heartbeat delays no other account', async () => {
  const [greedy, modest, second] = [await store.account(), await store.account(), await store.account()];
  const own = await signIn(modest, 'modest');
  const password = 'rhubarb quilt thimble canal';
  const email = `greedy-${greedy}@example.com`;
  await signIn(greedy, 'greedy');
  const phc = await hashNewPassword(password, { about: [], parameter: 'password', beside: null });
  await store.writer.query(setPassword, [greedy, phc]);
  const link = newToken();
  await store.writer.query(addLinkFor, [greedy, hashToken(link)]);
  const both = await signIn(second, 'both');
  await store.writer.query(join, [greedy, second]);
  const leaving = await Promise.all(Array.from({ length: AT_ONCE }, () => sessionOf(greedy)));
  const [heartbeat, ownHeartbeat] = [await heartbeatOf(greedy), await heartbeatOf(modest)];
  const ways: [string, (n: number) => Promise<number>][] = [
    ['a wrong password', () => ask('', 'POST', '/sign-in', { email, password: 'wrong' })],
    ['the password', () => ask('', 'POST', '/sign-in', { email, password })],
    ['a link', () => ask('', 'POST', `/link/${link}`, { password: 'copper lantern tulip fjord' })],
    ['another account', () => ask(both, 'POST', '/me/account', { id: greedy })],
    ['signing out', (n) => ask(leaving[n] ?? '', 'POST', '/sign-out')],
    ['a heartbeat', () => beat(heartbeat)],
  ];
  const failures: string[] = [];
  for (const [name, way] of ways) {
    await lock.query('begin');
    await lock.query('select from activity_head where account_id = $1 for update', [greedy]);
    const flood = Array.from({ length: AT_ONCE }, (_, n) => way(n));
    await wait(3_000); // passwords are hashed before
    const statuses = [
      await ask(own, 'GET', '/fleet'),
      await ask(own, 'POST', '/views', { page: 'fleet', name, query: '' }),
      await beat(ownHeartbeat),
    ];
    if (statuses.join() !== '200,201,200') failures.push(`${name}: ${statuses}`);
    await lock.query('rollback');
    const answers = await Promise.all(flood);
    if (answers.some((status) => status >= 500)) failures.push(`${name} itself: ${answers}`);
  }
  expect(failures).toEqual([]);
});

const addSession = `
  insert into session (token_hash, login_id, account_id, expires_at, source_ip, user_agent)
  select $2, login_id, account_id, now() + interval '1 day', '127.0.0.1', '' from member where account_id = $1 limit 1`;

async function sessionOf(accountId: number): Promise<string> {
  const token = newToken();
  await store.writer.query(addSession, [accountId, hashToken(token)]);
  return token;
}

const addHeartbeat = `
  insert into backup_heartbeat (account_id, connection_id, token_hash, created_at) values ($1, $2, $3, now())`;

async function heartbeatOf(accountId: number): Promise<string> {
  const token = newToken();
  const values = [accountId, await store.connection(accountId), hashToken(token)];
  await store.writer.query(addHeartbeat, values);
  return token;
}
