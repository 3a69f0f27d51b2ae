import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { addCommand, type CommandContext, UsageError } from './command.ts';
import { printOne } from './print.ts';

const NOTES = `
The services may go on: the backup is the store as it was at one instant. The file holds
every table but those of sign-ins under way, compressed; its mode is 0600. FILE - is
standard output, to be encrypted by another program.

The secret key is not in it: secret.key of the data folder, or DBVITALS_SECRET_KEY. Keep
that elsewhere. Without it a restored store opens no password of a connection.`;

/** `backup`. */
export function addBackupCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'backup <FILE>', 'copy the store into a file, while it is used')
    .option('--force', 'replace a file that is there')
    .addHelpText('after', NOTES)
    .action(async (file: string, { force, json }: { force?: boolean; json?: boolean }) => {
      const toOutput = file === '-';
      if (toOutput && json) throw new UsageError('--json needs a FILE: standard output is the backup.');
      if (!toOutput && !force && existsSync(file))
        throw new UsageError(`${file} is there already: give another name, or --force to replace it.`);
      const { secret_at, ...made } = await context.backUp(toOutput ? process.stdout : file);
      if (json) return printOne(json, { file, ...made, holds_secret: false });
      const megabytes = (made.bytes / 1e6).toFixed(1);
      const said = [
        `${toOutput ? 'Written' : file}: ${made.rows} rows of ${made.tables} tables, ${megabytes} MB, from ${made.store}, at ${made.made_at}.`,
        `SHA-256 ${made.sha256}.`,
        `The secret key is not in it: keep ${secret_at} elsewhere. Without it the passwords of connections do not open.`,
      ];
      (toOutput ? process.stderr : process.stdout).write(said.map((line) => `${line}\n`).join(''));
    });
}
