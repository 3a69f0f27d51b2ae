import type { Command } from 'commander';
import type pg from 'pg';
import { requireAccount } from '../../accounts/account-row.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { isOwnCheckId } from '../../checks/own/own-check.ts';
import { ownerOfConnection } from '../../connections/connection-row.ts';
import { requireCheck } from '../../connections/connection-thresholds.ts';
import { addSilence, type WantedSilence } from '../../tickets/silences/add-silence.ts';
import { endSilence } from '../../tickets/silences/end-silence.ts';
import { silencesInForce } from '../../tickets/silences/list-silences.ts';
import { accountOfSilence, REASONS, type SilenceRow } from '../../tickets/silences/silence-row.ts';
import { untilOf } from '../../tickets/silences/until.ts';
import { idOf, oneOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';

/** The actor of these commands in the log. */
export const COMMAND_LINE = { actor: 'command line' };

async function addSilenceTo(
  writer: pg.Pool,
  connectionId: number,
  wanted: WantedSilence,
): Promise<SilenceRow> {
  const accountId = await ownerOfConnection(writer, connectionId);
  return addSilence((work) => changeAccount(writer, accountId, work), connectionId, wanted, COMMAND_LINE);
}

async function endSilenceOf(writer: pg.Pool, silenceId: number): Promise<SilenceRow> {
  const accountId = await accountOfSilence(writer, silenceId);
  return endSilence((work) => changeAccount(writer, accountId, work), silenceId, COMMAND_LINE);
}

async function listSilencesOf(
  writer: pg.Pool,
  { account, connection }: { account?: number; connection?: number },
): Promise<SilenceRow[]> {
  if (account !== undefined) await requireAccount(writer, account);
  const accountId = connection === undefined ? account : await ownerOfConnection(writer, connection);
  return (await writer.query<SilenceRow>(silencesInForce, [accountId, connection])).rows;
}

const COLUMNS = ['id', 'connection_id', 'check_id', 'object', 'reason', 'until', 'note'];

/** `silence add`, `silence list`, `silence end`. */
export function addSilenceCommands(program: Command, context: CommandContext): void {
  const group = program.command('silence').description('silence findings');

  addCommand(
    group,
    'add',
    'silence a check: its findings stay listed, but do not lower the score or open tickets',
  )
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .requiredOption('--check <CHECK_ID>', 'the check, such as PG_DEAD_TUPLES')
    .option(
      '--object <O>',
      'silence only this object, named as in the finding (default: all objects)',
      textOf('--object'),
    )
    .requiredOption('--reason <R>', REASONS.join(', '), oneOf('--reason', REASONS))
    .requiredOption('--note <S>', 'the explanation for your team', textOf('--note'))
    .option(
      '--until <T>',
      'when the silence ends: a date, a date-time or a duration (default: never)',
      untilOf('--until'),
    )
    .action(async ({ connection, json, ...options }: AddOptions) => {
      const check_id = options.check.toUpperCase();
      if (!isOwnCheckId(check_id)) requireCheck(check_id, (await context.loadCatalogue()).checks);
      const { object = null, reason, note, until = null } = options;
      const wanted = { check_id, object, reason, note, until };
      printOne(json, await context.withStore((writer) => addSilenceTo(writer, connection, wanted)));
    });

  addCommand(group, 'list', 'list the active silences')
    .option('--connection <ID>', 'silences of this connection', idOf('--connection'))
    .option('--account <ID>', 'silences of this account', idOf('--account'))
    .action(async ({ json, ...of }: { account?: number; connection?: number; json?: boolean }) => {
      if (Object.keys(of).length !== 1) throw new UsageError('Give either --connection or --account.');
      const listed = await context.withEachStore((writer) => listSilencesOf(writer, of));
      printList(json, listed.flat(), COLUMNS);
    });

  addCommand(group, 'end', 'end a silence: its findings can open tickets again')
    .argument('<ID>', 'the silence', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      printOne(json, await context.withStore((writer) => endSilenceOf(writer, id)));
    });
}

interface AddOptions {
  connection: number;
  check: string;
  object?: string;
  reason: (typeof REASONS)[number];
  note: string;
  until?: Date;
  json?: boolean;
}
