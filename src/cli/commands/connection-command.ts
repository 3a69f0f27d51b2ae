import type { Command } from 'commander';
import type pg from 'pg';
import { requireAccount } from '../../accounts/account-row.ts';
import { type Change, type ChangeAccount, changeAccount } from '../../activity/record-entry.ts';
import {
  listConnections,
  listServers,
  ownerOfConnection,
  readConnection,
} from '../../connections/connection-row.ts';
import { agreedTls } from '../../connections/connection-tls.ts';
import { removeConnection } from '../../connections/remove-connection.ts';
import { changeTagsWithin, requireTagsOfOne } from '../../connections/tags/change-tags.ts';
import { readTags } from '../../connections/tags/connection-tags.ts';
import { isOfVersion } from '../../platform/text/server-version.ts';
import { tagFilter } from '../../platform/text/tags.ts';
import { within } from '../../store/read.ts';
import { ENGINES, type Engine } from '../../vocabulary/engines.ts';
import { idOf, oneOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { readSettings } from '../connection-options.ts';
import { addAddCommand } from '../connections/add-connection-command.ts';
import {
  type AddressOptions,
  addAddressOptions,
  everyOption,
  requireType,
  urlOption,
} from '../connections/address-options.ts';
import { addLoginSqlCommand } from '../connections/login-sql-command.ts';
import { printList, printOne } from '../print.ts';
import { readPassword } from '../read-password.ts';
import { privateKeyOf } from '../ssh-login.ts';
import { addTagOption, TAG_FILTER } from '../tag-options.ts';
import { UsageError } from '../usage-error.ts';

async function changeOf(writer: pg.Pool, connectionId: number): Promise<ChangeAccount> {
  const accountId = await ownerOfConnection(writer, connectionId);
  return (work) => changeAccount(writer, accountId, work);
}

interface ListOptions {
  account: number;
  tag?: readonly string[];
  engine?: Engine;
  version?: string;
  json?: boolean;
}

function versionOf(text: string): string {
  if (/^[0-9]{1,4}(?:\.[0-9]{1,4}){0,2}$/.test(text)) return text;
  throw new UsageError('--version must be a version or its first numbers, such as 18 or 8.0.36.');
}

/** The account's connections that the options choose. */
async function chosenConnections(writer: pg.Pool, { account, tag = [], engine, version }: ListOptions) {
  const tagged = await taggedConnections(writer, account, tag);
  const servers = await listServers(writer, account);
  return tagged
    .map(({ connection }) => connection)
    .filter(({ id }) => {
      const server = servers.get(id);
      return (
        (engine === undefined || server?.engine === engine) &&
        (version === undefined || isOfVersion(server?.version ?? '', version))
      );
    });
}

/** The account's connections with their tags, if those pass the filter. */
async function taggedConnections(writer: pg.Pool, accountId: number, filter: readonly string[]) {
  await requireAccount(writer, accountId);
  const passes = tagFilter(filter);
  const tagsOfAll = await readTags(within(writer), accountId);
  return (await listConnections(writer, accountId))
    .map((connection) => ({ connection, tags: tagsOfAll.get(connection.id) ?? [] }))
    .filter(({ tags }) => passes(tags));
}

/** `connection add`, `connection list`, `connection tags`, `connection change`, `connection login-sql`, `connection remove`. */
export function addConnectionCommands(program: Command, context: CommandContext): void {
  const group = program.command('connection').description('manage the databases to watch');

  addAddCommand(group, context);
  addListCommand(group, context);
  addTagsCommand(group, context);
  addChangeCommand(group, context);
  addLoginSqlCommand(group);
  addRemoveCommand(group, context);
}

function addListCommand(group: Command, context: CommandContext): void {
  addTagOption(addCommand(group, 'list', 'list the connections of an account'), '--tag <TAG>', TAG_FILTER)
    .option(
      '--engine <E>',
      `only connections of this engine: ${ENGINES.join(', ')}`,
      oneOf('--engine', ENGINES),
    )
    .option(
      '--version <V>',
      'only servers of this version, as health checks measured it, such as 18 or 8.0',
      versionOf,
    )
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .action(async ({ json, ...options }: ListOptions) => {
      const connections = await context.withStore((writer) => chosenConnections(writer, options));
      printList(json, connections, [
        'id',
        'name',
        'host',
        'port',
        'connection_type',
        'score',
        'last_checked_at',
        'summary_text',
      ]);
    });
}

function addTagsCommand(group: Command, context: CommandContext): void {
  addTagOption(
    addCommand(group, 'tags', 'list the connections of an account with their tags'),
    '--tag <TAG>',
    TAG_FILTER,
  )
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .action(async ({ account, tag = [], json }: ListOptions) => {
      const tagged = await context.withStore((writer) => taggedConnections(writer, account, tag));
      const rows = tagged.map(({ connection: { id, name }, tags }) => ({ id, name, tags }));
      printList(json, rows, ['id', 'name', 'tags']);
    });
}

function addChangeCommand(group: Command, context: CommandContext): void {
  const change = addAddressOptions(
    addCommand(
      group,
      'change',
      'change a connection; options that you leave out keep their values, the password too',
    ),
  );
  addTagOption(
    change,
    '--tag <TAG>',
    'a tag to add; an environment, such as env:test, replaces the one before',
  );
  addTagOption(change, '--untag <TAG>', 'a tag to remove')
    .argument('<ID>', 'the connection', idOf('ID'))
    .option('--name <S>', 'name of the connection', textOf('--name'))
    .addOption(urlOption())
    .addOption(everyOption())
    .action(async (id: number, { json, url: address, type, passwordStdin, ...options }: AddressOptions) => {
      const { name, every, ssh, sshKeyFile, tag = [], untag = [] } = options;
      requireTagsOfOne(tag);
      const tls = agreedTls(options.tls, address?.tls);
      if (address) requireType(address, { ...(type && { type }), ...(ssh && { ssh }) });
      else if (type) throw new UsageError('--type needs --url.');
      const password = await readPassword(passwordStdin, address?.password ?? null);
      const changes = {
        ...(await readSettings(options, context)),
        ...(name !== undefined && { name }),
        ...(type && { type }),
        ...(ssh && { ssh }),
        ...(sshKeyFile !== undefined && { sshKey: privateKeyOf(sshKeyFile, context.ownPlaces()) }),
        ...(tls && { tls }),
        ...(every !== undefined && { every }),
        ...(address && { address }),
        ...(password !== null && { password }),
      };
      const hasChanges = Object.keys(changes).length > 0;
      if (!hasChanges && tag.length + untag.length === 0) {
        throw new UsageError('Give at least one option to change: see --help.');
      }
      const { changeConnection } = await import('../../connections/change-connection.ts'); // loads every check
      printOne(
        json,
        await context.withStore(async (writer, openOwner) => {
          const secret = await context.openSecret(writer, openOwner);
          const work = async (change: Change) => {
            if (hasChanges) await changeConnection((inner) => inner(change), secret, id, changes);
            await changeTagsWithin(change, [id], { add: tag, remove: untag });
            return readConnection(change.client, change.accountId, id);
          };
          return (await changeOf(writer, id))(work);
        }),
      );
    });
}

function addRemoveCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'remove', 'stop watching a database and resolve its tickets')
    .argument('<ID>', 'the connection', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      printOne(
        json,
        await context.withStore(async (writer) => removeConnection(await changeOf(writer, id), id)),
      );
    });
}
