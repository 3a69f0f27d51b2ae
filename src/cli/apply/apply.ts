import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type pg from 'pg';
import { inTransaction } from '../../database/connect.ts';
import type { SecretKeys } from '../../database/encryption.ts';
import { addCellOption } from '../cells/command-cells.ts';
import { addCommand, type CommandContext, UsageError } from '../command.ts';
import { type Difference, lineOf } from './apply-step.ts';
import type { DesiredState } from './desired-state.ts';

interface Options {
  file: string;
  plan?: boolean;
  prune?: boolean;
  secretsDir?: string;
  json?: boolean;
}

/** The result of `apply`. */
interface Applied {
  /** Whether the file was applied; false with `--plan`. */
  applied: boolean;
  /** The accounts of the file. The id is null if `--plan` did not create the account. */
  accounts: { id: number | null; name: string }[];
  changes: Difference[];
  /** What the store has and the lists of the file do not name. It stays. */
  unnamed: Difference[];
}

/** `apply`. */
export function addApplyCommand(program: Command, context: CommandContext): void {
  const applying = addCommand(
    program,
    'apply',
    'create and change accounts, members, connections, silences and destinations from a YAML file',
  );
  addCellOption(applying, 'of several cells, the one that all accounts of the file live in')
    .requiredOption('-f, --file <FILE>', 'the YAML file, - for standard input')
    .option('--plan', 'show the differences and change nothing')
    .option('--prune', 'remove what the lists in the file do not name, but never an account')
    .option('--secrets-dir <DIR>', 'folder of the secret files (default: DBVITALS_SECRETS_DIR)')
    .action(async ({ file, plan = false, prune = false, secretsDir, json = false }: Options) => {
      const wanted = await read(file, secretsDir, context);
      const show = json ? () => {} : print;
      const done = await context.withStore(async (writer) =>
        apply(writer, wanted, { plan, prune }, await context.openSecret(writer), show),
      );
      if (json) process.stdout.write(`${JSON.stringify(done)}\n`);
      else sumUp(done);
    });
}

async function read(
  file: string,
  secretsDir: string | undefined,
  context: CommandContext,
): Promise<DesiredState> {
  const piped = file === '-';
  const written = piped ? await text(process.stdin) : textOf(file);
  const own = context.ownPlaces();
  const surroundings = {
    ...own,
    folder: piped ? '.' : dirname(file),
    secretsDir: secretsDir ?? own.secretsDir,
    allowPrivateDestinations: context.allowsPrivateDestinations(),
  };
  const { checks } = await context.loadCatalogue();
  const { parseDesiredState } = await import('./desired-state.ts');
  return parseDesiredState(written, piped ? 'standard input' : file, checks, surroundings);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new UsageError('--file must name a readable file, or be - for standard input.');
  }
}

async function apply(
  writer: pg.Pool,
  wanted: DesiredState,
  { plan: only, prune }: { plan: boolean; prune: boolean },
  secret: SecretKeys,
  show: (changes: Difference[]) => void,
): Promise<Applied> {
  const { carryOut, differencesOf, lockAccounts, planAccounts } = await import('./plan-accounts.ts');
  const look = (client: pg.ClientBase) => planAccounts(client, wanted, secret, prune);
  const plan = await inTransaction(writer, look);
  const changes = differencesOf(plan);
  show(changes);
  // Applies only what was shown. If the store was changed meanwhile, nothing is applied.
  const ids =
    only || changes.length === 0
      ? plan.accounts.map(({ id }) => id)
      : await inTransaction(writer, async (client) => {
          await lockAccounts(client, plan);
          const again = await look(client);
          if (JSON.stringify(differencesOf(again)) !== JSON.stringify(changes))
            throw new Error(
              'The store was changed in the meantime, so nothing was applied: run the command again.',
            );
          return carryOut(client, again);
        });
  const accounts = ids.map((id, at) => ({ id, name: wanted.accounts[at]?.name ?? '' }));
  return { applied: !only, accounts, changes, unnamed: plan.unnamed };
}

function print(changes: Difference[]): void {
  process.stdout.write(changes.map((difference) => `${lineOf(difference)}\n`).join(''));
}

function sumUp({ applied, accounts, changes, unnamed }: Applied): void {
  const count = (of: Difference['action']) => changes.filter(({ action }) => action === of).length;
  const [added, changed, removed] = [count('add'), count('change'), count('remove')];
  const ids = new Map(accounts.map(({ id, name }) => [name, id]));
  const lines = [
    ...unnamed.map(({ what, account, name }) => `not in the file: ${what} ${account} / ${name}`),
    ...(unnamed.length > 0 ? ['Use --prune to remove what is not in the file.'] : []),
    ...(changes.length === 0
      ? ['No differences.']
      : [
          applied
            ? `Done: ${added} added, ${changed} changed, ${removed} removed.`
            : `Plan: ${added} to add, ${changed} to change, ${removed} to remove.`,
        ]),
    ...(applied ? changes : []).flatMap(({ action, what, name }) =>
      action === 'add' && what === 'account' ? [`Account ${ids.get(name)} is ${name}.`] : [],
    ),
  ];
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}
