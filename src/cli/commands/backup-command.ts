import { existsSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import type { CheckedBackup } from '../../store/backup/check-backup.ts';
import { countOf, textOf } from '../arguments.ts';
import { addWatchedBackupCommands } from '../backups/watched-backup-commands.ts';
import { addStoreOption } from '../cells/command-cells.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printOne, printProblem } from '../print.ts';
import type { WrittenBackup } from '../store/back-up-store.ts';
import { UsageError } from '../usage-error.ts';

const KEPT = 7;

const NOTES = `
Services keep running: the backup is the store as it was at one instant. The file is
compressed, has mode 0600, and holds every table except those of sign-ins under way.
FILE - is standard output, for example to pipe it into an encryption program.

--folder is for a nightly job. It creates the folder, names the file after the store and
the time, reads the file back to check it, and then removes all but the newest --keep
backups of this store (${KEPT} by default). Backups dated in the future are removed before
others. Several stores can share a folder.

The store records how the last backup went: see "dbvitals doctor" and the metrics.

The backup does not contain the secret key: secret.key in the data folder, or
DBVITALS_SECRET_KEY. Keep the key elsewhere. Without it, a restored store can't decrypt
the passwords of its connections.`;

interface Options {
  folder?: string;
  keep?: number;
  force?: boolean;
  allCells?: boolean;
  cell?: number;
  json?: boolean;
}

/** `backup` of the store, and of watched databases: `backup heartbeat`, `backup history`. */
export function addBackupCommand(program: Command, context: CommandContext): void {
  const command = addCommand(program, 'backup [FILE]', 'back up the store to a file while it is in use');
  addStoreOption(command, "of several stores, the cell's number, or control for a control store of its own")
    .option('--all-cells', 'with --folder: back up every store of DBVITALS_CELLS_FILE, or the only store')
    .option('--folder <DIR>', 'write a new file into this folder instead of FILE', textOf('--folder'))
    .option('--keep <N>', 'with --folder: how many backups to keep', countOf('--keep', 1, 10_000))
    .option('--force', 'overwrite an existing file')
    .addHelpText('after', NOTES)
    .action(async (file: string | undefined, options: Options) => {
      const { folder, keep, force, allCells, cell, json } = options;
      if ((file === undefined) === (folder === undefined))
        throw new UsageError('Give either FILE or --folder.');
      if (folder !== undefined) {
        if (force) throw new UsageError('--force needs FILE: --folder never overwrites a backup.');
        const to = { folder, keep: keep ?? KEPT };
        if (allCells) {
          if (cell !== undefined) throw new UsageError('Give either --cell or --all-cells.');
          return backUpEach(context, to, json);
        }
        const made = await context.backUp(to);
        print({ ...made, file: made.file ?? folder }, json);
        return;
      }
      if (file === undefined) return;
      if (file === '') throw new UsageError('FILE is empty: name a file, or use --folder.');
      if (keep !== undefined) throw new UsageError('--keep needs --folder.');
      if (allCells) throw new UsageError('--all-cells needs --folder: each store has a file of its own.');
      const toOutput = file === '-';
      if (toOutput && json)
        throw new UsageError(
          '--json needs a file name: with FILE - the backup itself goes to standard output.',
        );
      if (!toOutput && statSync(file, { throwIfNoEntry: false })?.isDirectory())
        throw new UsageError(`${file} is a folder: name a file in it, or use --folder ${file}.`);
      if (!toOutput && !force && existsSync(file))
        throw new UsageError(`${file} already exists: give another name, or overwrite it with --force.`);
      const target = toOutput ? process.stdout : file;
      print({ ...(await context.backUp({ target, overwrite: force ?? false })), file }, json);
    });
  addVerifyCommand(command, context);
  addWatchedBackupCommands(command, context);
}

async function backUpEach(
  context: CommandContext,
  to: { folder: string; keep: number },
  json?: boolean,
): Promise<void> {
  const { made, failed } = await context.backUpEach(to);
  if (json) printOne(json, { made: made.map(({ secret_at, ...one }) => one), failed, holds_secret: false });
  else for (const one of made) print({ ...one, file: one.file ?? to.folder });
  if (failed.length > 0) process.exitCode = 1;
  for (const sentence of failed) printProblem(sentence);
}

const VERIFY_NOTES = `
Reads each file whole, without a store. Exit code 0: all are complete, and the secret key
signed them. "restore" makes the same check before it changes anything.`;

interface VerifyOptions {
  unsigned?: boolean;
  json?: boolean;
}

function addVerifyCommand(backup: Command, context: CommandContext): void {
  const what = 'check that backups are complete and signed (FILE -: standard input)';
  addCommand(backup, 'verify <FILE...>', what)
    .option('--unsigned', 'check only that they are complete')
    .addHelpText('after', VERIFY_NOTES)
    .action(async (files: string[], { unsigned = false, json }: VerifyOptions) => {
      const verified: VerifiedFile[] = [];
      const failed: string[] = [];
      for (const file of files)
        try {
          const found = await context.verifyBackup(file === '-' ? process.stdin : file, { unsigned });
          verified.push({ file, signed: !unsigned, ...found });
          if (!json) process.stdout.write(describeVerified(file, unsigned, found));
        } catch (error) {
          if (files.length === 1 || !(error instanceof Error)) throw error;
          failed.push(`${file}: ${error.message}`);
          printProblem(`${file}: ${error.message}`);
        }
      if (failed.length > 0) process.exitCode = 1;
      if (!json) return;
      const shown = verified.map(({ tables, ...one }) => ({ ...one, tables: tables.length }));
      printOne(json, files.length === 1 ? (shown[0] ?? {}) : { verified: shown, failed });
    });
}

type VerifiedFile = CheckedBackup & { file: string; signed: boolean };

function describeVerified(file: string, unsigned: boolean, found: CheckedBackup): string {
  const { rows, tables, made_at, dbvitals, migration, cell } = found;
  const of = cell === null ? '' : cell === 0 ? ' of the control store' : ` of cell ${cell}`;
  return `${file} is complete${unsigned ? '' : ' and signed with this secret key'}: ${rows} rows of ${tables.length} tables${of}, as they were at ${made_at} (dbvitals ${dbvitals}, schema ${migration}).\n`;
}

function print({ secret_at, ...made }: WrittenBackup & { file: string }, json?: boolean): void {
  if (json) {
    printOne(json, { ...made, holds_secret: false });
    return;
  }
  const toOutput = made.file === '-';
  const megabytes = (made.bytes / 1e6).toFixed(1);
  const removed = made.removed?.length ?? 0;
  const ahead = made.ahead ?? [];
  const said = [
    `${toOutput ? 'Written' : made.file}: ${made.rows} rows of ${made.tables} tables, ${megabytes} MB, from ${made.store}, at ${made.made_at}.`,
    `SHA-256 ${made.sha256}.`,
    ...(removed > 0 ? [`Older backups removed: ${removed}.`] : []),
    ...(ahead.length > 0
      ? [
          `Backups dated in the future: ${ahead.length}, such as ${ahead[0]}. The clock was ahead when they were made, or is behind now. They are removed before others.`,
        ]
      : []),
    `The backup does not contain the secret key: keep ${secret_at} elsewhere. Without it, the passwords of connections can't be decrypted.`,
  ];
  (toOutput ? process.stderr : process.stdout).write(said.map((line) => `${line}\n`).join(''));
}
