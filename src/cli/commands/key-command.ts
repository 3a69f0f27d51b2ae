import type { Command } from 'commander';
import { requireAccount } from '../../accounts/account-row.ts';
import { addKey } from '../../accounts/keys/add-key.ts';
import { changeKey } from '../../accounts/keys/change-key.ts';
import type { IssuedKey } from '../../accounts/keys/issue-key.ts';
import { accountOfKey, listKeys } from '../../accounts/keys/key-row.ts';
import { requireRules, type WrittenRules } from '../../accounts/keys/key-rules.ts';
import { regenerateKey } from '../../accounts/keys/regenerate-key.ts';
import { revokeKey } from '../../accounts/keys/revoke-key.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { ENDPOINT_GROUPS } from '../../vocabulary/plans.ts';
import { durationOf, idOf, oneOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';

function printIssued(json: boolean | undefined, key: IssuedKey): void {
  printOne(json, key);
  if (!json) process.stdout.write('\nKeep the key like a password: it is shown only once.\n');
}

interface CreateOptions extends RuleOptions {
  account: number;
  name: string;
  expiresIn?: number;
  json?: boolean;
}

interface RuleOptions {
  scope?: readonly string[];
  allow?: readonly string[];
}

/** The words for a key without scopes, and for one without a list of addresses. */
const [ALL, ANY] = ['all', 'any'];

/** Parser of a repeatable option. */
function listOf(
  parse: (text: string) => string,
): (text: string, before?: readonly string[]) => readonly string[] {
  return (text, before = []) => [...before, parse(text)];
}

function addRuleOptions(command: Command, [scope, allow]: [scope: string, allow: string]): Command {
  const groups = ENDPOINT_GROUPS.join(', ');
  return command
    .option(
      '--scope <GROUP>',
      `a group of endpoints that the key reaches: ${groups}, or ${ALL}; may be repeated ${scope}`.trim(),
      listOf(oneOf('--scope', [...ENDPOINT_GROUPS, ALL])),
    )
    .option(
      '--allow <ADDRESS>',
      `an address or network from which the key may be used, such as 203.0.113.0/24, or ${ANY}; may be repeated ${allow}`.trim(),
      listOf(textOf('--allow')),
    );
}

/** Throws a {@link UsageError} if `word`, which stands for everything, is given together with other values. */
function listOrNull(option: string, word: string, list: readonly string[]): readonly string[] | null {
  if (!list.includes(word)) return list;
  if (list.every((one) => one === word)) return null;
  throw new UsageError(`${option} ${word} stands for everything: leave out the other values.`);
}

function rulesIn({ scope, allow }: RuleOptions) {
  const written: WrittenRules = {
    ...(scope && { scopes: listOrNull('--scope', ALL, scope) }),
    ...(allow && { allowedAddresses: listOrNull('--allow', ANY, allow) }),
  };
  return requireRules(written);
}

/** `key create`, `key list`, `key change`, `key revoke`, `key regenerate`. */
export function addKeyCommands(program: Command, context: CommandContext): void {
  const group = program.command('key').description('manage the API keys of an account');

  addCreateCommand(group, context);
  addChangeCommand(group, context);
  addListCommand(group, context);
  addRevokeCommand(group, context);
  addRegenerateCommand(group, context);
}

function addCreateCommand(group: Command, context: CommandContext): void {
  const creating = addCommand(group, 'create', 'create an API key; it is shown only once')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .requiredOption('--name <S>', 'what the key is for', textOf('--name'))
    .option(
      '--expires-in <D>',
      'lifetime, such as 90d (default: no expiry)',
      durationOf('--expires-in', '1s', '36500d'),
    );
  addRuleOptions(creating, ['(default: all)', '(default: any)']).action(async (options: CreateOptions) => {
    const wanted = { name: options.name, lifetime: options.expiresIn ?? null, ...rulesIn(options) };
    const key = await context.withStore((writer) =>
      changeAccount(writer, options.account, (change) => addKey(change, wanted)),
    );
    printIssued(options.json, key);
  });
}

function addChangeCommand(group: Command, context: CommandContext): void {
  const changing = addCommand(group, 'change', 'change what a key may do, from its next request on').argument(
    '<ID>',
    'the key',
    idOf('ID'),
  );
  addRuleOptions(changing, ['', '']).action(async (id: number, options: RuleOptions & { json?: boolean }) => {
    const rules = rulesIn(options);
    if (Object.keys(rules).length === 0) throw new UsageError('Say what to change: give --scope or --allow.');
    const key = await context.withStore(async (writer) =>
      changeAccount(writer, await accountOfKey(writer, id), (change) => changeKey(change, id, rules)),
    );
    printOne(options.json, key);
  });
}

function addListCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'list', 'list the keys of an account, including expired and revoked ones')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .action(async ({ account, json }: { account: number; json?: boolean }) => {
      const keys = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return listKeys(writer, account);
      });
      printList(json, keys, [
        'id',
        'name',
        'last_four',
        'state',
        'scopes',
        'allowed_addresses',
        'created_at',
        'expires_at',
        'revoked_at',
        'last_used_at',
      ]);
    });
}

function addRevokeCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'revoke', 'revoke a key immediately')
    .argument('<ID>', 'the key', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      const key = await context.withStore(async (writer) =>
        changeAccount(writer, await accountOfKey(writer, id), (change) => revokeKey(change, id)),
      );
      printOne(json, key);
    });
}

function addRegenerateCommand(group: Command, context: CommandContext): void {
  addCommand(
    group,
    'regenerate',
    'replace a key with a new one of the same name, lifetime, scopes and addresses',
  )
    .argument('<ID>', 'the key', idOf('ID'))
    .option(
      '--overlap <D>',
      'how long the old key keeps working, up to 24h',
      durationOf('--overlap', '0s', '24h'),
      0,
    )
    .action(async (id: number, { overlap, json }: { overlap: number; json?: boolean }) => {
      const { successor } = await context.withStore(async (writer) =>
        changeAccount(writer, await accountOfKey(writer, id), (change) =>
          regenerateKey(change, id, { overlap }),
        ),
      );
      printIssued(json, successor);
    });
}
