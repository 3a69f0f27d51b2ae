import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandJson } from '../../test/contract/command.ts';
import { writeAlerts } from '../../test/support/console-alerts.ts';
import { CONSOLE_BODIES } from '../../test/support/console-bodies.ts';
import { CONSOLE_CHANGES } from '../../test/support/console-changes.ts';
import { writeDeliveries } from '../../test/support/console-deliveries.ts';
import { writeHistory } from '../../test/support/console-history.ts';
import {
  consoleReads,
  insertSession,
  type OwnRows,
  selectOwnRows,
} from '../../test/support/console-reads.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { issueKey } from '../accounts/keys/issue-key.ts';
import { changeAccount } from '../activity/record-entry.ts';
import { verifyAccount } from '../activity/seals/verify-account.ts';
import { hashToken, newToken } from '../platform/token.ts';
import { openPool } from '../store/connect.ts';
import { readAs } from '../store/read.ts';
import { consoleOn } from './console-fixture.ts';
import type { FleetMeasures } from './measures/measure-schemas.ts';
import { ROUTES } from './routes.ts';

type Console = Awaited<ReturnType<typeof consoleOn>>;

let store: TestStore;
/** As it is, and one whose statements forgot whom they are for. */
let named: Console;
let unnamed: Console;
let forgotten = 0;
const pools: ReturnType<typeof openPool>[] = [];
const NO_ROWS: OwnRows = { connection: 0, key: 0, ticket: 0, runs: [0, 0] };
const people: ({ accountId: number; token: string } & OwnRows)[] = [];

// Sample data has few tags and no views, collectors, silences or comments, and these commands one own check.
const tagAll = `
  insert into connection_tags select account_id, connection_id, '{env:production,pci}' from connection where account_id = $1
  on conflict (account_id, connection_id) do update set tags = excluded.tags`;
const shareView = `
  insert into saved_view (account_id, page, name, query, created_by, created_at) values ($1, 'fleet', 'Ours', '', 'Ada', now())`;
const ownCheck = `
  insert into own_check (account_id, id, title, engine, sql, unit, operator, warning, remediation, timeout, tags, changed_at, changed_by)
  values ($1, 'QUEUE', 'Queue', 'postgres', 'select 1 as value', 'count', '>=', 1, '', 5, '{}', now(), 'Ada')`;
const collector = `insert into collector (account_id, name, created_at) values ($1, 'frankfurt', now())`;
const silence = `
  insert into silence (account_id, connection_id, check_id, reason, note, created_at)
  select account_id, min(connection_id), 'PG_VERSION_EOL', 'accepted_risk', 'until the move', now()
    from connection where account_id = $1 group by account_id`;
// Sample data has the load by five minutes, of which the last may be too old.
const loadNow = `
  insert into session_load (account_id, connection_id, at, minutes, active, idle_in_transaction, blocked_sessions,
                            blocked_seconds, sources, sessions)
  values ($1, $2, now(), 1, 3, 0, 0, 0, '{}', '{}')`;
const mentionAll = `
  insert into ticket_comment (account_id, ticket_id, author, body, mentions, created_at)
  select account_id, ticket_id, 'Ada', 'look', (select array_agg(member_id) from member), now() from ticket`;

beforeAll(async () => {
  store = await startTestStore();
  const [{ host, user, password, database } = {}] = store.address;
  const environment = {
    DATABASE_URL: `postgres://${user}:${password}@${encodeURIComponent(host ?? '')}/${database}`,
    DBVITALS_SECRET_KEY: '5e'.repeat(32),
  };
  for (const name of ['one', 'two']) {
    const id = await store.account();
    await changeAccount(store.writer, id, ({ client, at }) =>
      issueKey(client, { accountId: id, at }, { name, note: '', lifetime: null }),
    );
    const filled = '--activity 300 --connections 4 --tickets 40 --days 9'.split(' ');
    await commandJson(['sample-data', '--account', String(id), '--seed', String(id), ...filled], {
      environment,
    });
    await store.writer.query(tagAll, [id]);
    await store.writer.query(shareView, [id]);
    await store.writer.query(ownCheck, [id]);
    await store.writer.query(collector, [id]);
    await store.writer.query(silence, [id]);
    const token = newToken();
    await store.writer.query(insertSession, [id, `${name}@example.com`, hashToken(token)]);
    const { rows } = await store.writer.query(selectOwnRows, [id]);
    await writeHistory(store.writer, { accountId: id, connectionId: rows[0].connection }, id);
    await store.writer.query(loadNow, [id, rows[0].connection]);
    const alert = await writeAlerts(store.writer, { accountId: id, connectionId: rows[0].connection });
    people.push({ accountId: id, token, ...rows[0], alert, ...(await writeDeliveries(store.writer, id)) });
  }
  await store.writer.query(mentionAll);
  await commandJson(['activity', 'seal'], { environment });
  await openConsoles();
});

