import type { Command } from 'commander';
import type pg from 'pg';
import { type Change, changeAccount } from '../activity/record-entry.ts';
import { type IssuedKey, issueKey } from '../keys/issue-key.ts';
import { type KeyRow, listKeys, readKey } from '../keys/key-row.ts';
import { regenerateKey, revokeKey } from '../keys/revoke-key.ts';
import { requireAccount } from './account.ts';
import { durationOf, idOf, textOf } from './arguments.ts';
import { addCommand, type CommandContext } from './command.ts';
import { printList, printOne } from './print.ts';

const page = '/settings/api-keys';

/** Creates a key that lives for so many seconds, null = until it is revoked, and the entry that tells of it. */
export function createKey(
  writer: pg.Pool,
  wanted: { accountId: number; name: string; lifetime: number | null },
): Promise<IssuedKey> {
  return changeAccount(writer, wanted.accountId, async ({ client, at, record }) => {
    const key = await issueKey(client, { ...wanted, at });
    record('api_key_created', page, { api_key_id: key.id, name: key.name, expires_at: key.expires_at });
    return key;
  });
}

/** Changes the account that the key belongs to. */
async function changeOwnerOf<T>(
  writer: pg.Pool,
  id: number,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const { account_id } = await readKey(writer, id);
  return changeAccount(writer, account_id, work);
}

function revoke(writer: pg.Pool, id: number): Promise<KeyRow> {
  return changeOwnerOf(writer, id, async ({ client, record }) => {
    const key = await revokeKey(client, id);
    record('api_key_revoked', page, { api_key_id: id, name: key.name, revoked_at: key.revoked_at });
    return key;
  });
}

function regenerate(writer: pg.Pool, id: number, overlap: number): Promise<IssuedKey> {
  return changeOwnerOf(writer, id, async ({ client, at, record }) => {
    const { successor, replaced } = await regenerateKey(client, id, at, overlap);
    record('api_key_regenerated', page, {
      api_key_id: id,
      name: replaced.name,
      revoked_at: replaced.revoked_at,
      replaced_by: successor.id,
      expires_at: successor.expires_at,
    });
    return successor;
  });
}

function printIssued(json: boolean | undefined, key: IssuedKey): void {
  printOne(json, key);
  if (!json) process.stdout.write('\nKeep the key like a password: it is shown this once.\n');
}

/** `key create`, `key list`, `key revoke`, `key regenerate`. */
export function addKeyCommands(program: Command, context: CommandContext): void {
  const group = program.command('key').description('API keys of an account');

  addCommand(group, 'create', 'create a key; it is shown this once')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .requiredOption('--name <S>', 'what it is for', textOf('--name'))
    .option(
      '--expires-in <D>',
      'how long it lives, such as 90d (default: until it is revoked)',
      durationOf('--expires-in', '1s', '36500d'),
    )
    .action(async (options: { account: number; name: string; expiresIn?: number; json?: boolean }) => {
      const wanted = { accountId: options.account, name: options.name, lifetime: options.expiresIn ?? null };
      printIssued(options.json, await context.withStore((writer) => createKey(writer, wanted)));
    });

  addCommand(group, 'list', 'list the keys of an account, the dead ones too')
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

  addCommand(group, 'revoke', 'revoke a key at once')
    .argument('<ID>', 'the key', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      printOne(json, await context.withStore((writer) => revoke(writer, id)));
    });

  addCommand(group, 'regenerate', 'create a successor of the same name and span of life, and revoke the key')
    .argument('<ID>', 'the key', idOf('ID'))
    .option(
      '--overlap <D>',
      'how long the old key lives on, up to 24h',
      durationOf('--overlap', '0s', '24h'),
      0,
    )
    .action(async (id: number, { overlap, json }: { overlap: number; json?: boolean }) => {
      printIssued(json, await context.withStore((writer) => regenerate(writer, id, overlap)));
    });
}
