import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { countOf, textOf } from '../arguments.ts';
import { addStoreOption } from '../cells/command-cells.ts';
import { addCommand, type CommandContext, type StoreBackup, UsageError } from '../command.ts';
import { printOne } from '../print.ts';

const KEPT = 7;

const NOTES = `
Services keep running: the backup is the store as it was at one instant. The file is
compressed, has mode 0600, and holds every table except those of sign-ins under way.
FILE - is standard output, for example to pipe it into an encryption program.

--folder is for a nightly job. It creates the folder, names the file after the time,
reads the file back to check it, and then removes all but the newest --keep backups
(${KEPT} by default).

The store records how the last backup went: see "dbvitals doctor" and the metrics.

The backup does not contain the secret key: secret.key in the data folder, or
DBVITALS_SECRET_KEY. Keep the key elsewhere. Without it, a restored store can't decrypt
the passwords of its connections.`;

interface Options {
  folder?: string;
  keep?: number;
  force?: boolean;
  json?: boolean;
}

/** `backup`. */
export function addBackupCommand(program: Command, context: CommandContext): void {
  const command = addCommand(program, 'backup [FILE]', 'back up the store to a file while it is in use');
  addStoreOption(command, "of several stores, the cell's number, or control for a control store of its own")
    .option('--folder <DIR>', 'write a new file into this folder instead of FILE', textOf('--folder'))
    .option('--keep <N>', 'with --folder: how many backups to keep', countOf('--keep', 1, 10_000))
    .option('--force', 'overwrite an existing file')
    .addHelpText('after', NOTES)
    .action(async (file: string | undefined, { folder, keep, force, json }: Options) => {
      if ((file === undefined) === (folder === undefined))
        throw new UsageError('Give either FILE or --folder.');
      if (folder !== undefined) {
        if (force) throw new UsageError('--force needs FILE: --folder never overwrites a backup.');
        print(await context.backUpIntoFolder(folder, keep ?? KEPT), json);
        return;
      }
      if (file === undefined) return;
      if (keep !== undefined) throw new UsageError('--keep needs --folder.');
      const toOutput = file === '-';
      if (toOutput && json)
        throw new UsageError(
          '--json needs a file name: with FILE - the backup itself goes to standard output.',
        );
      if (!toOutput && !force && existsSync(file))
        throw new UsageError(`${file} already exists: give another name, or overwrite it with --force.`);
      print({ file, ...(await context.backUp(toOutput ? process.stdout : file)) }, json);
    });
}

function print(
  { secret_at, ...made }: StoreBackup & { file: string; removed?: string[] },
  json?: boolean,
): void {
  if (json) {
    printOne(json, { ...made, holds_secret: false });
    return;
  }
  const toOutput = made.file === '-';
  const megabytes = (made.bytes / 1e6).toFixed(1);
  const removed = made.removed?.length ?? 0;
  const said = [
    `${toOutput ? 'Written' : made.file}: ${made.rows} rows of ${made.tables} tables, ${megabytes} MB, from ${made.store}, at ${made.made_at}.`,
    `SHA-256 ${made.sha256}.`,
    ...(removed > 0 ? [`Older backups removed: ${removed}.`] : []),
    `The backup does not contain the secret key: keep ${secret_at} elsewhere. Without it, the passwords of connections can't be decrypted.`,
  ];
  (toOutput ? process.stderr : process.stdout).write(said.map((line) => `${line}\n`).join(''));
}