async function openConsoles(): Promise<void> {
  named = await openConsole(false);
  unnamed = await openConsole(true);
}

const closeConsoles = () => Promise.all([named.close(), unnamed.close()]);

afterAll(async () => {
  await closeConsoles();
  await Promise.all(pools.map((pool) => pool.end()));
  await store.stop();
});

/** With the keys that the seals name, and without the time at which it was done. */
async function verifyBy(reader: pg.Pool, accountId: number) {
  const { rows } = await store.writer.query<{ key: string }>(
    `select distinct encode(public_key, 'hex') as key from activity_seal where account_id = $1`,
    [accountId],
  );
  const keys = new Set(rows.map(({ key }) => key));
  const { result } = await readAs(reader, accountId, (run) => verifyAccount(run, accountId, keys));
  return { ...result, checked_at: null };
}

async function openConsole(forgetful: boolean): Promise<Console> {
  const reader = openPool(store.address, 'console', { max: 2, pipeline: true });
  pools.push(reader);
  if (forgetful) {
    reader.on('connect', (client) => {
      const { query } = client;
      client.query = ((statement: unknown, ...rest: unknown[]) =>
        Reflect.apply(query, client, [
          typeof statement === 'string' ? forget(statement) : statement,
          ...rest,
        ])) as typeof query;
    });
  }
  return consoleOn(store, reader, (id) => verifyBy(reader, id));
}

/** The statement without a condition on account or person. */
function forget(statement: string): string {
  const everywhere = statement.replace(/\b(?:\w+\.)?(?:account_id|login_id) = (\$\d)\b/g, (_, value) => {
    forgotten++;
    return `${value}::bigint is not null`;
  });
  expect(everywhere).not.toMatch(/\b(?:account_id|login_id) = \$/);
  return everywhere;
}

/** The store's clock, and what is new each time. */
const CHANGING = /"(?:server_time|as_of|since|resets_at|challenge|from|to)":"[^"]*"/g;

/** An export is an entry of the log, also of the next export. */
const EXPORTS = /\{"id":\d+,"action_type":"activity_exported".*\}\n/g;

async function ask(
  of: Console,
  path: string,
  token: string,
  body?: object,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE' = body ? 'POST' : 'GET',
): Promise<string> {
  const answer = await of.inject({
    method,
    url: `/console/api${path}`,
    headers: {
      'dbvitals-caller': JSON.stringify({ requestId: 'x', address: '127.0.0.1', origin: 'http://localhost' }),
      origin: 'http://localhost',
      cookie: `dbvitals_session=${token}`,
    },
    ...(body && { payload: body }),
  });
  return `${answer.statusCode} ${answer.body.replaceAll(CHANGING, '').replaceAll(EXPORTS, '')}`;
}

test('every read of the console has a case here', () => {
  const asked = new Set(consoleReads({ ...NO_ROWS, destination: 1 }).map(([route]) => route));
  const reads = ROUTES.filter(({ method, permission }) => method === 'GET' && permission !== 'anyone');
  expect(reads.map(({ path }) => `GET ${path}`).filter((route) => !asked.has(route))).toEqual([]);
});

test('a read that forgot its account answers what it would with it', async () => {
  for (const { token, ...own } of people.slice(1)) {
    for (const [route, path, body] of consoleReads(own)) {
      forgotten = 0;
      const answer = await ask(named, path, token, body);
      expect(answer, path).toMatch(/^200 /);
      expect(await ask(unnamed, path, token, body), path).toBe(answer);
      if (!/login-sql|roles|metrics/.test(route)) expect(forgotten, path).toBeGreaterThan(0);
    }
  }
});

/** Whether a path names a row, or what sample data has not, or is the same for everybody: what it gives does not depend on the rest of the table. */
const NAMES_A_ROW =
  /\/\d+\b|[?]check=|key_id=|member_id=|object=|connection_id=|connections=|login-sql|(?:roles|metrics)$/;

