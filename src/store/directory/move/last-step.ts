import pg from 'pg';
import { one } from '../../one.ts';
import { type AccountMove, moveEnded, setMoveState } from './account-move.ts';
import { copyChanges, whileArriving } from './copy-in-use.ts';
import { addStaged, countRows, type Sides, stageRows } from './copy-rows.ts';
import type { MovedTable } from './moved-tables.ts';
import { transaction } from './transaction.ts';
import { removeRows } from './undo/remove-copy.ts';
import { requireUniqueIds } from './unique-ids.ts';

// A batch of the gate and a change hold the head for milliseconds.
const limitWait = `set local lock_timeout = '1s'`;
const lockHead = 'select from activity_head where account_id = $1 for update';
const leave = 'update account set is_here = false where account_id = $1';
const raiseVersions = 'update api_key set version = version + 1 where account_id = $1';
const closeLog = `
  with head as (
    delete from activity_head where account_id = $1 returning *
  ), windows as (
    delete from key_window where account_id = $1 returning *
  )
  update account_move
     set state = 'moving', head = (select to_jsonb(h) from head h), windows = (select jsonb_agg(to_jsonb(w)) from windows w)
   where account_id = $1 and move_id = $2`;

// A change of the account, such as storing a run, may hold the lock for longer.
const MOST_TRIES = 5;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Closes the account's log in the cell that it leaves: from then on no process can admit a request or make a change there,
 * whatever it believes. The keys' new version makes every gate look them up again.
 */
export async function leaveCell({ accountId, from }: Sides, move: AccountMove): Promise<void> {
  const close = async () => {
    await from.query(limitWait);
    // First, as everything does that needs it.
    const { rowCount: heads } = await from.query(lockHead, [accountId]);
    if (heads !== 1) throw moveEnded(accountId);
    await from.query(raiseVersions, [accountId]);
    await from.query(leave, [accountId]);
    const { rowCount } = await from.query(closeLog, [accountId, move.moveId]);
    if (rowCount !== 1) throw moveEnded(accountId);
  };
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction(from, close);
    } catch (error) {
      const isBusy = error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;
      if (!isBusy || tries === MOST_TRIES) throw error;
    }
  }
}

const readClosed = `
  select head, windows, (head ->> 'last_id')::bigint as last_id from account_move
   where account_id = $1 and move_id = $2 and head is not null`;
const open = `
  with head as (
    insert into activity_head select * from jsonb_populate_record(null::activity_head, $1::jsonb)
  )
  insert into key_window select * from jsonb_populate_recordset(null::key_window, coalesce($2::jsonb, '[]'))`;
const lastEntry = 'select coalesce(max(id), 0) as last_id from activity where account_id = $1';
const countEntries = `
  select count(*) as entries, coalesce(max(id), $2) as last_id from activity where account_id = $1 and id > $2`;
// Kept answers of the cell that it left have earlier generations.
const arrive = 'update account set is_here = true, generation = generation + 1 where account_id = $1';
const release = `
  update connection_schedule set claimed_by = null, claimed_until = null, pulse_by = null, pulse_until = null
   where account_id = $1 and (claimed_by is not null or pulse_by is not null)`;

/** What the cell that the account leaves kept of the gate's rows. */
interface Closed {
  head: object;
  windows: object[] | null;
  last_id: number;
}

/**
 * Copies what is left, verifies that the log is whole, and opens it in the cell that the account moves to, in one
 * transaction. The directory does not lead there yet. Calls `committing` before the commit: only from then on the log may be
 * open there.
 */
export async function arriveInCell(
  { toCell, ...sides }: Sides & { toCell: number },
  move: AccountMove,
  { since, tables, committing }: { since: string; tables: readonly MovedTable[]; committing: () => void },
): Promise<void> {
  const { accountId, from, to } = sides;
  const { rows } = await from.query<Closed>(readClosed, [accountId, move.moveId]);
  const closed = one(rows, 'read the head of a log that moves');
  await whileArriving(sides, move, async () => {
    await to.query(limitWait);
    const { last_id: known } = one(
      (await to.query<{ last_id: number }>(lastEntry, [accountId])).rows,
      'find the last copied entry',
    );
    await copyChanges(sides, since, tables);
    await copyRest(sides, tables);
    await requireWhole(sides, known, closed);
    await requireUniqueIds({ cellId: toCell, client: to }, accountId, tables);
    await to.query(open, [JSON.stringify(closed.head), closed.windows && JSON.stringify(closed.windows)]);
    await to.query(release, [accountId]);
    await to.query(arrive, [accountId]);
    await setMoveState(to, accountId, move, 'arrived');
    committing();
  });
}

async function copyRest(sides: Sides, tables: readonly MovedTable[]): Promise<void> {
  const rest = tables.filter(({ way }) => way === 'rest');
  // Triggers have written tallies and trends while other rows were copied.
  await removeRows(sides.to, sides.accountId, rest);
  const counts = await countRows(sides.from, sides.accountId, rest, null);
  for (const table of rest) {
    if (counts.get(table.name)?.rows === 0) continue;
    await stageRows(sides, table);
    await addStaged(sides, table);
  }
}

const countCopied = `
  select count(*) as entries, coalesce(max(a.id), 0) - coalesce(min(a.id), 1) + 1 as places
    from activity a
   where a.account_id = $1`;

/** Throws unless the copied part of the log is gapless. */
export async function requireGapless({ accountId, to }: Pick<Sides, 'accountId' | 'to'>): Promise<void> {
  const { rows } = await to.query<{ entries: number; places: number }>(countCopied, [accountId]);
  const { entries, places } = one(rows, 'count the copied entries');
  if (entries === places) return;
  throw new Error(
    `The copy of the log has ${entries} entries in ${places} places: undo the move with --undo, and run "dbvitals activity verify" on the account.`,
  );
}

/** Throws unless the log has every entry from `known` to the head's, none twice: the earlier ones are verified before. */
async function requireWhole({ accountId, to }: Sides, known: number, head: Closed): Promise<void> {
  const { rows } = await to.query<{ entries: number; last_id: number }>(countEntries, [accountId, known]);
  const { entries, last_id } = one(rows, 'count the last entries');
  if (last_id !== head.last_id || entries !== head.last_id - known) {
    throw new Error(
      `The copy of the log ends at entry ${last_id} with ${entries} entries after ${known}, but the log ends at ${head.last_id}: nothing was changed, run the command again.`,
    );
  }
}

const reopen = `
  with move as (
    select head, windows from account_move where account_id = $1 and move_id = $2 and state = 'moving'
  ), head as (
    insert into activity_head select h.* from move, jsonb_populate_record(null::activity_head, head) h
  ), windows as (
    insert into key_window select w.* from move, jsonb_populate_recordset(null::key_window, coalesce(windows, '[]')) w
  )
  update account_move
     set state = 'copying', head = null, windows = null
   where account_id = $1 and move_id = $2 and state in ('draining', 'moving')`;
const beHere = 'update account set is_here = true where account_id = $1 and not is_here';

/** Opens the account's log again in the cell that it was about to leave. The directory must lead there. */
export function stayInCell({ accountId, from }: Omit<Sides, 'to'>, move: AccountMove): Promise<void> {
  return transaction(from, async () => {
    await from.query(reopen, [accountId, move.moveId]);
    await from.query(beHere, [accountId]);
  });
}
