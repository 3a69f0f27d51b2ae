import type { Command } from 'commander';
import type pg from 'pg';
import { CONTROL_ONLY, cellOfId } from '../../cells/claim-cell.ts';
import { countAccounts } from '../../cells/directory.ts';
import { accountOfThing, cellOfAccount, NAMED_BY_ID, type Subject } from '../../cells/find-cell.ts';
import type { Cell, CellPlace, Cells } from '../../cells/open-cells.ts';
import { openPool } from '../../database/connect.ts';
import { isStoreFailure } from '../../database/store-failure.ts';
import { countOf } from '../arguments.ts';
import { UsageError } from '../command.ts';

/**
 * What a command is about, by its options and arguments: `--account`, `--connection`, or the id of what its group is named
 * for. Null = all accounts, or none.
 */
function subjectOf(command: Command): Subject | null {
  const { account, connection } = command.opts<{ account?: unknown; connection?: unknown }>();
  if (typeof account === 'number') return { account };
  if (typeof connection === 'number') return { kind: 'connection', id: connection };
  const [id] = command.processedArgs;
  const group = command.parent?.name() ?? '';
  if (typeof id !== 'number') return null;
  if (group === 'account') return { account: id };
  return isNamed(group) ? { kind: group, id } : null;
}

function isNamed(group: string): group is keyof typeof NAMED_BY_ID {
  return group in NAMED_BY_ID;
}

/** The option of commands that act in one cell. */
export function addCellOption(command: Command, what: string): Command {
  return command.option('--cell <N>', what, countOf('--cell', 1, 255));
}

/** The option of commands that act on one store: a cell, or a control store that is none. */
export function addStoreOption(command: Command, what: string): Command {
  const parse = countOf('--cell', 1, 255);
  return command.option('--cell <N>', what, (text) => (text === 'control' ? CONTROL_ONLY : parse(text)));
}

/** The number of `--cell`; null = not given. */
export function cellOption(command: Command | null): number | null {
  const { cell } = command?.opts<{ cell?: number }>() ?? {};
  return cell ?? null;
}

/**
 * Opens the cell of a command's account, as the directory says, or that of `--cell`. Throws a sentence if the account is in no
 * cell, and a {@link UsageError} if the command names neither where there are several.
 */
export async function cellOfCommand(cells: Cells, command: Command | null): Promise<Cell> {
  const [first, ...others] = cells.places;
  const cellId = cellOption(command);
  if (cellId !== null) return openNamed(cells, cellId);
  if (!cells.hasDirectory || others.length === 0) return cells.open(first.id);
  const subject = command && subjectOf(command);
  if (subject === null) throw new UsageError('There are several cells: say which one with --cell.');
  return withControl(cells, (control) => cellOfSubject(cells, control, subject));
}

/** {@link cellOfCommand}, or one cell after the other if the command names no account. */
export async function* cellsOfCommand(cells: Cells, command: Command | null): AsyncGenerator<Cell> {
  if (command && subjectOf(command) !== null) yield cellOfCommand(cells, command);
  else for (const { id } of cells.places) yield cells.open(id);
}

/** Opens the cell of `--cell`, else the one with the fewest accounts among those that accept new ones. */
export async function cellForNew(cells: Cells, command: Command | null): Promise<Cell> {
  const cellId = cellOption(command);
  if (cellId !== null) return openNamed(cells, cellId);
  const [first, ...others] = cells.places;
  if (!cells.hasDirectory || others.length === 0) return cells.open(first.id);
  const counts = await withControl(cells, countAccounts);
  const emptiestFirst = cells.places
    .filter(({ acceptsNew }) => acceptsNew)
    .toSorted((one, other) => (counts.get(one.id) ?? 0) - (counts.get(other.id) ?? 0));
  const found = await firstOf(emptiestFirst, ({ id }) => cells.open(id));
  if (found) return found;
  throw new Error('No cell accepts new accounts: set accepts_new in DBVITALS_CELLS_FILE, or give --cell.');
}

function openNamed(cells: Cells, cellId: number): Promise<Cell> {
  if (cells.hasDirectory) return cells.open(cellId);
  throw new UsageError('--cell needs DBVITALS_CELLS_FILE: there is only one store.');
}

async function withControl<T>(cells: Cells, work: (control: pg.Pool) => Promise<T>): Promise<T> {
  const control = openPool(cells.control.address, 'writer', { max: 1 });
  return work(control).finally(() => control.end());
}

async function cellOfSubject(cells: Cells, control: pg.Pool, subject: Subject): Promise<Cell> {
  if ('account' in subject) return cells.open(await cellOfAccount(control, subject.account));
  // Most things are still in the cell that made them.
  const origin = cellOfId(subject.id);
  const originFirst = cells.places.toSorted(
    (one, other) => Number(other.id === origin) - Number(one.id === origin),
  );
  const found = await firstOf(originFirst, async ({ id }) => {
    const cell = await cells.open(id);
    const pool = openPool(cell.store.address, 'writer', { max: 1 });
    const account = await accountOfThing(pool, subject).finally(() => pool.end());
    // An account that was moved may have left a copy behind.
    return account !== null && (await cellOfAccount(control, account)) === id ? cell : null;
  });
  if (found) return found;
  throw new Error(`There is no ${subject.kind} ${subject.id}.`);
}

/**
 * The first result that `find` has in one of the cells; null = none. A cell that is down is passed over, and its error thrown
 * if no other one has a result.
 */
async function firstOf(
  places: readonly CellPlace[],
  find: (place: CellPlace) => Promise<Cell | null>,
): Promise<Cell | null> {
  let failure: unknown = null;
  for (const place of places) {
    try {
      const found = await find(place);
      if (found) return found;
    } catch (error) {
      if (!isStoreFailure(error)) throw error;
      failure ??= error;
    }
  }
  if (failure !== null) throw failure;
  return null;
}
