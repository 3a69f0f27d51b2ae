import type { Command } from 'commander';
import type pg from 'pg';
import { requireAccount } from '../../accounts/account-row.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import {
  enableAllDestinations,
  enableDestination,
  MISSED,
  type Missed,
} from '../../notifications/deliveries/enable-destination.ts';
import { addDestination } from '../../notifications/destinations/add-destination.ts';
import { changeDestination } from '../../notifications/destinations/change-destination.ts';
import {
  HEARTBEAT_METHODS,
  type HeartbeatMethod,
  SIGNATURES,
  type SignatureKind,
} from '../../notifications/destinations/destination-input.ts';
import {
  accountOfDestination,
  type DestinationRow,
  listDestinations,
  readDestination,
} from '../../notifications/destinations/destination-row.ts';
import { removeDestination } from '../../notifications/destinations/remove-destination.ts';
import { BODY_SHAPES, type BodyShape } from '../../notifications/log-streams/stream-input.ts';
import { within } from '../../store/read.ts';
import { CHANNELS, type Channel } from '../../vocabulary/channels.ts';
import { idOf, oneOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { withScopeText } from '../connection-scope-option.ts';
import {
  addDestinationOptions,
  addressOf,
  addStreamOptions,
  type DestinationOptions,
  digestOption,
  filtersOf,
  streamOf,
} from '../notifications/destination-options.ts';
import { printList, printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';
import { addDeliveryCommands, changeDestinationOf } from './delivery-command.ts';

const COLUMNS = ['id', 'name', 'channel', 'target', 'kinds', 'connections', 'state', 'queued', 'last_result'];

/** A destination without nested fields, for a table or one line per field. */
function flat({ queue, recipients, stream, ...row }: DestinationRow) {
  const { quiet_hours: hours, digest, settings } = row;
  return {
    ...withScopeText(row),
    settings: Object.entries(settings)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    quiet_hours: hours && `${hours.from}-${hours.to}@${hours.time_zone}`,
    digest: digest && digestOption(digest),
    ...queue,
    recipients: recipients.map(({ email, state }) => `${email} (${state})`),
    ...(stream && {
      log: stream.format,
      next_entry: stream.next_id,
      behind: `${stream.behind_entries} entries, ${stream.behind_seconds} s`,
    }),
  };
}

function print(json: boolean | undefined, { destination, signing_secret }: Stored): void {
  if (json) {
    printOne(true, { ...destination, signing_secret });
    return;
  }
  printOne(false, { ...flat(destination), ...(signing_secret !== null && { signing_secret }) });
  if (signing_secret !== null)
    process.stdout.write('\nKeep the signing secret like a password: it is shown only once.\n');
  for (const kind of destination.kinds_not_in_plan)
    process.stderr.write(
      `The plan of the account does not include ${kind}: it is sent once the plan does.\n`,
    );
}

interface Stored {
  destination: DestinationRow;
  signing_secret: string | null;
}

/** `destination add`, `list`, `change`, `remove`, `enable`, and those of deliveries. */
export function addDestinationCommands(program: Command, context: CommandContext): void {
  const group = program.command('destination').description('manage where notifications are sent');

  addAddCommand(group, context);
  addListCommand(group, context);
  addChangeCommand(group, context);
  addRemoveCommand(group, context);
  addEnableCommand(group, context);
  addDeliveryCommands(group, context);
}

function addAddCommand(group: Command, context: CommandContext): void {
  addStreamOptions(
    addDestinationOptions(
      addCommand(group, 'add', 'add a destination, or a log stream; a signing secret is shown only once')
        .requiredOption('--account <ID>', 'the account', idOf('--account'))
        .requiredOption('--name <S>', 'name of the destination', textOf('--name'))
        .requiredOption('--channel <C>', CHANNELS.join(', '), oneOf('--channel', CHANNELS)),
    ),
  )
    .option(
      '--signature <S>',
      'how a webhook is signed: hmac or ed25519 (default: hmac)',
      oneOf('--signature', SIGNATURES),
    )
    .option(
      '--method <M>',
      'how a heartbeat is sent: GET or POST (default: GET)',
      oneOf('--method', HEARTBEAT_METHODS),
    )
    .option(
      '--shape <S>',
      'how log_http forms its bodies: ndjson or array (default: ndjson)',
      oneOf('--shape', BODY_SHAPES),
    )
    .option('--region <R>', 'of a bucket of s3 (default: as its URL says, or us-east-1)')
    .option(
      '--encryption <E>',
      "how s3 encrypts objects: AES256, aws:kms, aws:kms:dsse or the ARN of a key of KMS (default: the bucket's)",
    )
    .action(async ({ account, name, channel, json, ...options }: AddOptions) => {
      const { signature, method, shape, region, encryption } = options;
      const wanted = {
        name,
        channel,
        ...(signature && { signature }),
        ...(method && { method }),
        ...(await addressOf(channel, options, context.ownPlaces())),
        ...(shape && { shape }),
        ...(region !== undefined && { region }),
        ...(encryption !== undefined && { encryption }),
        ...filtersOf(options),
        ...streamOf(options),
      };
      const rules = { allowPrivate: context.allowsPrivateDestinations() };
      const added = await context.withStore(async (writer, openOwner) => {
        const secret = await context.openSecret(writer, openOwner);
        return changeAccount(writer, account, (change) => addDestination(change, secret, rules, wanted));
      });
      print(json, added);
    });
}

function addListCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'list', 'list the destinations of an account with their health')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .action(async ({ account, json }: { account: number; json?: boolean }) => {
      const rows = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return listDestinations(within(writer), account);
      });
      printList(json, json ? rows : rows.map(flat), COLUMNS);
    });
}

