import type { Command } from 'commander';
import { countOf, idOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';

interface MoveOptions {
  to?: number;
  undo?: boolean;
  forget?: boolean;
  json?: boolean;
}

/** `account move`. */
export function addAccountMoveCommand(group: Command, context: CommandContext): void {
  addCommand(
    group,
    'move',
    'move an account to another cell while it is in use; the same command finishes a move that was interrupted',
  )
    .argument('<ID>', 'the account', idOf('ID'))
    .option('--to <CELL>', 'the cell to move it to', countOf('--to', 1, 255))
    .option('--undo', 'undo a move that is not complete: the account stays in its cell')
    .option('--forget', 'remove the copy that the account left in another cell')
    .action(async (id: number, { to, undo, forget, json }: MoveOptions) => {
      const given = [to !== undefined, undo, forget].filter(Boolean).length;
      if (given !== 1) throw new UsageError('Give one of --to, --undo and --forget.');
      const step = (text: string) => {
        if (!json) process.stderr.write(`${text}\n`);
      };
      printOne(
        json,
        await context.withCells(async (cells) => {
          if (to !== undefined) {
            const { moveAccount } = await import('../../store/directory/move/move-account.ts');
            return moveAccount({ ...cells, step }, id, to);
          }
          const { forgetCopies, undoMove } = await import('../../store/directory/move/undo/undo-move.ts');
          return undo ? undoMove({ ...cells, step }, id) : forgetCopies({ ...cells, step }, id);
        }),
      );
    });
}
