import type pg from 'pg';
import { doesNotMove } from '../cells/moving.sql.ts';
import { one } from '../one.ts';
import { cellOfId, IDS_OF_CELL } from './claim-cell.ts';
import { addAccountPlace, type Place, replaceAccountPlace } from './directory.ts';

// Rows of one exchange.
const STEP = 10_000;

type Client = pg.Pool | pg.ClientBase;

/** A cell that answers. */
export interface CellClient {
  readonly id: number;
  readonly client: Client;
}

/** A cell in which the log of an account is open, and the number of its last entry there. */
interface OpenLog {
  readonly cellId: number;
  readonly lastId: number;
}

/** An account whose log is open in a cell to which the directory does not lead. */
export interface StrayAccount {
  readonly accountId: number;
  /** What the directory says; null = nothing. */
  readonly place: Place | null;
  /** Usually one. Two of them only after one was restored from a backup that is older than a move. */
  readonly open: readonly [OpenLog, ...OpenLog[]];
}

// A cell with a row in account_move is not where the account lives, or may not be for long.
const selectOpen = `
  select h.account_id, h.last_id
    from activity_head h
   where h.account_id > $1
     and ${doesNotMove('h.account_id')}
   order by h.account_id
   limit ${STEP}`;

const selectPlaces = `
  select account_id, cell_id as "cellId", state from directory_account where account_id = any($1::bigint[])`;

const selectHeads = 'select account_id, last_id from activity_head where account_id = any($1::bigint[])';

// Neither cell has the log of such an account, so a third one could pretend to.
const selectUnderWay = `
  select account_id from account_move where account_id = any($1::bigint[]) and state in ('moving', 'arriving')`;

// Null for a role that may not know it.
const selectLastIssued = `
  select case when has_sequence_privilege(name, 'select, usage') then coalesce(pg_sequence_last_value(name), 0) end as id
    from cast(pg_get_serial_sequence('account', 'account_id') as regclass) as name`;

interface Head {
  account_id: number;
  last_id: number;
}

/**
 * Finds the accounts whose log is open in a cell to which the directory does not lead, except those that are being moved, and
 * those whose ids another cell has yet to issue: the owner of one cell must not take the next accounts of another. `cells`
 * are those that answer; only the store's owner knows what it has issued. An account that is in none of the directory's cells
 * may be found twice.
 */
export async function* findStrays(
  control: Client,
  cells: readonly CellClient[],
): AsyncGenerator<StrayAccount> {
  for (const cell of cells) {
    for (let last = 0, more = true; more; ) {
      const { rows: heads } = await cell.client.query<Head>(selectOpen, [last]);
      yield* straysOf(control, cell, { heads, others: cells.filter(({ id }) => id !== cell.id) });
      last = heads.at(-1)?.account_id ?? last;
      more = heads.length === STEP;
    }
  }
}

async function* straysOf(
  control: Client,
  { id, client }: CellClient,
  { heads, others }: { heads: readonly Head[]; others: readonly CellClient[] },
): AsyncGenerator<StrayAccount> {
  const ids = heads.map(({ account_id }) => account_id);
  const { rows } = await control.query<Place & { account_id: number }>(selectPlaces, [ids]);
  const places = new Map(rows.map(({ account_id, ...place }) => [account_id, place]));
  const strays = ids.filter((accountId) => {
    const place = places.get(accountId);
    return place?.cellId !== id || place.state !== 'here';
  });
  if (strays.length === 0) return;
  // After the directory: a move that ended meanwhile has changed that, and a correction will notice it.
  const still = await readHeads(client, strays);
  const elsewhere = await Promise.all(
    others.map(async (other) => ({
      cellId: other.id,
      heads: await readHeads(other.client, strays),
      underWay: await underWayIn(other.client, strays),
      lastIssued: await lastIssuedBy(other.client),
    })),
  );
  for (const accountId of strays) {
    const lastId = still.get(accountId);
    if (lastId === undefined || elsewhere.some(({ underWay }) => underWay.has(accountId))) continue;
    const origin = cellOfId(accountId);
    const { lastIssued = null } = elsewhere.find(({ cellId }) => cellId === origin) ?? {};
    if (lastIssued !== null && accountId > lastIssued) continue;
    const more = elsewhere.flatMap(({ cellId, heads: found }) => {
      const end = found.get(accountId);
      return end === undefined ? [] : [{ cellId, lastId: end }];
    });
    yield { accountId, place: places.get(accountId) ?? null, open: [{ cellId: id, lastId }, ...more] };
  }
}

async function readHeads(client: Client, ids: readonly number[]): Promise<Map<number, number>> {
  const { rows } = await client.query<Head>(selectHeads, [ids]);
  return new Map(rows.map(({ account_id, last_id }) => [account_id, last_id]));
}

async function underWayIn(client: Client, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await client.query<{ account_id: number }>(selectUnderWay, [ids]);
  return new Set(rows.map(({ account_id }) => account_id));
}

async function lastIssuedBy(client: Client): Promise<number | null> {
  const { rows } = await client.query<{ id: number | null }>(selectLastIssued);
  return one(rows, 'find the last id of an account').id;
}

/**
 * Lets the directory lead to each account whose log is open in exactly one cell: after a restore of the control store, it may
 * lack accounts, and lead to cells that accounts have left. `cells` must be all cells.
 */
export async function correctDirectory(control: Client, cells: readonly CellClient[]): Promise<void> {
  for await (const { accountId, place, open } of findStrays(control, cells)) {
    const [{ cellId }, ...others] = open;
    if (others.length > 0) continue;
    // Another process may have corrected it meanwhile, or ended a move.
    if (place === null) await addAccountPlace(control, accountId, cellId);
    else await replaceAccountPlace(control, accountId, place, { cellId, state: 'here' });
  }
}

const selectLastKnown = `
  select max(account_id) as id from directory_account where account_id > $1 and account_id <= $2`;

const skipTo = `
  select setval(name, $1)
    from cast(pg_get_serial_sequence('account', 'account_id') as regclass) as name
   where coalesce(pg_sequence_last_value(name), 0) < $1`;

/** Lets a cell that was restored from a backup issue no id of an account that the directory has. */
export async function skipKnownIds(control: Client, { id: cellId, client }: CellClient): Promise<void> {
  const before = (cellId - 1) * IDS_OF_CELL;
  const { rows } = await control.query<{ id: number | null }>(selectLastKnown, [
    before,
    before + IDS_OF_CELL,
  ]);
  const { id } = one(rows, 'find the last account of a cell');
  if (id !== null) await client.query(skipTo, [id]);
}

/** The statement by which a person lets the directory lead to a cell. */
export function leadTo(accountId: number, cellId: number): string {
  return `update directory_account set cell_id = ${cellId}, state = 'here' where account_id = ${accountId}`;
}