function addChangeCommand(group: Command, context: CommandContext): void {
  addStreamOptions(
    addDestinationOptions(
      addCommand(group, 'change', 'change a destination; options that you leave out keep their values')
        .argument('<ID>', 'the destination', idOf('ID'))
        .option('--name <S>', 'name of the destination', textOf('--name')),
    ),
  )
    .option('--all-connections', 'send the events of all connections')
    .action(async (id: number, { name, json, ...options }: ChangeOptions) => {
      const rules = { allowPrivate: context.allowsPrivateDestinations() };
      const given = { ...(name !== undefined && { name }), ...filtersOf(options), ...streamOf(options) };
      const changed = await context.withStore(async (writer, openOwner) => {
        const accountId = await accountOfDestination(writer, id);
        const { channel } = await readDestination(within(writer), accountId, id);
        const wanted = { ...given, ...(await addressOf(channel, options, context.ownPlaces())) };
        if (Object.keys(wanted).length === 0)
          throw new UsageError('Give at least one option to change: see --help.');
        const secret = await context.openSecret(writer, openOwner);
        return changeAccount(writer, accountId, (change) =>
          changeDestination(change, secret, rules, id, wanted),
        );
      });
      print(json, changed);
    });
}

function addRemoveCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'remove', 'remove a destination and cancel what is queued for it')
    .argument('<ID>', 'the destination', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      const removed = await context.withStore((writer) =>
        changeDestinationOf(writer, id, (change) => removeDestination(change, id)),
      );
      printOne(json, json ? removed : flat(removed));
    });
}

function addEnableCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'enable', 'enable a destination that was disabled, or paused by a restore')
    .argument('[ID]', 'the destination', idOf('ID'))
    .option('--all', 'all destinations of the account, or of all accounts')
    .option('--account <ID>', 'with --all: the account', idOf('--account'))
    .option(
      '--missed <M>',
      'what becomes of what was missed: send or skip (default: send)',
      oneOf('--missed', MISSED),
    )
    .action(async (id: number | undefined, { all, account, missed = 'send', json }: EnableOptions) => {
      if ((id === undefined) !== (all === true)) throw new UsageError('Give either a destination or --all.');
      if (account !== undefined && !all) throw new UsageError('--account needs --all.');
      const inEach = await context.withEachStore(async (writer) =>
        id === undefined
          ? enableAll(writer, account, missed)
          : [await changeDestinationOf(writer, id, (change) => enableDestination(change, id, missed))],
      );
      const enabled = inEach.flat();
      printList(json, json ? enabled : enabled.map(flat), COLUMNS);
    });
}

const selectAccounts = `
  select distinct account_id
    from destination
   where state <> 'enabled' and removed_at is null and ($1::bigint is null or account_id = $1)
   order by account_id`;

async function enableAll(
  writer: pg.Pool,
  account: number | undefined,
  missed: Missed,
): Promise<DestinationRow[]> {
  if (account !== undefined) await requireAccount(writer, account);
  const { rows } = await writer.query<{ account_id: number }>(selectAccounts, [account]);
  const enabled: DestinationRow[] = [];
  for (const { account_id } of rows) {
    enabled.push(
      ...(await changeAccount(writer, account_id, (change) => enableAllDestinations(change, missed))),
    );
  }
  return enabled;
}

interface AddOptions extends DestinationOptions {
  account: number;
  name: string;
  channel: Channel;
  signature?: SignatureKind;
  method?: HeartbeatMethod;
  shape?: BodyShape;
  region?: string;
  encryption?: string;
  json?: boolean;
}

interface ChangeOptions extends DestinationOptions {
  name?: string;
  json?: boolean;
}

interface EnableOptions {
  all?: boolean;
  account?: number;
  missed?: Missed;
  json?: boolean;
}
