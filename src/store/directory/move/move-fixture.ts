import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { fillSchema } from '../../../../test/support/filled-schema.ts';
import { startTestStore, type TestStore } from '../../../../test/support/store.ts';
import type { StoreAddress } from '../../../config/store-url.ts';
import { openPool } from '../../connect.ts';
import { migrate } from '../../migrate.ts';
import { claimCell } from '../claim-cell.ts';
import type { KilledMove } from './killed-move-fixture.ts';
import { GATE, MOVED } from './moved-tables.ts';
import type { MoveParts } from './places.ts';

/** What {@link placeOf} says of an account of cell 1. */
export const HERE = { cell_id: 1, state: 'here' };

/** A cell on a PostgreSQL of its own, whose owner has no more rights than README gives it. */
export interface CellStore {
  server: TestStore;
  address: StoreAddress;
  /** A superuser: sees all rows. */
  root: pg.Client;
  writer: pg.Pool;
}

/** Two stores that are cells 1 and 2; the first has the directory, and two accounts with rows in every table. */
export interface TwoCells {
  one: CellStore;
  two: CellStore;
  parts: MoveParts;
  steps: string[];
  /** An account of cell 1 with rows in every table. */
  filled: number;
  stop(): Promise<void>;
}

async function startCell(id: number): Promise<CellStore> {
  const server = await startTestStore({ fsync: 'off' });
  const admin = await server.superuser();
  await admin.query(`create role plain login createrole password 'plain'`);
  await admin.query('grant dbvitals_writer, dbvitals_reader, dbvitals_console to plain');
  await admin.query('create database cell owner plain');
  const address = [{ ...server.address[0], user: 'plain', password: 'plain', database: 'cell' }];
  await migrate(address);
  const root = await server.superuser('cell');
  if (id === 1) await fillSchema(root, 0, Number.POSITIVE_INFINITY);
  await root.query(
    'delete from cell; delete from directory_account; delete from directory_key; delete from account_move',
  );
  await claimCell(address, id);
  return { server, address, root, writer: openPool(address, 'writer', { max: 4 }) };
}

const fillLinks = `
  insert into link (account_id, token_hash, purpose, member_id, expires_at)
  select account_id, sha256((account_id || ' ' || member_id)::bytea), 'reset', member_id, now() + interval '1 day' from member`;

const enter = `
  insert into directory_account (account_id, cell_id) select account_id, 1 from account where is_here on conflict do nothing;
  insert into directory_key (hash, account_id) select hash, account_id from api_key on conflict do nothing`;

/** Starts both cells. */
export async function startTwoCells(): Promise<TwoCells> {
  const [one, two] = await Promise.all([startCell(1), startCell(2)]);
  await one.root.query(fillLinks);
  await one.root.query(enter);
  const control = openPool(one.address, 'owner', { max: 4 });
  const steps: string[] = [];
  const parts: MoveParts = {
    control,
    cellIds: [1, 2],
    addressOf: async (cellId) => (cellId === 1 ? one : two).address,
    step: (step) => steps.push(step),
  };
  const filled = await one.root.query<{ id: number }>('select min(account_id) as id from account');
  return {
    one,
    two,
    parts,
    steps,
    filled: Number(filled.rows[0]?.id),
    async stop() {
      await Promise.all([control.end(), one.writer.end(), two.writer.end()]);
      await Promise.all([one.server.stop(), two.server.stop()]);
    },
  };
}

/** Tells the directory of all accounts and keys of cell 1. */
async function enterAll({ one }: TwoCells): Promise<void> {
  await one.root.query(enter);
}

/** The directory's row of an account. */
export async function placeOf({ one }: TwoCells, accountId: number): Promise<unknown> {
  const { rows } = await one.root.query(
    'select cell_id, state from directory_account where account_id = $1',
    [accountId],
  );
  return rows[0];
}

