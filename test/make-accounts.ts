import pg from 'pg';
import { inject } from 'vitest';
import * as account from '../src/admin/account.ts';
import * as key from '../src/admin/key.ts';

// What the contract suite needs before it can ask: some 400 accounts and keys in a run. They are made by what the
// commands call, for a command is a process and takes 0.3 s of a core. The commands have tests of their own.

let pool: pg.Pool | undefined;

function writer(): pg.Pool {
  pool ??= new pg.Pool({
    connectionString: inject('sharedStore')['DATABASE_URL'],
    options: '-c timezone=UTC -c role=dbvitals_writer',
    max: 2,
  });
  return pool;
}

/** Creates an account in the run's store as `account create` does; gives its id. */
export async function createAccount(wanted: Parameters<typeof account.createAccount>[1]): Promise<number> {
  return (await account.createAccount(writer(), wanted)).id;
}

/** Creates a key in the run's store as `key create` does. */
export function createKey(wanted: Parameters<typeof key.createKey>[1]): ReturnType<typeof key.createKey> {
  return key.createKey(writer(), wanted);
}
