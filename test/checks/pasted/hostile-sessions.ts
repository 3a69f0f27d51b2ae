import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { expect } from 'vitest';
import { PASSWORD, type PostgresServer } from '../postgres-server.ts';
import {
  inDatabase,
  literal,
  type NamedCase,
  type Naming,
  quoting,
  run,
  settings,
  until,
} from './named-case.ts';

const AT_ONCE = { warning_seconds: 0.2, critical_seconds: 3600 };

/** Makes a role and a database, and opens a session there. */
async function logIn(server: PostgresServer, name: Naming) {
  const q = quoting(name);
  await run(server, `create role ${q('r')} login password '${PASSWORD}'`);
  await run(server, `create database ${q('d')}`);
  const { host, port } = server;
  const client = new pg.Client({
    host,
    port,
    password: PASSWORD,
    user: name('r'),
    database: name('d'),
    application_name: name('a'),
  });
  client.on('error', () => {});
  await client.connect();
  const end = async () => {
    await client.end().catch(() => {});
    await run(server, `drop database ${q('d')} with (force)`);
    await run(server, `drop role ${q('r')}`);
  };
  return { client, end };
}

/** A fault of a session of its own role, database and application. */
function session(
  check_id: string,
  begin: (client: pg.Client, server: PostgresServer) => Promise<unknown>,
  after: (server: PostgresServer, name: Naming) => Promise<void> = async () => {},
): NamedCase {
  return {
    check_id,
    kind: 'session',
    thresholds: AT_ONCE,
    make: async (server, name) => {
      const { client, end } = await logIn(server, name);
      await begin(client, server);
      await wait(300);
      return { after: () => after(server, name), end };
    },
  };
}

/** The longest name of a prepared transaction, 199 bytes. Control characters take most room in a statement. */
function longest(name: Naming): string {
  const text = name('g');
  return text + (text.includes('\t') ? '\u0001' : ' ').repeat(199 - Buffer.byteLength(text));
}

/** Rolls back what is prepared in a database. */
async function rollBack(server: PostgresServer, database: string): Promise<void> {
  const own = `from pg_prepared_xacts where database = ${literal(database)}`;
  const client = await server.open('postgres', database);
  const { rows } = await client.query(`select gid ${own}`);
  for (const { gid } of rows) await client.query(`rollback prepared ${literal(gid)}`);
  await client.end();
}

/** A fault of a prepared transaction. */
function prepared(check_id: string): NamedCase {
  return {
    check_id,
    kind: 'prepared transaction',
    thresholds: AT_ONCE,
    make: async (server, name) => {
      const { client, end } = await logIn(server, name);
      await client.query(`begin; select txid_current(); prepare transaction ${literal(longest(name))}`);
      await wait(300);
      return {
        mend: (remediation) => inDatabase(server, remediation, name('d')),
        end: async () => {
          await rollBack(server, name('d'));
          await end();
        },
      };
    },
  };
}

/** Cases of sessions and transactions. */
export const hostileSessions: NamedCase[] = [
  session(
    'PG_IDLE_IN_TXN',
    (client) => client.query('begin'),
    async (server, name) => {
      const [database, role] = [name('d'), name('r')];
      expect(await settings(server)).toEqual([
        { database, role, settings: ['idle_in_transaction_session_timeout=10min'] },
      ]);
    },
  ),
  session('PG_LONG_QUERY', async (client, server) => {
    client.query('select pg_sleep(60)').catch(() => {});
    await until(
      server,
      `select count(*) = 1 from pg_stat_activity
        where wait_event = 'PgSleep' and datname = ${literal(client.database ?? '')}`,
    );
  }),
  session('PG_LONG_XACT', (client) => client.query('begin')),
  session('PG_XMIN_HELD', (client) => client.query('begin isolation level repeatable read; select 1')),
  {
    check_id: 'PG_BLOCKED_SESSIONS',
    kind: 'session',
    thresholds: AT_ONCE,
    make: async (server, name) => {
      const { client, end } = await logIn(server, name);
      await client.query('begin; select pg_advisory_xact_lock(7)');
      const waiter = await server.open('postgres', name('d'));
      const waiting = waiter.query('begin; select pg_advisory_xact_lock(7)').catch(() => {});
      await until(
        server,
        `select count(*) > 0 from pg_locks join pg_database d on d.oid = database
                            where not granted and datname = ${literal(name('d'))}`,
      );
      await wait(300);
      return {
        after: async () => void (await waiting),
        end: async () => {
          await end();
          await waiter.end().catch(() => {});
        },
      };
    },
  },
  prepared('PG_PREPARED_XACT_OLD'),
  prepared('PG_XMIN_HELD'),
];
