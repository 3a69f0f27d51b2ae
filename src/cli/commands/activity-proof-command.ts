import { existsSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { requireAccount } from '../../accounts/account-row.ts';
import { idOf, oneOf } from '../arguments.ts';
import type { Verdict } from '../audit-proof.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printOne } from '../print.ts';
import { publicKeysOf } from '../public-keys.ts';
import { UsageError } from '../usage-error.ts';

/** `activity seal`, `activity verify`, `activity export`. */
export function addProofCommands(group: Command, context: CommandContext): void {
  addSealCommand(group, context);
  addVerifyCommand(group, context);
  addExportCommand(group, context);
}

function addSealCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'seal', 'seal new log entries now; the service does so every 10 minutes')
    .option('--account <ID>', 'seal only this account (default: all accounts)', idOf('--account'))
    .option('--public-key', 'with --account: print the public key that verifies its seals, and seal nothing')
    .action(async (options: { account?: number; publicKey?: boolean; json?: boolean }) => {
      const { account, publicKey, json } = options;
      if (publicKey && account === undefined) throw new UsageError('--public-key needs --account.');
      const auditProof = await context.loadAuditProof();
      if (publicKey && account !== undefined) {
        const key = await context.withStore(async (writer, openOwner) => {
          await requireAccount(writer, account);
          return auditProof.publicKey(openOwner(), account);
        });
        process.stdout.write(json ? `${JSON.stringify({ public_key: key })}\n` : `${key}\n`);
        return;
      }
      const made = await context.withEachStore(async (writer, openOwner) => {
        if (account !== undefined) await requireAccount(writer, account);
        return auditProof.seal(openOwner(), account);
      });
      printOne(
        json,
        made.reduce((sum, one) => ({
          seals: sum.seals + one.seals,
          entries: sum.entries + one.entries,
        })),
      );
    });
}

function addVerifyCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'verify', 'verify the log against its seals')
    .option(
      '--account <ID>',
      'the account; leave it out for a folder of "activity export"',
      idOf('--account'),
    )
    .option(
      '--public-key <KEY>',
      'accept only seals that this key signed, or a key in this file. "activity seal --public-key" prints it: keep it where the owner of the database can’t write',
      publicKeysOf,
    )
    .option(
      '--seal-file <FILE>',
      'a copy of the file of DBVITALS_SEAL_FILE: its seals take precedence over the store’s',
    )
    .option('--from-export <FOLDER>', 'verify a folder of "activity export", without a store')
    .option('--strict', 'exit with 2 also if entries were sealed more than an hour after they happened')
    .addHelpText('after', EXIT_CODES)
    .action(async (options: VerifyOptions) => {
      const { account, fromExport, publicKey: publicKeys = null, strict = false, json } = options;
      const sealFile = options.sealFile ?? (fromExport && isFile(fromExport) ? fromExport : null);
      if (sealFile !== null && !isFile(sealFile))
        throw new UsageError('--seal-file must name an existing file.');
      const auditProof = await context.loadAuditProof();
      if (fromExport !== undefined && fromExport !== sealFile) {
        if (!existsSync(fromExport))
          throw new UsageError('--from-export must name an existing file or folder.');
        if (account !== undefined)
          throw new UsageError('Leave out --account: an exported folder holds one account.');
        return printVerdict(await auditProof.verifyExport(fromExport, publicKeys), strict, json);
      }
      if (account === undefined) throw new UsageError('Give --account, or a folder with --from-export.');
      const verdict = await context.withStore((writer, openOwner) =>
        auditProof.verify(writer, openOwner(), account, { sealFile, publicKeys }),
      );
      return printVerdict(verdict, strict, json);
    });
}

function addExportCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'export', 'export sealed entries to a folder that can be verified on any machine')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .option('--from <D>', 'first date or date-time, inclusive (default: the first entry)')
    .option('--to <D>', 'last date or date-time, inclusive (default: the last entry)')
    .option(
      '--format <F>',
      'csv also writes a table for spreadsheets, besides the NDJSON entries',
      oneOf('--format', ['ndjson', 'csv']),
      'ndjson',
    )
    .requiredOption('--out <FOLDER>', 'a folder that does not exist yet')
    .action(async (options: ExportOptions) => {
      const { account, from, to, format, out, json } = options;
      const auditProof = await context.loadAuditProof();
      const range = auditProof.parseRange(from, to);
      if (typeof range === 'string') throw new UsageError(range);
      if (existsSync(out)) throw new UsageError('--out must name a folder that does not exist yet.');
      const wanted = { accountId: account, format, ...range };
      printOne(
        json,
        await context.withStore((writer, openOwner) => auditProof.export(writer, openOwner(), wanted, out)),
      );
    });
}

const EXIT_CODES = `
Exit code 0: the log matches its seals. 2: it does not, or with --strict, entries were sealed
late. 3: the secret key does not belong to this store, so nothing was verified. 1: the log
could not be verified.`;

interface VerifyOptions {
  account?: number;
  fromExport?: string;
  sealFile?: string;
  publicKey?: string[];
  strict?: boolean;
  json?: boolean;
}

interface ExportOptions {
  account: number;
  from?: string;
  to?: string;
  format: 'ndjson' | 'csv';
  out: string;
  json?: boolean;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Prints success to standard output and failure to standard error; with `--json` both to standard output. */
function printVerdict(verdict: Verdict, strict: boolean, json: boolean | undefined): void {
  if (verdict.verified === null) process.exitCode = 3;
  else if (!verdict.verified || (strict && verdict.late.length > 0)) process.exitCode = 2;
  if (json) process.stdout.write(`${JSON.stringify(verdict)}\n`);
  else if (!verdict.verified) process.stderr.write(`error: ${verdict.message}\n`);
  else process.stdout.write(sentences(verdict));
}

function sentences(verdict: Extract<Verdict, { verified: true }>): string {
  const { account_id, first_id, last_id, cut_to, seals, sealed_at, unsealed, public_keys } = verdict;
  const lines = [
    last_id < first_id
      ? `Account ${account_id} has no sealed entries.`
      : `Entries ${first_id} to ${last_id} of account ${account_id} match their seals (${seals} seals, the last from ${sealed_at}).`,
  ];
  if (first_id > 1 && cut_to >= first_id - 1)
    lines.push(`Entries up to ${first_id - 1} were removed by retention.`);
  if (unsealed > 0) lines.push(`${unsealed} later entries are not sealed yet.`);
  lines.push(...lateSentences(verdict.late));
  for (const key of public_keys) lines.push(`Signed with ${key}.`);
  return lines.map((line) => `${line}\n`).join('');
}

/** The most ranges to list; the others are only counted. */
const LISTED = 20;

function lateSentences(late: Extract<Verdict, { verified: true }>['late']): string[] {
  const lines = late.slice(0, LISTED).map(({ first_id, last_id, occurred_at, sealed_at, sample }) => {
    const entries = first_id === last_id ? `Entry ${first_id}` : `Entries ${first_id} to ${last_id}`;
    const what = sample ? ', sample data,' : '';
    return sealed_at === null
      ? `${entries}${what} from ${occurred_at} on: not sealed, although more than an hour old.`
      : `${entries}${what} from ${occurred_at} on: sealed more than an hour late, at ${sealed_at}.`;
  });
  if (late.length > LISTED) lines.push(`${late.length - LISTED} more ranges: --json lists them all.`);
  return lines;
}
