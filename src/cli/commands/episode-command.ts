import type { Command } from 'commander';
import { listDeadlocks } from '../../runs/episodes/deadlock.ts';
import { listEpisodes } from '../../runs/episodes/list-episodes.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList } from '../print.ts';
import { addRangeOptions, type RangeOptions, readRange } from '../range-options.ts';
import { readConnectionData } from './measure-command.ts';

const LISTED = { things: 'episodes', limit: { usual: 100, most: 1_000 }, days: 7 } as const;
const COLUMNS = [
  'began_at',
  'ended_at',
  'database',
  'role',
  'application',
  'most_sessions',
  'longest_seconds',
  'lost_seconds',
];

/** `episodes list`, `episodes deadlocks`. */
export function addEpisodeCommands(program: Command, context: CommandContext): void {
  const group = program.command('episodes').description('when sessions of a watched server blocked others');

  addRangeOptions(
    addCommand(
      group,
      'list',
      'list the blocking episodes of a connection, newest first; --json has who waited for whom',
    ),
    LISTED,
  ).action(async ({ json, ...options }: ListOptions) => {
    const range = readRange(options, LISTED);
    const episodes = await context.withStore((writer) =>
      readConnectionData(writer, options.connection, (read, accountId) =>
        listEpisodes(read, accountId, options.connection, range),
      ),
    );
    printList(json, episodes, COLUMNS);
  });

  addRangeOptions(
    addCommand(
      group,
      'deadlocks',
      'list the deadlocks of a connection of MySQL or MariaDB, newest first: the last of each minute at most',
    ),
    { ...LISTED, things: 'deadlocks' },
  ).action(async ({ json, ...options }: ListOptions) => {
    const range = readRange(options, LISTED);
    const deadlocks = await context.withStore((writer) =>
      readConnectionData(writer, options.connection, (read, accountId) =>
        listDeadlocks(read, accountId, options.connection, range),
      ),
    );
    if (json) return printList(json, deadlocks, []);
    const rows = deadlocks.flatMap(({ at, transactions }) =>
      transactions.map(({ command, tables, digest, is_victim }) => ({
        at,
        rolled_back: is_victim ? 'yes' : 'no',
        command,
        tables,
        digest,
      })),
    );
    printList(json, rows, ['at', 'rolled_back', 'command', 'tables', 'digest']);
  });
}

interface ListOptions extends RangeOptions {
  json?: boolean;
}
