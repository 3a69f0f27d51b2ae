import type { Command } from 'commander';
import { requireCollector } from '../../accounts/collectors/collector-row.ts';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { addConnection } from '../../connections/add-connection.ts';
import { collectedAddress } from '../../connections/collected-connection.ts';
import { agreedTls, tlsOf } from '../../connections/connection-tls.ts';
import { changeTagsWithin, requireTagsOfOne } from '../../connections/tags/change-tags.ts';
import { ENGINES, type Engine } from '../../vocabulary/engines.ts';
import { idOf, oneOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { readSettings } from '../connection-options.ts';
import { printOne } from '../print.ts';
import { readPassword } from '../read-password.ts';
import { privateKeyOf } from '../ssh-login.ts';
import { addTagOption } from '../tag-options.ts';
import { UsageError } from '../usage-error.ts';
import {
  type AddressOptions,
  addAddressOptions,
  everyOption,
  requireType,
  urlOption,
} from './address-options.ts';

/** `connection add`. */
export function addAddCommand(group: Command, context: CommandContext): void {
  const add = addAddressOptions(
    addCommand(group, 'add', 'add a database to watch, without connecting to it yet'),
  );
  addTagOption(add, '--tag <TAG>', 'a tag, such as env:production or pci')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .requiredOption('--name <S>', 'name of the connection', textOf('--name'))
    .addOption(urlOption())
    .option(
      '--collector <S>',
      'leave it to this collector, whose own file has the address and the login; needs --engine in place of --url',
      textOf('--collector'),
    )
    .option('--engine <E>', `with --collector: ${ENGINES.join(', ')}`, oneOf('--engine', ENGINES))
    .addOption(everyOption().default(300, '5m'))
    .action(async (options: AddOptions) => {
      const { account, json } = options;
      requireTagsOfOne(options.tag ?? []);
      const wanted = options.collector === undefined ? await readWanted(options, context) : null;
      const settings = wanted ?? (await readSettings(requireCollectable(options), context));
      printOne(
        json,
        await context.withStore(async (writer, openOwner) => {
          const secret = await context.openSecret(writer, openOwner);
          return changeAccount(writer, account, async (change) => {
            const collected = wanted ?? { ...settings, ...(await readCollected(change, options)) };
            const added = await addConnection((work) => work(change), secret, collected);
            await changeTagsWithin(change, [added.id], { add: options.tag ?? [] });
            return added;
          });
        }),
      );
    });
}

type AddOptions = Required<Pick<AddressOptions, 'name' | 'every'>> &
  AddressOptions & { account: number; collector?: string; engine?: Engine };

/** The connection of the options, with its address and login. */
async function readWanted({ url: address, ...options }: AddOptions, context: CommandContext) {
  const { name, every, tls, ssh, sshKeyFile } = options;
  if (!address) throw new UsageError('Give --url, or --collector with --engine.');
  if (options.engine) throw new UsageError('--engine needs --collector: a URL names the engine.');
  requireType(address, options);
  return {
    ...address,
    ...(await readSettings(options, context)),
    ...(ssh && { ssh }),
    ...(sshKeyFile !== undefined && { sshKey: privateKeyOf(sshKeyFile, context.ownPlaces()) }),
    name,
    every,
    tls: tlsOf(address.connection_type, agreedTls(tls, address.tls)),
    password: await readPassword(options.passwordStdin, address.password),
  };
}

/** The options of a connection that a collector measures. Throws for what belongs into the collector's own file. */
function requireCollectable(options: AddOptions): AddOptions {
  const { url, type, tls, ssh, sshKeyFile, passwordStdin, caFile, ca, tokenSource, exposePassword } = options;
  const local = [url, type, tls, ssh, sshKeyFile, passwordStdin, caFile, ca, tokenSource, exposePassword];
  if (local.some((one) => one !== undefined))
    throw new UsageError(
      "With --collector, address, login and TLS are in the collector's own file: leave them out.",
    );
  if (!options.engine) throw new UsageError('--collector needs --engine.');
  return options;
}

async function readCollected({ client, accountId }: Change, options: AddOptions) {
  const { name, every, engine = 'postgres', collector = '' } = options;
  const { id, name: collectorName } = await requireCollector(client, accountId, collector);
  const collectedBy = { id, name: collectorName, as: name };
  return {
    ...collectedAddress(engine, collectorName),
    name,
    every,
    tls: 'verify-full' as const,
    collectedBy,
  };
}
