import type { Command } from 'commander';
import { listChanges } from '../../changes/list-changes.ts';
import { countOf, idOf, timeOf } from '../arguments.ts';
import { addCommand, type CommandContext, UsageError } from '../command.ts';
import { printList } from '../print.ts';
import { readConnectionData } from './measure-command.ts';

const DAY_MS = 86_400_000;
const COLUMNS = ['at', 'kind', 'database', 'subject', 'before', 'after', 'source'];

/** `changes list`. */
export function addChangeCommands(program: Command, context: CommandContext): void {
  const group = program.command('changes').description('what changed on a watched server');

  addCommand(
    group,
    'list',
    'list the changes of a connection, newest first: settings, versions, schema, findings',
  )
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .option(
      '--from <T>',
      'from a date, a date-time, or a duration ago such as 7d (default: a day before --to)',
      timeOf('--from', 'start'),
    )
    .option('--to <T>', 'to a date, a date-time, or a duration ago (default: now)', timeOf('--to', 'end'))
    .option(
      '--limit <N>',
      'at most so many changes, 1 to 10000 (default: 100)',
      countOf('--limit', 1, 10_000),
    )
    .action(async ({ connection, json, limit = 100, to = new Date(), from }: ListOptions) => {
      const range = { from: from ?? new Date(to.getTime() - DAY_MS), to, limit };
      if (range.from > to) throw new UsageError('--from must not be later than --to.');
      const changes = await context.withStore((writer) =>
        readConnectionData(writer, connection, (read, accountId) =>
          listChanges(read, accountId, connection, range),
        ),
      );
      printList(json, changes, COLUMNS);
    });
}

interface ListOptions {
  connection: number;
  from?: Date;
  to?: Date;
  limit?: number;
  json?: boolean;
}
