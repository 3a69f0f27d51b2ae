import type { Command } from 'commander';
import type pg from 'pg';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import {
  DELIVERY_STATES,
  type DeliveryState,
  listDeliveries,
} from '../../notifications/deliveries/list-deliveries.ts';
import { ENDED_STATES, type EndedState } from '../../notifications/deliveries/resend.ts';
import { resendDeliveries, resendOneDelivery } from '../../notifications/deliveries/resend-deliveries.ts';
import { accountOfDestination } from '../../notifications/destinations/destination-row.ts';
import { rotateSigningSecret } from '../../notifications/destinations/rotate-signing-secret.ts';
import { sendDigest, testDestination } from '../../notifications/destinations/test-destination.ts';
import { within } from '../../store/read.ts';
import { EVENT_KINDS, type EventKind } from '../../vocabulary/event-kinds.ts';
import { countOf, idOf, oneOf, someOf, timeOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';

const COLUMNS = ['id', 'queued_at', 'kind', 'sequence', 'state', 'attempts', 'status', 'result', 'title'];

/** Runs `work` as a change of the destination's account. */
export async function changeDestinationOf<T>(
  writer: pg.Pool,
  id: number,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  return changeAccount(writer, await accountOfDestination(writer, id), work);
}

/** `destination test`, `send-digest`, `deliveries`, `resend` and `rotate-secret`. */
export function addDeliveryCommands(group: Command, context: CommandContext): void {
  addSendCommand(group, context, testDestination, {
    name: 'test',
    description: 'send a test message by the running service, and show the answer',
  });
  addSendCommand(group, context, sendDigest, {
    name: 'send-digest',
    description: 'send the digest now by the running service, and show the answer; its schedule stays',
  });
  addDeliveriesCommand(group, context);
  addResendCommand(group, context);
  addRotateSecretCommand(group, context);
}

function addSendCommand(
  group: Command,
  context: CommandContext,
  sendTo: typeof testDestination,
  { name, description }: { name: string; description: string },
): void {
  addCommand(group, name, description)
    .argument('<ID>', 'the destination', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      const result = await context.withStore(async (writer) => {
        const accountId = await accountOfDestination(writer, id);
        return sendTo((work) => changeAccount(writer, accountId, work), writer, id);
      });
      printOne(json, result);
      if (result.accepted !== true) process.exitCode = 1;
    });
}

function addDeliveriesCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'deliveries', 'list the deliveries of a destination, the newest first')
    .argument('<ID>', 'the destination', idOf('ID'))
    .option('--state <S>', DELIVERY_STATES.join(', '), oneOf('--state', DELIVERY_STATES))
    .option('--kind <K>', 'the kind of event, such as alert.triggered', oneOf('--kind', EVENT_KINDS))
    .option('--before <ID>', 'deliveries before this one, for the next page', idOf('--before'))
    .option('--limit <N>', 'how many, 1 to 1000', countOf('--limit', 1, 1_000), 50)
    .action(async (id: number, { json, ...filter }: ListOptions) => {
      const rows = await context.withStore(async (writer) => {
        const accountId = await accountOfDestination(writer, id);
        return listDeliveries(within(writer), accountId, id, filter);
      });
      printList(json, rows, COLUMNS);
    });
}

function addResendCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'resend', 'send deliveries again: the same events with the same ids')
    .argument('<ID>', 'the destination', idOf('ID'))
    .option('--delivery <ID>', 'only this delivery', idOf('--delivery'))
    .option(
      '--from <T>',
      'those queued since: a date, a date-time or a duration ago',
      timeOf('--from', 'start'),
    )
    .option('--to <T>', 'those queued until (default: now)', timeOf('--to', 'end'))
    .option(
      '--state <S>',
      `how they ended, may be repeated: ${ENDED_STATES.join(', ')} (default: given_up)`,
      someOf('--state', ENDED_STATES),
    )
    .action(async (id: number, { delivery, from, to, state, json }: ResendOptions) => {
      if ((delivery === undefined) === (from === undefined))
        throw new UsageError('Give either --delivery or --from.');
      const queued = await context.withStore((writer) =>
        changeDestinationOf(writer, id, async (change) => {
          if (from === undefined) {
            await resendOneDelivery(change, delivery ?? 0, id);
            return 1;
          }
          const range = { from, to: to ?? new Date(), states: state ?? (['given_up'] as const) };
          return resendDeliveries(change, id, range);
        }),
      );
      printOne(json, { queued });
    });
}

function addRotateSecretCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'rotate-secret', 'make a new signing secret for a webhook; it is shown only once')
    .argument('<ID>', 'the destination', idOf('ID'))
    .option('--end-old', 'end the old secret at once (default: it signs too for 24 hours)')
    .action(async (id: number, { endOld = false, json }: { endOld?: boolean; json?: boolean }) => {
      const rotated = await context.withStore(async (writer, openOwner) => {
        const secret = await context.openSecret(writer, openOwner);
        return changeDestinationOf(writer, id, (change) =>
          rotateSigningSecret(change, secret, id, { endOld }),
        );
      });
      printOne(json, rotated);
      if (!json) process.stdout.write('\nKeep the signing secret like a password: it is shown only once.\n');
    });
}

interface ListOptions {
  state?: DeliveryState;
  kind?: EventKind;
  before?: number;
  limit: number;
  json?: boolean;
}

interface ResendOptions {
  delivery?: number;
  from?: Date;
  to?: Date;
  state?: EndedState[];
  json?: boolean;
}
