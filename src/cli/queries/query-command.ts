import type { Command } from 'commander';
import { changeAccount } from '../../activity/record-entry.ts';
import { ownerOfConnection } from '../../connections/connection-row.ts';
import { listQueries } from '../../queries/list-queries.ts';
import { readQueryText } from '../../queries/read-query-text.ts';
import { countOf, idOf, textOf, timeOf } from '../arguments.ts';
import { addCommand, type CommandContext, UsageError } from '../command.ts';
import { readConnectionData } from '../commands/measure-command.ts';
import { COMMAND_LINE } from '../commands/silence-command.ts';
import { printList, printOne } from '../print.ts';

const DAY_MS = 86_400_000;
const COLUMNS = [
  ...['query', 'database', 'role', 'calls', 'seconds', 'mean_ms'],
  ...['rows', 'read', 'hit', 'temporary'],
];

/** `queries list`, `queries text`. */
export function addQueryCommands(program: Command, context: CommandContext): void {
  const group = program.command('queries').description('what the queries of a watched server did');

  addCommand(group, 'list', 'list the queries of a connection by their time: calls, rows, reads, by id')
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .option(
      '--from <T>',
      'from a date, a date-time, or a duration ago such as 7d (default: a day before --to)',
      timeOf('--from', 'start'),
    )
    .option('--to <T>', 'to a date, a date-time, or a duration ago (default: now)', timeOf('--to', 'end'))
    .option('--limit <N>', 'at most so many queries, 1 to 1000 (default: 20)', countOf('--limit', 1, 1_000))
    .action(async ({ connection, json, limit = 20, to = new Date(), from }: ListOptions) => {
      const range = { from: from ?? new Date(to.getTime() - DAY_MS), to, limit };
      if (range.from > to) throw new UsageError('--from must not be later than --to.');
      const { queries } = await context.withStore((writer) =>
        readConnectionData(writer, connection, (read, accountId) =>
          listQueries(read, accountId, connection, range),
        ),
      );
      const rows = queries.map((one) => ({
        ...one,
        seconds: Number(one.seconds.toFixed(3)),
        mean_ms: Number(((one.seconds / one.calls) * 1_000).toPrecision(3)),
      }));
      printList(json, rows, COLUMNS);
    });

  addCommand(group, 'text', 'show the text of a query, where texts are stored; the log records it')
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .requiredOption('--query <ID>', 'the query, as "queries list" has it', textOf('--query'))
    .action(async ({ connection, query, json }: TextOptions) => {
      const text = await context.withStore(async (writer) => {
        const accountId = await ownerOfConnection(writer, connection);
        return readQueryText(
          (work) => changeAccount(writer, accountId, work),
          connection,
          query,
          COMMAND_LINE,
        );
      });
      if (text === null)
        throw new Error(
          `No text of this query is stored. "connection change ${connection} --query-texts yes" stores texts from the next run on.`,
        );
      printOne(json, { query, text });
    });
}

interface ListOptions {
  connection: number;
  from?: Date;
  to?: Date;
  limit?: number;
  json?: boolean;
}

interface TextOptions {
  connection: number;
  query: string;
  json?: boolean;
}
