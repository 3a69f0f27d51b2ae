import type { Command } from 'commander';
import type pg from 'pg';
import { changeAccount } from '../activity/record-entry.ts';
import { recordSilence, recordSilenceEnd, type SilenceRow } from '../ops/record-silences.ts';
import { requireAccount } from './account.ts';
import { idOf, oneOf, textOf } from './arguments.ts';
import { addCommand, type CommandContext, UsageError } from './command.ts';
import { noConnection, ownerOfConnection } from './connection-row.ts';
import { printList, printOne } from './print.ts';
import { requireCheck } from './thresholds.ts';
import { untilOf } from './until.ts';

const REASONS = [
  'accepted_risk',
  'false_positive',
  'wont_fix',
  'maintenance',
] as const satisfies SilenceRow['reason'][];

type Wanted = Pick<SilenceRow, 'check_id' | 'object' | 'reason' | 'note' | 'until'>;

/** Who ends and adds silences here, as the log has it. */
const ACTOR = 'command line';

/** Silences a check of a connection, or one object of it; open tickets that it covers are resolved. */
async function addSilence(writer: pg.Pool, connectionId: number, wanted: Wanted): Promise<SilenceRow> {
  const accountId = await ownerOfConnection(writer, connectionId);
  return changeAccount(writer, accountId, async ({ client, at, record }) => {
    await requireWatched(client, accountId, connectionId);
    const { silence, entries } = await recordSilence(client, { accountId, connectionId, at }, wanted);
    record('silence_added', pageOf(silence), propertiesOf(silence));
    for (const entry of entries) record(entry.actionType, entry.pagePath, entry.properties);
    return silence;
  });
}

const lockConnection = `
  select from connection
   where account_id = $1 and connection_id = $2 and removed_at is null
     for update`;

async function requireWatched(client: pg.ClientBase, accountId: number, connectionId: number): Promise<void> {
  const { rowCount } = await client.query(lockConnection, [accountId, connectionId]);
  if (rowCount === 0) throw noConnection(connectionId);
}

const ownerOfSilence = 'select account_id from silence where silence_id = $1';

/** Ends a silence: what it covered is found again at the next run. Throws when it is not in force. */
async function endSilence(writer: pg.Pool, silenceId: number): Promise<SilenceRow> {
  const none = new Error(`There is no silence ${silenceId} in force: see "silence list".`);
  const { rows } = await writer.query<{ account_id: number }>(ownerOfSilence, [silenceId]);
  const [owner] = rows;
  if (!owner) throw none;
  return changeAccount(writer, owner.account_id, async ({ accountId, client, at, record }) => {
    const silence = await recordSilenceEnd(client, { accountId, silenceId, at });
    if (!silence) throw none;
    record('silence_ended', pageOf(silence), propertiesOf(silence));
    return silence;
  });
}

const list = `
  select s.silence_id as id, s.connection_id, s.check_id, s.object, s.reason, s.note, s.created_at,
         s.ends_at as until
    from silence s
    join connection c using (account_id, connection_id)
   where s.account_id = $1
     and ($2::bigint is null or s.connection_id = $2)
     and (s.ends_at is null or s.ends_at > clock_timestamp())
     and c.removed_at is null
   order by s.silence_id`;

/** The silences in force of an account, or of one connection of it. */
async function listSilences(
  writer: pg.Pool,
  { account, connection }: { account?: number; connection?: number },
): Promise<SilenceRow[]> {
  if (account !== undefined) await requireAccount(writer, account);
  const accountId = connection === undefined ? account : await ownerOfConnection(writer, connection);
  return (await writer.query<SilenceRow>(list, [accountId, connection])).rows;
}

function pageOf({ connection_id }: SilenceRow): string {
  return `/settings/connections/${connection_id}`;
}

function propertiesOf({ id, connection_id, check_id, object, reason, note, until }: SilenceRow) {
  return { silence_id: id, connection_id, check_id, object, reason, note, until, actor: ACTOR };
}

const COLUMNS = ['id', 'connection_id', 'check_id', 'object', 'reason', 'until', 'note'];

/** `silence add`, `silence list`, `silence end`. */
export function addSilenceCommands(program: Command, context: CommandContext): void {
  const group = program.command('silence').description('findings to live with for a while');

  addCommand(group, 'add', 'silence a check: its findings stay listed, weigh nothing and open no ticket')
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .requiredOption('--check <CHECK_ID>', 'the check, such as PG_DEAD_TUPLES')
    .option('--object <O>', 'only this object, as its finding names it (default: all)', textOf('--object'))
    .requiredOption('--reason <R>', REASONS.join(', '), oneOf('--reason', REASONS))
    .requiredOption('--note <S>', 'why, for those who come later', textOf('--note'))
    .option(
      '--until <T>',
      'when it ends: a date, a date-time or a duration (default: never)',
      untilOf('--until'),
    )
    .action(async ({ connection, json, ...options }: AddOptions) => {
      const { checks } = await context.loadCatalogue();
      const { id: check_id } = requireCheck(options.check.toUpperCase(), checks);
      const { object = null, reason, note, until = null } = options;
      const wanted = { check_id, object, reason, note, until };
      printOne(json, await context.withStore((writer) => addSilence(writer, connection, wanted)));
    });

  addCommand(group, 'list', 'list the silences in force')
    .option('--connection <ID>', 'of this connection', idOf('--connection'))
    .option('--account <ID>', 'of this account', idOf('--account'))
    .action(async ({ json, ...of }: { account?: number; connection?: number; json?: boolean }) => {
      if (Object.keys(of).length !== 1) throw new UsageError('Give either --connection or --account.');
      printList(json, await context.withStore((writer) => listSilences(writer, of)), COLUMNS);
    });

  addCommand(group, 'end', 'end a silence: what it covers may open tickets again')
    .argument('<ID>', 'the silence', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      printOne(json, await context.withStore((writer) => endSilence(writer, id)));
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