/** All rows of an account in a cell, table by table, as text; the head of its log too. */
export async function rowsOf(root: pg.Client, accountId: number): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of [...MOVED, ...GATE]) {
    const { rows } = await root.query<{ row: string }>(
      `select to_jsonb(t)::text as row from ${table} t where account_id = $1 order by 1`,
      [accountId],
    );
    if (rows.length > 0) found[table] = rows.map(({ row }) => row);
  }
  return found;
}

/** Moves an account to cell 2 in a process that is killed at the nth step of a name. Returns the signal that ended it. */
export function moveKilledAt(
  { one, two }: TwoCells,
  accountId: number,
  step: string,
  nth: number,
): NodeJS.Signals | null {
  const told: KilledMove = { addresses: [one.address, two.address], accountId, toId: 2, step, nth };
  const { signal, stderr, status } = spawnSync(process.execPath, [fileURLToPath(killed)], {
    env: { ...process.env, DBVITALS_TEST_MOVE: JSON.stringify(told) },
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (signal === null && status !== 0) throw new Error(stderr);
  return signal;
}

const killed = new URL('./killed-move-fixture.ts', import.meta.url);

/** A new account of cell 1 with a key, `entries` log entries, and a connection with runs and tickets. */
export async function addSmallAccount(cells: TwoCells, entries = 12_000): Promise<number> {
  const { rows } = await cells.one.root.query<{ account_id: number }>(
    `insert into account (name, kind, plan) values ('Moves', 'company', 'enterprise') returning account_id`,
  );
  const id = Number(rows[0]?.account_id);
  await cells.one.root.query(
    `insert into activity (account_id, id, occurred_at, action_type, page_path, request_id, api_key_id, status, method)
     select ${id}, n, timestamptz '2026-01-01Z' + n * interval '1 s', 'api_request', '/api/v1/health/fleet', gen_random_uuid(), 1, 200, 'GET'
       from generate_series(1, ${entries}) n;
     insert into activity_head values (${id}, ${entries}, timestamptz '2026-01-01Z' + ${entries} * interval '1 s', 0);
     insert into api_key (account_id, name, hash, last_four, created_at)
       values (${id}, 'key', sha256('key of ${id}'), 'abcd', now());
     insert into key_window (account_id, api_key_id, started_at, used)
       select account_id, api_key_id, now(), 3 from api_key where account_id = ${id};
     insert into member (account_id, name, email, roles, status, joined_at)
       values (${id}, 'Ada', 'ada@example.com', '{owner}', 'active', now());
     insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
       values (${id}, 'shop', 'postgres', 'direct', 'db.example.com', 5432, 'shop', 'watcher', 'verify-full', now());
     insert into connection_schedule select account_id, connection_id, '5 min', now() from connection where account_id = ${id};
     insert into health_check (account_id, connection_id, score, summary_text, created_at, findings)
       select account_id, connection_id, 90, 'run', now(), '[]' from connection, generate_series(1, 50) where account_id = ${id};
     update connection c set latest_check_id = (select max(health_check_id) from health_check h where h.account_id = c.account_id)
      where account_id = ${id};
     insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line, remediation,
                         first_seen_at, last_seen_at, number, connection_number)
       select account_id, connection_id, 'PG_TEST', 'table ' || n, 'schema', 'Test', 'warning', 'open', 'm', 'r', now(), now(), n, n
         from connection, generate_series(1, 300) n where account_id = ${id}`,
  );
  await enterAll(cells);
  return id;
}

/** Rows without what a move changes: the generation, the version of keys, and the claims of monitors. */
export function withoutMoved(rows: Record<string, string[]>): Record<string, string[]> {
  const without = (row: string) =>
    row.replace(/"generation": \d+/, '"generation"').replace(/"version": \d+/, '');
  const { account = [], api_key = [], account_move: _, ...others } = rows;
  return { ...others, account: account.map(without), api_key: api_key.map(without) };
}
