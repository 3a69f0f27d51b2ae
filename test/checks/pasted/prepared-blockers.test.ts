import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fault } from '../../../src/checks/fault.ts';
import { blockedSessions } from '../../../src/checks/postgres/blocked-sessions.ts';
import { expectOnPages } from '../../support/expect-on-pages.ts';
import { waitFor } from '../../support/wait-for.ts';
import { measure } from '../measure.ts';
import { paste } from '../paste.ts';
import { PostgresServer } from '../postgres-server.ts';
import { inDatabase, literal, quoting, run, until } from './named-case.ts';

let server: PostgresServer;
let client: pg.Client;
const waiters: pg.Client[] = [];
beforeAll(async () => {
  server = await PostgresServer.start();
  await run(server, `create database ${quoting(String)(DATABASE)}`);
  client = await server.open('postgres', DATABASE);
  await client.query('create table t (); create table u ()');
});
afterAll(async () => {
  await Promise.all([client, ...waiters].map((each) => each?.end()));
  await server?.stop();
});

const DATABASE = `d"b'c\\d;e--f \n\t\u0001\u202e`;

/** A name of 199 bytes, the longest; and another that looks the same. */
const HOSTILE = `g"b'c\\d;e--f ${'\u0001'.repeat(186)}`;
const ALIKE = HOSTILE.replaceAll('\u0001', ' ');

const prepare = (gid: string, table: string, mode: string) =>
  client.query(`begin; lock ${table} in ${mode} mode; prepare transaction ${literal(gid)}`);

/** Another session waits for the table. */
async function waitForTable(table: string): Promise<void> {
  const waiter = await server.open('postgres', DATABASE);
  waiters.push(waiter);
  waiter.query(`begin; lock ${table} in access exclusive mode; commit`).catch(() => {});
  const waiting = `select count(*) > 0 from pg_locks where not granted and relation = '${table}'::regclass`;
  await waitFor(async () => expect((await client.query(waiting)).rows).toEqual([{ '?column?': true }]));
  await wait(300);
}

async function found(): Promise<Fault[]> {
  const watcher = await server.open('watcher');
  try {
    const thresholds = { warning_seconds: 0.2, critical_seconds: 3_600 };
    const { faults } = await measure(watcher, blockedSessions, { thresholds });
    expectOnPages(faults.map(({ remediation }) => [blockedSessions.id, remediation]));
    return faults;
  } finally {
    await watcher.end();
  }
}

const gids = async () =>
  (await run(server, 'select gid from pg_prepared_xacts order by 1')).map(({ gid }) => gid);

test('of two prepared transactions the one that blocks longest is ended, then the other', async () => {
  await prepare(HOSTILE, 't', 'access exclusive');
  await prepare(ALIKE, 'u', 'access exclusive');
  await prepare('bystander', 'pg_description', 'access share');
  await waitForTable('t');
  await waitForTable('u');
  for (const left of [[ALIKE, 'bystander'], ['bystander']]) {
    const faults = await found();
    expect(faults).toMatchObject([{ severity: 'warning', object: 'prepared transaction' }]);
    await inDatabase(server, faults[0]?.remediation ?? '', DATABASE);
    expect(await gids()).toEqual(left.toSorted());
  }
  await until(server, 'select count(*) = 0 from pg_locks where not granted');
  expect(await found()).toEqual([]);
  await client.query(`rollback prepared 'bystander'`);
});

test('if several have a lock there, the look shows them all', async () => {
  for (const gid of ['one', 'two']) await prepare(gid, 't', 'access share');
  await waitForTable('t');
  const [fault] = await found();
  const shown = await paste(server, fault?.remediation ?? '');
  for (const gid of ['one', 'two']) expect(shown).toContain(gid);
  for (const gid of ['one', 'two']) await client.query(`rollback prepared ${literal(gid)}`);
});
