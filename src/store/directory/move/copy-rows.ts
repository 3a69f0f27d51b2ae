import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { MovedTable } from './moved-tables.ts';
import { dropConnection } from './transaction.ts';

/** A connection to each cell, as the owner, and the account that moves. */
export interface Sides {
  readonly accountId: number;
  readonly from: pg.Client;
  readonly to: pg.Client;
}

const stagedName = ({ name }: MovedTable) => `moved_${name}`;
const columnsOf = ({ columns }: MovedTable) => columns.join(', ');

// COPY can't fill a table with forced row-level security. A temporary table has none.
const makeStaged = (table: MovedTable) => `
  create temporary table if not exists ${stagedName(table)} on commit delete rows
  as select ${columnsOf(table)} from ${table.name} with no data`;

/**
 * Copies the account's rows that meet `condition` (SQL) into a temporary table of the other cell, which is empty again after
 * the transaction. Streams them, so that memory is bounded. Returns how many there are. Throws if one is of another account: the
 * other cell's owner must not write to an account that does not live there.
 */
export async function stageRows(
  { accountId, from, to }: Sides,
  table: MovedTable,
  condition = 'true',
): Promise<number> {
  await to.query(makeStaged(table));
  const rows = `select ${columnsOf(table)} from ${table.name} where account_id = ${Number(accountId)} and ${condition}`;
  const copied = to.query(copyFrom(`copy ${stagedName(table)} (${columnsOf(table)}) from stdin`));
  try {
    await pipeline(from.query(copyTo(`copy (${rows}) to stdout`)), copied);
  } catch (error) {
    // It goes on sending rows that nobody reads.
    dropConnection(from);
    throw error;
  }
  await from.query(''); // the end of COPY arrives after its rows
  const foreign = await to.query(`select from ${stagedName(table)} where account_id <> $1 limit 1`, [
    accountId,
  ]);
  if (foreign.rowCount !== 0)
    throw new Error(
      `The cell that account ${accountId} leaves sent rows of another account (${table.name}).`,
    );
  return copied.rowCount;
}

/** Adds the staged rows to the table. Rows that it has already are an error. */
export async function addStaged({ to }: Sides, table: MovedTable): Promise<void> {
  await to.query(`
    insert into ${table.name} (${columnsOf(table)}) overriding system value
    select ${columnsOf(table)} from ${stagedName(table)}`);
}

/** Removes the rows of the table that are staged. Returns how many there were. */
export async function removeStaged({ to }: Sides, table: MovedTable): Promise<number> {
  const isSame = ['account_id', ...table.key.map(({ name }) => name)]
    .map((column) => `t.${column} = s.${column}`)
    .join(' and ');
  const removed = await to.query(`delete from ${table.name} t using ${stagedName(table)} s where ${isSame}`);
  return removed.rowCount ?? 0;
}

/** Replaces all rows of the account in the table. */
export async function copyWhole(sides: Sides, table: MovedTable): Promise<void> {
  await sides.to.query(`delete from ${table.name} where account_id = $1`, [sides.accountId]);
  await sides.to.query(`truncate ${stagedName(table)}`);
  await stageRows(sides, table);
  await addStaged(sides, table);
}

// Triggers compute these from a change of other columns, so they are written after those.
const COMPUTED = ['generation', 'version', 'latest_score'];

/** Brings rows that others refer to up to date with the staged ones, and adds those that are missing. */
export async function updateByStaged({ to }: Sides, table: MovedTable): Promise<void> {
  const keys = ['account_id', ...table.key.map(({ name }) => name)];
  const values = table.columns.filter((column) => !keys.includes(column));
  const assigned = (columns: string[]) => columns.map((column) => `${column} = s.${column}`).join(', ');
  const isSame = keys.map((column) => `t.${column} = s.${column}`).join(' and ');
  const columns = columnsOf(table);
  await to.query(`
    insert into ${table.name} (${columns}) overriding system value
    select ${columns} from ${stagedName(table)}
    on conflict (${keys.join(', ')}) do nothing`);
  for (const part of [
    values.filter((c) => !COMPUTED.includes(c)),
    values.filter((c) => COMPUTED.includes(c)),
  ]) {
    await to.query(
      `update ${table.name} t set ${assigned(part)} from ${stagedName(table)} s where ${isSame}`,
    );
  }
}

/** How many rows of the account a table has, and how many of them a transaction since a given one may have written. */
export interface TableCount {
  rows: number;
  changed: number;
}

/** Counts the account's rows of each table in one statement. `since` null = nothing is known of changes: they are 0. */
export async function countRows(
  client: pg.ClientBase,
  accountId: number,
  tables: readonly MovedTable[],
  since: string | null,
): Promise<Map<string, TableCount>> {
  const changed = since === null ? 'false' : isChangedSince(since);
  const counts = tables.map(
    ({ name }) =>
      `select '${name}' as name, count(*) as rows, count(*) filter (where ${changed}) as changed
         from ${name} where account_id = $1`,
  );
  const { rows } = await client.query<TableCount & { name: string }>(counts.join(' union all '), [accountId]);
  return new Map(rows.map(({ name, ...count }) => [name, count]));
}

/** SQL: whether transaction `since` or a later one may have written a row. */
export function isChangedSince(since: string): string {
  return `age(xmin) <= age('${Number(since)}'::xid8::xid)`;
}
