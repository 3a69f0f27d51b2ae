import type { Command } from 'commander';
import type pg from 'pg';
import { changeAccount } from '../../activity/record-entry.ts';
import { addKey, endKey, replaceKey } from '../../keys/change-key.ts';
import type { IssuedKey, WantedKey } from '../../keys/issue-key.ts';
import { accountOfKey, listKeys } from '../../keys/key-row.ts';
import { durationOf, idOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne } from '../print.ts';
import { requireAccount } from './account.ts';

/** Creates a key that lives for so many seconds, null = until it is revoked, and the entry that tells of it. */
export function createKey(
  writer: pg.Pool,
  { accountId, ...wanted }: WantedKey & { accountId: number },
): Promise<IssuedKey> {
  return changeAccount(writer, accountId, (change) => addKey(change, wanted));
}

function printIssued(json: boolean | undefined, key: IssuedKey): void {
  printOne(json, key);
  if (!json) process.stdout.write('\nKeep the key like a password: it is shown only once.\n');
}

/** `key create`, `key list`, `key revoke`, `key regenerate`. */
export function addKeyCommands(program: Command, context: CommandContext): void {
  const group = program.command('key').description('manage the API keys of an account');

  addCommand(group, 'create', 'create an API key; it is shown only once')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .requiredOption('--name <S>', 'what the key is for', textOf('--name'))
    .option(
      '--expires-in <D>',
      'lifetime, such as 90d (default: no expiry)',
      durationOf('--expires-in', '1s', '36500d'),
    )
    .action(async (options: { account: number; name: string; expiresIn?: number; json?: boolean }) => {
      const wanted = { accountId: options.account, name: options.name, lifetime: options.expiresIn ?? null };
      printIssued(options.json, await context.withStore((writer) => createKey(writer, wanted)));
    });

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
        'created_at',
        'expires_at',
        'revoked_at',
        'last_used_at',
      ]);
    });

  addCommand(group, 'revoke', 'revoke a key immediately')
    .argument('<ID>', 'the key', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      const key = await context.withStore(async (writer) =>
        changeAccount(writer, await accountOfKey(writer, id), (change) => endKey(change, id)),
      );
      printOne(json, key);
    });

  addCommand(group, 'regenerate', 'replace a key with a new one of the same name and lifetime')
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
          replaceKey(change, id, { overlap }),
        ),
      );
      printIssued(json, successor);
    });
}
