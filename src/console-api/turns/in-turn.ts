import type pg from 'pg';
import { type Places, turnsOn } from '../../http/account-turns.ts';
import { type Read, readAs } from '../../store/read.ts';
import type { Visit } from '../budget.ts';

/** How many connections the pools of the console have on each store. */
export const READER_CONNECTIONS = 4;
export const WRITER_CONNECTIONS = 3;

/** The last connection looks up sessions, and the last place of the rest is never that of an account which has the others. */
const READS = { all: READER_CONNECTIONS - 1, ofAccount: 2 };

/** Changes of an account wait for its log anyway, so a second one would only keep a connection from other accounts. */
const CHANGES = { all: WRITER_CONNECTIONS - 1, ofAccount: 1 };

type Charge = Pick<Visit, 'chargeTime'>;

/** Reads for an account at its turn, and charges its budget for the time that the read really took. Throws 429. */
export function readInTurn<T>(
  reader: pg.Pool,
  accountId: number,
  visit: Charge,
  work: (read: Read) => Promise<T>,
): Promise<T> {
  return inTurn(reader, READS, accountId, visit, async () => (await readAs(reader, accountId, work)).result);
}

/** Runs work that uses one connection of the writer's pool at the account's turn, as {@link readInTurn}. Throws 429. */
export function writeInTurn<T>(
  writer: pg.Pool,
  accountId: number,
  visit: Charge,
  work: () => Promise<T>,
): Promise<T> {
  return inTurn(writer, CHANGES, accountId, visit, work);
}

/** {@link writeInTurn} for who is not signed in to the account, so that no budget pays. */
export function changeInTurn<T>(writer: pg.Pool, accountId: number, work: () => Promise<T>): Promise<T> {
  return inTurn(writer, CHANGES, accountId, NOBODY, work);
}

const NOBODY: Charge = { chargeTime: () => {} };

function inTurn<T>(
  pool: pg.Pool,
  places: Places,
  accountId: number,
  visit: Charge,
  work: () => Promise<T>,
): Promise<T> {
  return turnsOn(pool, places).run(accountId, async () => {
    const began = performance.now();
    try {
      return await work();
    } finally {
      visit.chargeTime(performance.now() - began);
    }
  });
}
