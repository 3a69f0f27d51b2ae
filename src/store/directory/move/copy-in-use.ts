import { setTimeout as wait } from 'node:timers/promises';
import { one } from '../../one.ts';
import { type AccountMove, moveEnded, readMove } from './account-move.ts';
import {
  addStaged,
  copyWhole,
  countRows,
  isChangedSince,
  removeStaged,
  type Sides,
  stageRows,
  type TableCount,
  updateByStaged,
} from './copy-rows.ts';
import type { MovedTable } from './moved-tables.ts';
import { transaction } from './transaction.ts';

/** Rows in one transaction. */
const BATCH = 5_000;

/** Rounds end when one takes less than this, in milliseconds: the requests' pause is a little longer. */
const SHORT_ROUND_MS = 400;
const MOST_ROUNDS = 5;

/** What a step of a move did, in the words of its progress. */
export type Step = (step: string) => void;

/** Runs `work` in a transaction of the cell that the account moves to, while no other command touches the copy. */
export function whileArriving<T>(
  { accountId, to }: Sides,
  { moveId }: AccountMove,
  work: () => Promise<T>,
): Promise<T> {
  return transaction(to, async () => {
    const move = await readMove(to, accountId, true);
    if (move?.moveId !== moveId || move.state !== 'arriving') throw moveEnded(accountId);
    return work();
  });
}

/**
 * Copies the tables with many rows while the account is in use, in batches, from where an earlier call stopped. It pauses
 * after each batch for as long as it took, because requests come first.
 */
export async function copyLargeTables(
  sides: Sides,
  move: AccountMove,
  tables: readonly MovedTable[],
  step: Step,
): Promise<void> {
  const copiedInUse = tables.filter(({ way }) => way !== 'rest');
  const left = await countLeft(sides, copiedInUse);
  let done = 0;
  for (const table of copiedInUse) {
    let copied = 0;
    for (let rows = BATCH; rows === BATCH; ) {
      const began = performance.now();
      rows = await whileArriving(sides, move, () =>
        table.way === 'referenced' ? copyReferenced(sides, table) : copyBatch(sides, table),
      );
      copied += rows;
      done += rows;
      const all = Math.max(done, left).toLocaleString('en-US');
      if (rows > 0)
        step(`copied ${copied} rows of ${table.name}, ${done.toLocaleString('en-US')} of ${all} in all`);
      if (table.way === 'referenced') break;
      await wait(performance.now() - began);
    }
  }
}

/** How many rows are to be copied: more may be added meanwhile. */
async function countLeft({ accountId, from, to }: Sides, tables: readonly MovedTable[]): Promise<number> {
  const [there, copied] = await Promise.all([
    countRows(from, accountId, tables, null),
    countRows(to, accountId, tables, null),
  ]);
  return tables.reduce((sum, { name, way }) => {
    const before = way === 'referenced' ? 0 : (copied.get(name)?.rows ?? 0);
    return sum + Math.max(0, (there.get(name)?.rows ?? 0) - before);
  }, 0);
}

async function copyReferenced(sides: Sides, table: MovedTable): Promise<number> {
  const rows = await stageRows(sides, table);
  await updateByStaged(sides, table);
  // It lives in the other cell until it arrives.
  if (table.name === 'account')
    await sides.to.query('update account set is_here = false where account_id = $1', [sides.accountId]);
  return rows;
}

async function copyBatch(sides: Sides, table: MovedTable): Promise<number> {
  const { accountId, from, to } = sides;
  const names = table.key.map(({ name }) => name).join(', ');
  const last = await to.query<Record<string, string>>(
    `select ${table.key.map(({ name }, n) => `${name}::text as k${n}`).join(', ')} from ${table.name}
      where account_id = $1
      order by ${table.key.map(({ name }) => `${name} desc`).join(', ')}
      limit 1`,
    [accountId],
  );
  const [after] = last.rows;
  const rows = await transaction(
    from,
    async () => {
      // COPY takes no parameters.
      for (const [n, value] of Object.values(after ?? {}).entries())
        await from.query(`select set_config('dbvitals.moved_k${n}', $1, true)`, [value]);
      const keys = table.key.map(({ type }, n) => `current_setting('dbvitals.moved_k${n}')::${type}`);
      const isLater = after ? `(${names}) > (${keys.join(', ')})` : 'true';
      return stageRows(sides, table, `${isLater} order by ${names} limit ${BATCH}`);
    },
    'read only',
  );
  await addStaged(sides, table);
  return rows;
}

