import { existsSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { requireAccount } from './account.ts';
import { idOf, oneOf } from './arguments.ts';
import { addCommand, type CommandContext, UsageError, type Verdict } from './command.ts';
import { printOne } from './print.ts';

/** `activity seal`, `activity verify`, `activity export`. */
export function addEvidenceCommands(group: Command, context: CommandContext): void {
  addCommand(group, 'seal', 'seal what is new in the log now; a service does so every hour')
    .option('--account <ID>', 'one account (default: all)', idOf('--account'))
    .option('--public-key', 'with --account: seal nothing, print the key that its seals are verified with')
    .action(async (options: { account?: number; publicKey?: boolean; json?: boolean }) => {
      const { account, publicKey, json } = options;
      if (publicKey && account === undefined) throw new UsageError('--public-key needs --account.');
      const evidence = await context.loadEvidence();
      await context.withStore(async (writer, openOwner) => {
        if (account !== undefined) await requireAccount(writer, account);
        if (publicKey && account !== undefined) {
          const key = await evidence.publicKey(openOwner(), account);
          process.stdout.write(json ? `${JSON.stringify({ public_key: key })}\n` : `${key}\n`);
        } else printOne(json, await evidence.seal(openOwner(), account));
      });
    });

  addCommand(group, 'verify', 'compare the log with its seals; exit code 2 where they differ')
    .option('--account <ID>', 'the account; not for a folder of "activity export"', idOf('--account'))
    .option(
      '--from-export <PATH>',
      'a copy of the file of DBVITALS_SEAL_FILE, whose seals count more than the store’s; or a folder of "activity export", which needs no store',
    )
    .option('--public-key <KEY>', 'with a folder: the key that must have signed it', keyOf('--public-key'))
    .action(
      async (options: { account?: number; fromExport?: string; publicKey?: string; json?: boolean }) => {
        const { account, fromExport, publicKey, json } = options;
        if (fromExport !== undefined && !existsSync(fromExport))
          throw new UsageError('--from-export must name a file or folder that is there.');
        const evidence = await context.loadEvidence();
        if (fromExport !== undefined && statSync(fromExport).isDirectory()) {
          if (account !== undefined)
            throw new UsageError('--account is not for a folder: it holds one account.');
          return printVerdict(await evidence.verifyExport(fromExport, publicKey ?? null), json);
        }
        if (publicKey !== undefined)
          throw new UsageError('--public-key is for a folder of "activity export".');
        if (account === undefined) throw new UsageError('Give --account, or --from-export with a folder.');
        const verdict = await context.withStore((writer, openOwner) =>
          evidence.verify(writer, openOwner(), account, fromExport ?? null),
        );
        return printVerdict(verdict, json);
      },
    );

  addCommand(group, 'export', 'write sealed entries to a folder that proves itself on any machine')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .option('--from <D>', 'date or date-time, inclusive (default: from the first entry)')
    .option('--to <D>', 'date or date-time, inclusive (default: to the last entry)')
    .option(
      '--format <F>',
      'csv: a table for spreadsheets too, beside the entries in NDJSON',
      oneOf('--format', ['ndjson', 'csv']),
      'ndjson',
    )
    .requiredOption('--out <FOLDER>', 'a folder that is not there yet')
    .action(async (options: ExportOptions) => {
      const { account, from, to, format, out, json } = options;
      const evidence = await context.loadEvidence();
      const range = evidence.parseRange(from, to);
      if (typeof range === 'string') throw new UsageError(range);
      if (existsSync(out)) throw new UsageError('--out must name a folder that is not there yet.');
      const wanted = { accountId: account, format, ...range };
      printOne(
        json,
        await context.withStore((writer, openOwner) => evidence.export(writer, openOwner(), wanted, out)),
      );
    });
}

interface ExportOptions {
  account: number;
  from?: string;
  to?: string;
  format: 'ndjson' | 'csv';
  out: string;
  json?: boolean;
}

function keyOf(option: string): (text: string) => string {
  return (text) => {
    if (/^[0-9a-f]{64}$/.test(text)) return text;
    throw new UsageError(`${option} must be the 64 digits that "activity seal --public-key" prints.`);
  };
}

/** What is well on standard output, what is not on standard error, with `--json` both on standard output. */
function printVerdict(verdict: Verdict, json: boolean | undefined): void {
  if (!verdict.verified) process.exitCode = 2;
  if (json) process.stdout.write(`${JSON.stringify(verdict)}\n`);
  else if (!verdict.verified) process.stderr.write(`error: ${verdict.message}\n`);
  else process.stdout.write(sentences(verdict));
}

function sentences(verdict: Extract<Verdict, { verified: true }>): string {
  const { account_id, first_id, last_id, cut_to, seals, sealed_at, unsealed, public_keys } = verdict;
  const lines = [
    last_id < first_id
      ? `Account ${account_id} has no sealed entry.`
      : `Entries ${first_id} to ${last_id} of account ${account_id} are as they were sealed (${seals} seals, the last of ${sealed_at}).`,
  ];
  if (first_id > 1 && cut_to >= first_id - 1)
    lines.push(`Entries up to ${first_id - 1} were cut by retention.`);
  if (unsealed > 0) lines.push(`${unsealed} later entries are not sealed yet.`);
  for (const key of public_keys) lines.push(`Signed with ${key}.`);
  return lines.map((line) => `${line}\n`).join('');
}