/** What the last account's owner is told of rows of the first, by statements that forgot whose. */
async function askForAnother(): Promise<string[]> {
  const [another = NO_ROWS] = people;
  const paths = consoleReads(another).flatMap(([route, path]) => (route.includes(':id') ? [path] : []));
  const told: string[] = [];
  for (const path of paths) told.push((await ask(unnamed, path, people.at(-1)?.token ?? '')).slice(0, 3));
  return [...new Set(told)];
}

/** The small multiples that the last account's owner is shown of both accounts' connections. */
async function fleetOfBoth(): Promise<number[]> {
  const asked = people.map(({ connection }) => connection).join();
  const path = `/fleet/measures?metric=transactions_per_second&connections=${asked}`;
  const answer = await ask(unnamed, path, people.at(-1)?.token ?? '');
  const [, list = ''] = /"connections":(\[.*\])/.exec(answer) ?? [];
  const connections: FleetMeasures['connections'] = JSON.parse(list);
  return connections.filter(({ last }) => last.length > 0).map(({ connection_id }) => connection_id);
}

test('a row of another account is not found, whatever the statement says', async () => {
  expect(await askForAnother()).toEqual(['404']);
  expect(await fleetOfBoth()).toEqual([people.at(-1)?.connection]);
});

test('every change of a row has a case here', () => {
  const asked = new Set(CONSOLE_CHANGES.map(([route]) => route));
  const changes = ROUTES.filter(({ method, path }) => method !== 'GET' && path.includes('/:id'));
  // An invitation is to a person, whatever the account.
  const ofAccounts = changes.filter(({ path }) => !path.startsWith('/invitations/'));
  expect(
    ofAccounts.map(({ method, path }) => `${method} ${path}`).filter((route) => !asked.has(route)),
  ).toEqual([]);
});

test('a change of a row of another account gets the same 404 as one of a row that is absent', async () => {
  await closeConsoles();
  await openConsoles();
  const [another, own] = people;
  await store.writer.query(
    `insert into maintenance (account_id, name, starts_at, ends_at, created_by, created_at)
     values ($1, 'Upgrade', now(), now() + interval '1 day', 'Ada', now())`,
    [another?.accountId],
  );
  for (const [route, select, body] of CONSOLE_CHANGES) {
    const { rows } = await store.writer.query<{ id: number | null }>(select, [another?.accountId]);
    const { id = null } = rows[0] ?? {};
    expect(id, route).not.toBeNull();
    const [method = '', path = ''] = route.split(' ');
    const change = (rowId: number | null) =>
      ask(named, path.replace(':id', String(rowId)), own?.token ?? '', body, method as 'POST');
    const absent = await change(999_999_999);
    expect(absent, route).toMatch(/^404 /);
    expect(await change(id), route).toBe(absent);
  }
});

test('a row of another account in a body gets the same answer as one that is absent', async () => {
  await closeConsoles();
  await openConsoles();
  const [another, own] = people;
  for (const [route, select, body] of CONSOLE_BODIES) {
    const { rows } = await store.writer.query<{ id: number | null }>(select, [another?.accountId]);
    const { id = null } = rows[0] ?? {};
    if (id === null) throw new Error(`${route}: the other account has no such row`);
    const [method = '', path = ''] = route.split(' ');
    const answerFor = async (rowId: number) => {
      const answer = await ask(named, path, own?.token ?? '', body(rowId), method as 'POST');
      return answer.replaceAll(new RegExp(`\\b${rowId}\\b`, 'g'), 'ID');
    };
    const absent = await answerFor(999_999_999);
    expect(await answerFor(id), route).toBe(absent);
    for (const huge of [2 ** 53, 1e300]) expect(await answerFor(huge), route).not.toMatch(/^5/);
  }
});

test('they would be, were it not for row-level security', async () => {
  // The reads above have spent most of the session's budget.
  await closeConsoles();
  await openConsoles();
  const root = await store.superuser('store');
  const { rows } = await root.query(
    `select tablename, policyname from pg_policies where policyname in ('own_account', 'own_login')`,
  );
  for (const { tablename, policyname } of rows)
    await root.query(`alter policy ${policyname} on ${tablename} using (true)`);
  expect(await askForAnother()).toEqual(['200']);
  expect(await fleetOfBoth()).toEqual(people.map(({ connection }) => connection));
  const { token, ...own } = people.at(-1) ?? { accountId: 0, token: '', ...NO_ROWS };
  for (const [, path, body] of consoleReads(own)) {
    if (NAMES_A_ROW.test(path)) continue;
    expect(await ask(unnamed, path, token, body), path).not.toBe(await ask(named, path, token, body));
  }
});
