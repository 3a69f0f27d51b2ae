import type { Command } from 'commander';
import type pg from 'pg';
import { requireAccount } from '../../accounts/account-row.ts';
import { type Change, type ChangeAccount, changeAccount } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { untilOf } from '../../tickets/silences/until.ts';
import { addComment } from '../../tickets/triage/add-comment.ts';
import { changeTriage, type WantedTriage } from '../../tickets/triage/change-triage.ts';
import { readTriage } from '../../tickets/triage/triage-row.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { MOST_TICKETS, TICKET_LISTS, type TicketListName } from '../../vocabulary/ticket-lists.ts';
import { countOf, idOf, oneOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { COMMAND_LINE } from '../commands/silence-command.ts';
import { printList, printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';
import { type ListOptions, listedTickets, shownTicket } from './listed-tickets.ts';
import { memberOf } from './ticket-member.ts';

const COLUMNS = ['id', 'severity', 'state', 'connection', 'title', 'object', 'measured', 'assignee', 'since'];

const STATUSES = Object.keys(TICKET_LISTS) as TicketListName[];

/** `ticket list`, `ticket assign`, `ticket acknowledge`, `ticket unacknowledge`, `ticket snooze`, `ticket comment`. */
export function addTicketCommands(program: Command, context: CommandContext): void {
  const group = program
    .command('ticket')
    .description('list tickets, and say who works on them and who has seen them');

  addCommand(group, 'list', 'list the tickets of an account, the newest first')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .option('--status <S>', `${STATUSES.join(', ')} (default: open)`, oneOf('--status', STATUSES))
    .option('--severity <S>', SEVERITIES.join(', '), oneOf('--severity', SEVERITIES))
    .option('--connection <ID>', 'tickets of this connection', idOf('--connection'))
    .option('--assignee <M>', 'tickets of this member (id or e-mail address), or of nobody')
    .option('--limit <N>', 'how many, 1 to 1000 (default: 100)', countOf('--limit', 1, MOST_TICKETS))
    .action(async ({ json, ...options }: ListOptions & { json?: boolean }) => {
      const { tickets, total } = await context.withStore((writer) => listedTickets(writer, options));
      printList(json, json ? tickets : tickets.map(shownTicket), COLUMNS);
      if (!json && total > tickets.length) {
        process.stderr.write(`${tickets.length} of ${total} tickets: give --limit or a filter for others.\n`);
      }
    });

  addTriageCommands(group, context);
  addCommentCommand(group, context);
}

/** The commands that change who works on tickets, and who has seen them. */
function addTriageCommands(group: Command, context: CommandContext): void {
  const addChange = (name: string, description: string) =>
    addCommand(group, name, description)
      .argument('<ID...>', `the tickets, at most ${MOST_TICKETS}`, idsOf)
      .requiredOption('--account <ID>', 'the account', idOf('--account'));

  const run = async (
    ids: readonly number[],
    { account, json }: ChangeOptions,
    wantedOf: (change: Change) => Promise<WantedTriage>,
  ) => {
    const changed = await context.withStore((writer) => changeTickets(writer, account, ids, wantedOf));
    printOne(json, { changed });
  };

  addChange('assign', 'assign open tickets to a member, or to nobody')
    .requiredOption('--to <M>', 'an active member (id or e-mail address), or nobody')
    .action((ids: number[], { to, ...options }: ChangeOptions & { to: string }) =>
      run(ids, options, async (change) => ({ assignee_id: await memberOf(change, to) })),
    );

  addChange('acknowledge', 'acknowledge open tickets until they are resolved or get worse').action(
    (ids: number[], options: ChangeOptions) =>
      run(ids, options, async () => ({ acknowledged: { until: null } })),
  );

  addChange('unacknowledge', 'take back an acknowledgement or a snooze: the tickets are new again').action(
    (ids: number[], options: ChangeOptions) => run(ids, options, async () => ({ acknowledged: false })),
  );

  addChange('snooze', 'acknowledge open tickets, and list them as open again at a time')
    .requiredOption(
      '--until <T>',
      'when the snooze ends: a date, a date-time or a duration',
      untilOf('--until'),
    )
    .action((ids: number[], { until, ...options }: ChangeOptions & { until: Date }) =>
      run(ids, options, async () => ({ acknowledged: { until } })),
    );
}

function addCommentCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'comment', 'comment on a ticket; @ and the name of a member mentions them')
    .argument('<ID>', 'the ticket', idOf('ID'))
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .requiredOption('--text <S>', 'the comment, plain text')
    .action(async (id: number, { account, text, json }: ChangeOptions & { text: string }) => {
      const comment = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return addComment(asOperator(writer, account), id, { authorId: null, text }).catch(
          namedFor(account, [id]),
        );
      });
      printOne(json, comment);
    });
}

interface ChangeOptions {
  account: number;
  json?: boolean;
}

function idsOf(text: string, before: readonly number[] = []): readonly number[] {
  const ids = [...new Set([...before, idOf('ID')(text)])];
  if (ids.length <= MOST_TICKETS) return ids;
  throw new UsageError(`Give at most ${MOST_TICKETS} tickets.`);
}

/** Changes of the account whose entries name the command line. */
function asOperator(writer: pg.Pool, account: number): ChangeAccount {
  return (work) =>
    changeAccount(writer, account, (change) =>
      work({
        ...change,
        record: (type, page, properties) => change.record(type, page, { ...properties, ...COMMAND_LINE }),
      }),
    );
}

/** Changes all of the tickets or none, whatever their versions. Returns the ids of those that were not so already. */
async function changeTickets(
  writer: pg.Pool,
  account: number,
  ids: readonly number[],
  wantedOf: (change: Change) => Promise<WantedTriage>,
): Promise<number[]> {
  await requireAccount(writer, account);
  return asOperator(
    writer,
    account,
  )(async (change) => {
    const asked = ids.map((id) => ({ id, version: 0 }));
    const rows = await readTriage(change, asked).catch(namedFor(account, ids));
    const seen = rows.map(({ ticket_id: id, version }) => ({ id, version }));
    const { changed, skipped } = await changeTriage((work) => work(change), seen, await wantedOf(change));
    const [resolved] = skipped;
    if (resolved) {
      throw new Rejection('conflict', `Ticket ${resolved.id} is resolved: give open tickets only.`);
    }
    return changed.map(({ id }) => id).sort((a, b) => a - b);
  });
}

/** Says which account does not have the tickets. */
function namedFor(account: number, ids: readonly number[]): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Rejection) || error.code !== 'not_found') throw error;
    const what = ids.length === 1 ? `has no ticket ${ids[0]}` : 'does not have all of these tickets';
    throw new Rejection('not_found', `Account ${account} ${what}: see "ticket list --status all".`);
  };
}
