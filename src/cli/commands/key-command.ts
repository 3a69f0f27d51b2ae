import type { Command } from 'commander';
import { requireAccount } from '../../accounts/account-row.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { addKey } from '../../keys/add-key.ts';
import type { IssuedKey } from '../../keys/issue-key.ts';
import { accountOfKey, listKeys } from '../../keys/key-row.ts';
import { regenerateKey } from '../../keys/regenerate-key.ts';
import { revokeKey } from '../../keys/revoke-key.ts';
import { durationOf, idOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne } from '../print.ts';

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
      const wanted = { name: options.name, lifetime: options.expiresIn ?? null };
      const key = await context.withStore((writer) =>
        changeAccount(writer, options.account, (change) => addKey(change, wanted)),
      );
      printIssued(options.json, key);
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
        changeAccount(writer, await accountOfKey(writer, id), (change) => revokeKey(change, id)),
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
          regenerateKey(change, id, { overlap }),
        ),
      );
      printIssued(json, successor);
    });
}
