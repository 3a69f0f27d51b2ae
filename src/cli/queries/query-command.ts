import type { Command } from 'commander';
import { changeAccount } from '../../activity/record-entry.ts';
import { ownerOfConnection } from '../../connections/connection-row.ts';
import { listQueries } from '../../runs/queries/list-queries.ts';
import { readQueryTexts } from '../../runs/queries/read-query-texts.ts';
import { idOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { readConnectionData } from '../commands/measure-command.ts';
import { COMMAND_LINE } from '../commands/silence-command.ts';
import { printList, printOne } from '../print.ts';
import { addRangeOptions, type RangeOptions, readRange } from '../range-options.ts';

const LISTED = { things: 'queries', limit: { usual: 20, most: 1_000 }, days: 1 } as const;
const COLUMNS = [
  'query',
  'database',
  'role',
  'calls',
  'seconds',
  'mean_ms',
  'rows',
  'read',
  'hit',
  'temporary',
];

/** `queries list`, `queries text`. */
export function addQueryCommands(program: Command, context: CommandContext): void {
  const group = program.command('queries').description('what the queries of a watched server did');

  addRangeOptions(
    addCommand(group, 'list', 'list the queries of a connection by their time: calls, rows, reads, by id'),
    LISTED,
  ).action(async ({ json, ...options }: ListOptions) => {
    const range = readRange(options, LISTED);
    const { queries } = await context.withStore((writer) =>
      readConnectionData(writer, options.connection, (read, accountId) =>
        listQueries(read, accountId, options.connection, range),
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
      const [found] = await context.withStore(async (writer) => {
        const accountId = await ownerOfConnection(writer, connection);
        return readQueryTexts(
          (work) => changeAccount(writer, accountId, work),
          connection,
          [query],
          COMMAND_LINE,
        );
      });
      if (!found)
        throw new Error(
          `No text of this query is stored. "connection change ${connection} --query-texts yes" stores texts from the next run on.`,
        );
      printOne(json, { query, text: found.text });
    });
}

interface ListOptions extends RangeOptions {
  json?: boolean;
}

interface TextOptions {
  connection: number;
  query: string;
  json?: boolean;
}
