import type pg from 'pg';
import type { StoreAddress } from '../../config/store-url.ts';
import { called } from '../../platform/package-root.ts';
import { inTransaction, openPool } from '../connect.ts';
import { lockSchemaAlone } from '../migrate.ts';
import { cellOf } from '../open.ts';

/** How many identifiers of each kind a cell gives out. 255 cells stay below 2^53, so JavaScript holds all of them exactly. */
export const IDS_OF_CELL = 2 ** 44;

/** The cell that gave out an identifier. */
export function cellOfId(id: number): number {
  return Math.floor((id - 1) / IDS_OF_CELL) + 1;
}

/** The `cell_id` of a control store that is no cell, also in options of commands. */
export const CONTROL_ONLY = 0;

const insertCell = 'insert into cell (cell_id) values ($1)';
const selectUse = 'select from account union all select from login limit 1';

// Those of tables that a later migration adds start at 1, and those of a restored store too. A sequence has its start changed
// once: to restart one that is in use would give out an identifier twice.
const selectUnplaced = `
  select format('%I.%I', schemaname, sequencename) as name, coalesce(last_value, 0) < $1 as restarts
    from pg_sequences
   where schemaname = current_schema()
     and data_type = 'bigint'::regtype
     and start_value < $1`;

interface Sequence {
  /** Quoted. */
  name: string;
  restarts: boolean;
}

async function unplaced(client: pg.ClientBase | pg.Pool, id: number): Promise<Sequence[]> {
  if (id <= 1) return [];
  return (await client.query<Sequence>(selectUnplaced, [firstId(id)])).rows;
}

function firstId(cellId: number): number {
  return (cellId - 1) * IDS_OF_CELL + 1;
}

/**
 * Makes a store the cell `id`, or verifies that it is, and makes its identifiers start at (id - 1) × 2^44. Calls `fill` first
 * if it is none yet: what fails there is done again by the next start. Throws a sentence if the store is another cell, or has
 * identifiers of another one.
 */
export async function claimCell(
  address: StoreAddress,
  id: number,
  fill: (owner: pg.ClientBase) => Promise<unknown> = async () => {},
): Promise<void> {
  const pool = openPool(address, 'owner', { max: 1 });
  try {
    // The lock waits for backups, so it is taken only for a change.
    if ((await cellOf(pool)) === id && (await unplaced(pool, id)).length === 0) return;
    await inTransaction(pool, async (client) => {
      await lockSchemaAlone(client);
      const found = await cellOf(client);
      if (found !== null && found !== id) throw new Error(otherCell(found, id));
      if (found === null) {
        // An only store has the identifiers of cell 1.
        if (id !== 1 && (await client.query(selectUse)).rowCount !== 0) throw new Error(inUse(id));
        await fill(client);
        await client.query(insertCell, [id]);
      }
      for (const { name, restarts } of await unplaced(client, id)) {
        const start = firstId(id);
        await client.query(
          `alter sequence ${name} start with ${start} ${restarts ? `restart with ${start}` : ''}`,
        );
      }
    });
  } finally {
    await pool.end();
  }
}

/** Throws a sentence unless {@link claimCell} has made the store the cell `id`. Changes nothing. */
export async function requireCell(address: StoreAddress, id: number): Promise<void> {
  const pool = openPool(address, 'owner', { max: 1 });
  try {
    const found = await cellOf(pool);
    if (found !== null && found !== id) throw new Error(otherCell(found, id));
    if (found === null || (await unplaced(pool, id)).length > 0)
      throw new Error(
        `The store of ${nameOf(id)} is not set up as ${nameOf(id)} yet, and nothing was changed: run "${called} migrate", which does so.`,
      );
  } finally {
    await pool.end();
  }
}

/** Throws a sentence if a store that is opened alone is one of several cells: a key that it adds would be unknown to the others. */
export function requireOnlyStore(cellId: number | null): void {
  if (cellId === null) return;
  throw new Error(
    `This store is ${nameOf(cellId)} of several: set DBVITALS_CELLS_FILE to the file that names them, instead of DATABASE_URL.`,
  );
}

/** The sentence about a store that is another cell than the settings say. */
export function otherCell(found: number, wanted: number): string {
  return `DBVITALS_CELLS_FILE names the store of ${nameOf(found)} as ${nameOf(wanted)}, and nothing was changed: correct the file.`;
}

function inUse(id: number): string {
  return `The store of ${nameOf(id)} holds accounts already, with the identifiers of cell 1: make it cell 1, or name an empty database in DBVITALS_CELLS_FILE.`;
}

/** What messages call a store of several. */
export function nameOf(id: number): string {
  return id === CONTROL_ONLY ? 'the control store' : `cell ${id}`;
}
