import type { Command } from 'commander';
import { countOf, idOf, timeOf } from './arguments.ts';
import { UsageError } from './usage-error.ts';

const DAY_MS = 86_400_000;

/** What a command lists of a connection, and how much of it. */
interface Listed {
  /** Such as `queries`. */
  things: string;
  /** How many are listed without --limit, and at most. */
  limit: { usual: number; most: number };
  /** How far the list goes back without --from. */
  days: 1 | 7;
}

/** The options of {@link addRangeOptions} as they are given. */
export interface RangeOptions {
  connection: number;
  from?: Date;
  to?: Date;
  limit?: number;
}

/** Adds `--connection`, `--from`, `--to` and `--limit` to a command that lists what happened to a connection. */
export function addRangeOptions(command: Command, { things, limit, days }: Listed): Command {
  const back = days === 1 ? 'a day' : `${days} days`;
  return command
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .option(
      '--from <T>',
      `from a date, a date-time, or a duration ago such as 7d (default: ${back} before --to)`,
      timeOf('--from', 'start'),
    )
    .option('--to <T>', 'to a date, a date-time, or a duration ago (default: now)', timeOf('--to', 'end'))
    .option(
      '--limit <N>',
      `at most so many ${things}, 1 to ${limit.most} (default: ${limit.usual})`,
      countOf('--limit', 1, limit.most),
    );
}

/** The range that the options name. Throws a {@link UsageError} if it ends before it begins. */
export function readRange(
  { from, to = new Date(), limit }: RangeOptions,
  listed: Listed,
): { from: Date; to: Date; limit: number } {
  const start = from ?? new Date(to.getTime() - listed.days * DAY_MS);
  if (start > to) throw new UsageError('--from must not be later than --to.');
  return { from: start, to, limit: limit ?? listed.limit.usual };
}
