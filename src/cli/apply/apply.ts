import { dirname } from 'node:path';
import type { Command } from 'commander';
import type pg from 'pg';
import { readTextFile } from '../../config/text-file.ts';
import type { SecretKeys } from '../../platform/encryption.ts';
import { inTransaction } from '../../store/connect.ts';
import { idOf } from '../arguments.ts';
import { addCellOption } from '../cells/command-cells.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { cell, jsonLine } from '../print.ts';
import { readInput } from '../read-input.ts';
import { UsageError } from '../usage-error.ts';
import { type Difference, lineOf } from './apply-step.ts';
import type { DesiredState } from './desired-state.ts';
import type { Unmatched } from './scopes/unmatched-scopes.ts';
import { secretVariablesOf } from './secrets/secret-variables.ts';

interface Options {
  file?: string;
  export?: boolean;
  account?: number;
  plan?: boolean;
  exitCode?: boolean;
  prune?: boolean;
  secretsDir?: string;
  secretEnv?: readonly string[];
  json?: boolean;
}

/** The exit code of `--plan --exit-code` when the store differs: 1 is a failure, 2 a wrong file. */
const DIFFERS = 3;

/** The result of `apply`. */
interface Applied {
  /** Whether the file was applied; false with `--plan`. */
  applied: boolean;
  /** The accounts of the file. The id is null if `--plan` did not create the account. */
  accounts: { id: number | null; name: string }[];
  changes: Difference[];
  /** What the store has and the lists of the file do not name. It stays. */
  unnamed: Difference[];
  /** Names and patterns of the file that match no connection. */
  unmatched: Unmatched[];
}

/** `apply`. */
export function addApplyCommand(program: Command, context: CommandContext): void {
  const applying = addCommand(
    program,
    'apply',
    'create and change accounts, members, connections, silences and destinations from a YAML file',
  );
  addCellOption(applying, 'of several cells, the one that all accounts of the file live in')
    .option('-f, --file <FILE>', 'the YAML file, - for standard input')
    .option('--plan', 'show the differences and change nothing')
    .option('--exit-code', `with --plan: exit with ${DIFFERS} if there are differences`)
    .option('--prune', 'remove what the lists in the file do not name, but never an account')
    .option('--export', 'print the account of --account as such a file, without its secrets')
    .option('--account <ID>', 'with --export: the account', idOf('--account'))
    .option('--secrets-dir <DIR>', 'folder of the secret files (default: DBVITALS_SECRETS_DIR)')
    .option(
      '--secret-env <NAMES>',
      'environment variables that the file may use as secrets, separated by commas; SHOP_* are all that begin with SHOP_; may be repeated',
      secretVariablesOf,
    )
    .action(async (options: Options) => {
      const { plan = false, prune = false, exitCode = false, json = false } = options;
      if (options.export === true) return printExport(options, context);
      if (options.account !== undefined) throw new UsageError('--account needs --export.');
      if (exitCode && !plan) throw new UsageError('--exit-code needs --plan.');
      const wanted = await read(options, context);
      const show = json ? () => {} : print;
      const done = await context.withStore(async (writer, openOwner) =>
        apply(writer, wanted, { plan, prune }, await context.openSecret(writer, openOwner), show),
      );
      if (json) process.stdout.write(jsonLine(done));
      else sumUp(done);
      if (exitCode && done.changes.length > 0) process.exitCode = DIFFERS;
    });
}

async function printExport(options: Options, context: CommandContext): Promise<void> {
  const { account, file, plan, prune, exitCode, json = false } = options;
  if (account === undefined) throw new UsageError('--export needs --account.');
  if (file !== undefined || plan || prune || exitCode)
    throw new UsageError('--export only prints: leave out --file, --plan, --prune and --exit-code.');
  const { exportAccount, writeExport } = await import('./export/export-account.ts');
  const exported = await context.withStore(async (writer, openOwner) => {
    const secret = await context.openSecret(writer, openOwner);
    return inTransaction(writer, (client) => exportAccount(client, account, secret));
  });
  process.stdout.write(writeExport(exported, json));
}

async function read(
  { file, secretsDir, secretEnv = [] }: Options,
  context: CommandContext,
): Promise<DesiredState> {
  if (file === undefined)
    throw new UsageError('Name the YAML file with --file, or export an account with --export.');
  const piped = file === '-';
  const written = piped ? await readInput() : textOf(file);
  const own = context.ownPlaces();
  const surroundings = {
    ...own,
    folder: piped ? '.' : dirname(file),
    secretsDir: secretsDir ?? own.secretsDir,
    secretVariables: secretEnv,
    allowPrivateDestinations: context.allowsPrivateDestinations(),
  };
  const { checks } = await context.loadCatalogue();
  const { parseDesiredState } = await import('./desired-state.ts');
  return parseDesiredState(written, piped ? 'standard input' : file, checks, surroundings);
}

function textOf(file: string): string {
  try {
    return readTextFile(file);
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
  return { applied: !only, accounts, changes, unnamed: plan.unnamed, unmatched: plan.unmatched };
}

function print(changes: Difference[]): void {
  process.stdout.write(changes.map((difference) => `${lineOf(difference)}\n`).join(''));
}

function sumUp({ applied, accounts, changes, unnamed, unmatched }: Applied): void {
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
  process.stdout.write(lines.map((line) => `${cell(line)}\n`).join(''));
  // It may be a mistake, and is none for connections that are still to come.
  for (const { what, account, name, connections } of unmatched)
    process.stderr.write(
      `${cell(`warning: no connection matches: ${what} ${account} / ${name}: ${connections.join(', ')}`)}\n`,
    );
}
