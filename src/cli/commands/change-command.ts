import type { Command } from 'commander';
import { showChange } from '../../runs/changes/connection-change.ts';
import { listChanges } from '../../runs/changes/list-changes.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList } from '../print.ts';
import { addRangeOptions, type RangeOptions, readRange } from '../range-options.ts';
import { readConnectionData } from './measure-command.ts';

const LISTED = { things: 'changes', limit: { usual: 100, most: 10_000 }, days: 1 } as const;
const COLUMNS = ['at', 'kind', 'database', 'subject', 'before', 'after', 'source'];

/** `changes list`. */
export function addChangeCommands(program: Command, context: CommandContext): void {
  const group = program.command('changes').description('what changed on a watched server');

  addRangeOptions(
    addCommand(
      group,
      'list',
      'list the changes of a connection, newest first: settings, versions, schema, findings',
    ),
    LISTED,
  ).action(async ({ json, ...options }: ListOptions) => {
    const range = readRange(options, LISTED);
    const changes = await context.withStore((writer) =>
      readConnectionData(writer, options.connection, (read, accountId) =>
        listChanges(read, accountId, options.connection, range),
      ),
    );
    printList(json, changes.map(showChange), COLUMNS);
  });
}

interface ListOptions extends RangeOptions {
  json?: boolean;
}
