import type { Command } from 'commander';
import { addCommand, type CommandContext } from '../command.ts';
import { jsonLine } from '../print.ts';

/** `secret rotate`. */
export function addSecretCommands(program: Command, context: CommandContext): void {
  const group = program.command('secret').description('manage the secret key, DBVITALS_SECRET_KEY');
  addCommand(
    group,
    'rotate',
    'encrypt everything with the first key of DBVITALS_SECRET_KEY (docs/secrets.md)',
  )
    .option(
      '--forget-lost',
      'remove what no key decrypts: the passwords of those accounts must be stored again',
      false,
    )
    .action(async ({ forgetLost, json }: { forgetLost: boolean; json?: boolean }) => {
      const inEach = await context.withEachStore((_, openOwner) =>
        context.rotateSecretKey(openOwner(), forgetLost),
      );
      const done = inEach.reduce((sum, one) => ({
        rewrapped: sum.rewrapped + one.rewrapped,
        unchanged: sum.unchanged + one.unchanged,
        forgotten: sum.forgotten + one.forgotten,
      }));
      if (json) {
        process.stdout.write(jsonLine(done));
        return;
      }
      const { rewrapped, unchanged, forgotten } = done;
      process.stdout.write(
        [
          `Encrypted with the first key: ${rewrapped}. Already encrypted with it: ${unchanged}.\n`,
          ...(forgotten > 0 ? [`Removed, because no key decrypts them: ${forgotten}.\n`] : []),
          'The other keys of DBVITALS_SECRET_KEY are no longer needed: keep only the first.\n',
        ].join(''),
      );
    });
}
