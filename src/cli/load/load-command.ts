import type { Command } from 'commander';
import { LOAD_DIMENSIONS, listLoad } from '../../runs/load/list-load.ts';
import { LOAD_DIMENSION_NAMES, type LoadDimension } from '../../vocabulary/load-dimensions.ts';
import { oneOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { readConnectionData } from '../commands/measure-command.ts';
import { printList } from '../print.ts';
import { addRangeOptions, type RangeOptions, readRange } from '../range-options.ts';

const LISTED = { things: 'parts', limit: { usual: 10, most: 100 }, days: 1 } as const;

/** `load list`. */
export function addLoadCommands(program: Command, context: CommandContext): void {
  const group = program.command('load').description('what the sessions of a watched server did');

  addRangeOptions(
    addCommand(
      group,
      'list',
      'list the average number of active sessions of a connection, and of those idle in a transaction, by what they waited for, ran or were',
    ).option(
      '--by <D>',
      `by ${LOAD_DIMENSION_NAMES.join(', ')} (default: wait)`,
      oneOf('--by', LOAD_DIMENSION_NAMES),
    ),
    LISTED,
  ).action(async ({ json, by = 'wait', ...options }: ListOptions) => {
    const range = readRange(options, LISTED);
    const parts = await context.withStore((writer) =>
      readConnectionData(writer, options.connection, (read, accountId) =>
        listLoad(read, accountId, options.connection, by, range),
      ),
    );
    if (json) return printList(json, parts, []);
    const rows = parts.map((part) => ({
      ...part,
      state: part.state ?? 'others',
      wait: part.wait === '' ? 'running' : part.wait,
      sessions: part.sessions.toFixed(2),
    }));
    printList(json, rows, ['sessions', 'state', ...LOAD_DIMENSIONS[by]]);
  });
}

interface ListOptions extends RangeOptions {
  by?: LoadDimension;
  json?: boolean;
}
