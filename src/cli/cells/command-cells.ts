import type { Command } from 'commander';
import { chooseCell, chooseEmptiestCell } from '../../store/directory/choose-cell.ts';
import { CONTROL_ONLY } from '../../store/directory/claim-cell.ts';
import { NAMED_BY_ID, type Subject } from '../../store/directory/find-cell.ts';
import type { Cell, Cells } from '../../store/directory/open-cells.ts';
import { requireNamedCells } from '../../store/directory/require-named-cells.ts';
import { countOf } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';

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
  const named = await openNamed(cells, command);
  if (named) return named;
  const found = await chooseCell(cells, command && subjectOf(command));
  if (found) return found;
  throw new UsageError('There are several cells: say which one with --cell.');
}

/** {@link cellOfCommand}, or one cell after the other if the command names no account. Throws a sentence if the settings lack one. */
export async function* cellsOfCommand(cells: Cells, command: Command | null): AsyncGenerator<Cell> {
  if (command && subjectOf(command) !== null) yield cellOfCommand(cells, command);
  else {
    const ids = cells.places.map(({ id }) => id);
    // Else the command would be about some accounts, and seem to be about all.
    if (cells.directory) await requireNamedCells(cells.directory.address, ids);
    for (const id of ids) yield cells.open(id);
  }
}

/** Opens the cell of `--cell`, else the one with the fewest accounts among those that accept new ones. */
export async function cellForNew(cells: Cells, command: Command | null): Promise<Cell> {
  return (await openNamed(cells, command)) ?? chooseEmptiestCell(cells);
}

/** Opens the cell of `--cell`; null = the option is not given. */
async function openNamed(cells: Cells, command: Command | null): Promise<Cell | null> {
  const cellId = cellOption(command);
  if (cellId === null) return null;
  if (cells.directory) return cells.open(cellId);
  throw new UsageError('--cell needs DBVITALS_CELLS_FILE: there is only one store.');
}