const readSince = `select pg_snapshot_xmin(pg_current_snapshot())::text as since`;
const moveSince = 'update account_move set since = $3::xid8 where account_id = $1 and move_id = $2';

/**
 * Copies what changed since, in rounds, until a round is short: the last one, while requests wait, will be as short. Returns
 * the transaction from which on rows may have changed since.
 */
export async function catchUp(
  sides: Sides,
  move: AccountMove,
  tables: readonly MovedTable[],
  step: Step,
): Promise<string> {
  let { since } = move;
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    const began = performance.now();
    const next = await whileArriving(sides, move, () => copyChanges(sides, since, tables));
    await sides.from.query(moveSince, [sides.accountId, move.moveId, next]);
    since = next;
    const took = performance.now() - began;
    step(`caught up in ${Math.round(took)} ms`);
    if (took < SHORT_ROUND_MS) break;
  }
  return since;
}

/**
 * Copies the rows that transaction `since` and later ones may have changed, except tables that are copied at the end. Returns
 * the transaction from which on they may have changed after this.
 */
export function copyChanges(sides: Sides, since: string, tables: readonly MovedTable[]): Promise<string> {
  const { accountId, from, to } = sides;
  const copy = async () => {
    const next = one((await from.query<{ since: string }>(readSince)).rows, 'read the oldest transaction');
    const large = tables.filter(({ way }) => way === 'large');
    const [there, copied] = await Promise.all([
      countRows(from, accountId, large, since),
      countRows(to, accountId, large, null),
    ]);
    for (const table of tables) {
      if (table.way === 'referenced') await copyReferenced(sides, table);
      if (table.way === 'growing') await copyGrowth(sides, table);
    }
    for (const table of large)
      await copyChanged(sides, table, since, {
        there: there.get(table.name),
        copied: copied.get(table.name),
      });
    await cutLog(sides);
    return next.since;
  };
  return transaction(from, copy, 'isolation level repeatable read read only');
}

async function copyGrowth(sides: Sides, table: MovedTable): Promise<void> {
  const [{ name = '' } = {}] = table.key;
  const last = await sides.to.query<{ last: number }>(
    `select coalesce(max(${name}), 0) as last from ${table.name} where account_id = $1`,
    [sides.accountId],
  );
  await stageRows(sides, table, `${name} > ${Number(one(last.rows, 'find the last copied row').last)}`);
  await addStaged(sides, table);
}

async function copyChanged(
  sides: Sides,
  table: MovedTable,
  since: string,
  { there, copied }: { there: TableCount | undefined; copied: TableCount | undefined },
): Promise<void> {
  if (!there || !copied) throw new Error(`The rows of ${table.name} were not counted.`);
  if (there.changed === 0 && there.rows === copied.rows) return;
  const staged = await stageRows(sides, table, isChangedSince(since));
  const kept = copied.rows - (await removeStaged(sides, table));
  // Otherwise rows were deleted, and one that is left may forbid one that came.
  if (kept + staged === there.rows) await addStaged(sides, table);
  else await copyWhole(sides, table);
}

const firstKept = 'select first_id from activity_floor where account_id = $1';

/** Removes what retention deleted since it was copied. */
async function cutLog({ accountId, from, to }: Sides): Promise<void> {
  const { rows } = await from.query<{ first_id: number }>(firstKept, [accountId]);
  const first = rows[0]?.first_id ?? 0;
  await to.query('delete from activity where account_id = $1 and id < $2', [accountId, first]);
  await to.query('delete from activity_leaves where account_id = $1 and last_id < $2', [accountId, first]);
}
