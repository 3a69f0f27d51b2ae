import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { addStoreOption } from '../cells/command-cells.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printOne, printProblem } from '../print.ts';
import { UsageError } from '../usage-error.ts';

const NOTES = `
The store must be empty: a new DBVITALS_DATA_DIR, or a new database in DATABASE_URL.
First put the secret key of the original store in place, as secret.key in the data folder
or as DBVITALS_SECRET_KEY: it signed the backup. The restore is all or nothing. Then the
seals of every activity log are verified. Exit code 2: a log does not match its seals.`;

/** `restore`. */
export function addRestoreCommand(program: Command, context: CommandContext): void {
  const command = addCommand(
    program,
    'restore <FILE>',
    'restore a backup into an empty store (FILE -: standard input)',
  );
  addStoreOption(command, "of several stores, the cell's number, or control for a control store of its own")
    .option(
      '--lost-secret',
      'restore even if the secret key decrypts nothing in the backup: see docs/secrets.md',
    )
    .option(
      '--unsigned',
      'restore a backup that the secret key did not sign, such as one from an older version',
    )
    .addHelpText('after', NOTES)
    .action(async (file: string, { lostSecret = false, unsigned = false, json }: RestoreOptions) => {
      if (file !== '-' && !existsSync(file))
        throw new UsageError(`${file} does not exist: name a backup file.`);
      const restored = await context.restore(file === '-' ? process.stdin : file, { lostSecret, unsigned });
      const { seals } = restored;
      if (seals && seals.broken.length > 0) process.exitCode = 2;
      if (json) return printOne(json, { file, ...restored });
      const { rows, tables, made_at, dbvitals, applied } = restored;
      const said = [
        `Restored ${rows} rows of ${tables.length} tables as they were at ${made_at} (dbvitals ${dbvitals}).`,
        ...applied.map((name) => `Applied migration ${name}.`),
        seals
          ? `Verified the logs of ${seals.verified} accounts: they match their seals.`
          : "The seals can't be verified without the secret key.",
        'API keys that were revoked after the backup are valid again: revoke them again. Everyone must sign in again.',
      ];
      process.stdout.write(said.map((line) => `${line}\n`).join(''));
      for (const sentence of seals?.broken ?? []) printProblem(sentence);
    });
}

interface RestoreOptions {
  lostSecret?: boolean;
  unsigned?: boolean;
  json?: boolean;
}
