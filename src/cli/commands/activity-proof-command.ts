import { existsSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { requireAccount } from '../../accounts/account-row.ts';
import type { DeliveredVerified } from '../../activity/seals/verify-delivered.ts';
import { idOf, oneOf } from '../arguments.ts';
import type { Verdict } from '../audit-proof.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { jsonLine, printOne, printProblem } from '../print.ts';
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
        process.stdout.write(json ? jsonLine({ public_key: key }) : `${key}\n`);
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
  addCommand(group, 'verify', 'verify the log, or what a log stream delivered, against its seals')
    .argument(
      '[DIRECTORY]',
      'batches that a log stream with the format sealed delivered, as the receiver stored them: JSON lines or arrays, gzip too. Each entry must be there and as it was sealed. The seals are those of --seal-file, or the store’s',
    )
    .option(
      '--account <ID>',
      'the account; leave it out for a folder of "activity export"',
      idOf('--account'),
    )
    .option(
      '--from-id <ID>',
      'with DIRECTORY: the first entry that must be there (default: the first that is)',
      idOf('--from-id'),
    )
    .option(
      '--to-id <ID>',
      'with DIRECTORY: the last entry that must be there (default: the last that is sealed)',
      idOf('--to-id'),
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
    .option(
      '--strict',
      'exit with 2 also if entries were sealed more than an hour after they happened, came twice or are out of order',
    )
    .addHelpText('after', EXIT_CODES)
    .action(async (directory: string | undefined, options: VerifyOptions) => {
      if (directory !== undefined) return verifyDirectory(context, directory, options);
      if (options.fromId !== undefined || options.toId !== undefined)
        throw new UsageError('--from-id and --to-id need DIRECTORY.');
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

async function verifyDirectory(
  context: CommandContext,
  directory: string,
  options: VerifyOptions,
): Promise<void> {
  const { account = null, fromExport, fromId = null, toId = null, sealFile, publicKey = null } = options;
  if (fromExport !== undefined) throw new UsageError('Give DIRECTORY or --from-export, not both.');
  if (!isDirectory(directory)) throw new UsageError('DIRECTORY must name an existing directory.');
  if (fromId !== null && toId !== null && fromId > toId)
    throw new UsageError('--from-id must not be greater than --to-id.');
  if (sealFile !== undefined && !isFile(sealFile))
    throw new UsageError('--seal-file must name an existing file.');
  const auditProof = await context.loadAuditProof();
  const log = { directory, accountId: account, fromId, toId };
  const verdict =
    sealFile === undefined
      ? await context.withStore((writer, openOwner) =>
          auditProof.verifyDeliveredByStore(writer, openOwner(), log, publicKey),
        )
      : await auditProof.verifyDelivered(log, sealFile, publicKey);
  printVerdict(verdict, options.strict ?? false, options.json);
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
late, came twice or are out of order. 3: the secret key does not belong to this store, so
nothing was verified. 1: the log could not be verified.`;

interface VerifyOptions {
  account?: number;
  fromId?: number;
  toId?: number;
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

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Prints success to standard output and failure to standard error; with `--json` both to standard output. */
function printVerdict(verdict: Verdict, strict: boolean, json: boolean | undefined): void {
  if (verdict.verified === null) process.exitCode = 3;
  else if (!verdict.verified || (strict && isDoubtful(verdict))) process.exitCode = 2;
  if (json) process.stdout.write(jsonLine(verdict));
  else if (!verdict.verified) printProblem(verdict.message);
  else process.stdout.write(sentences(verdict));
}

type Success = Extract<Verdict, { verified: true }>;

function isDoubtful(verdict: Success): boolean {
  return (
    verdict.late.length > 0 || ('files' in verdict && (verdict.doubled > 0 || verdict.misplaced.length > 0))
  );
}

function sentences(verdict: Success): string {
  const { account_id, first_id, last_id, cut_to, seals, sealed_at, unsealed, public_keys } = verdict;
  const lines = [
    last_id < first_id
      ? `Account ${account_id} has no sealed entries.`
      : `Entries ${first_id} to ${last_id} of account ${account_id} match their seals (${seals} seals, the last from ${sealed_at}).`,
  ];
  if (first_id > 1 && cut_to >= first_id - 1)
    lines.push(`Entries up to ${first_id - 1} were removed by retention.`);
  if (unsealed > 0) lines.push(`${unsealed} later entries are not sealed yet.`);
  if ('files' in verdict) lines.push(...deliveredSentences(verdict));
  lines.push(...lateSentences(verdict.late));
  for (const key of public_keys) lines.push(`Signed with ${key}.`);
  return lines.map((line) => `${line}\n`).join('');
}

/** The most ranges to list; the others are only counted. */
const LISTED = 20;

function deliveredSentences({
  files,
  first_id,
  doubled,
  doubled_ranges,
  misplaced,
}: DeliveredVerified): string[] {
  const lines = [`All of them are in the directory (${files} files).`];
  if (first_id > 1)
    lines.push(
      `Entries before ${first_id} were not looked for: --from-id names the first that must be there.`,
    );
  if (doubled > 0) lines.push(`${doubled} entries came more than once, with the same contents.`);
  for (const { first_id: first, last_id: last, file, record, also_in } of doubled_ranges.slice(0, LISTED)) {
    const entries = first === last ? `Entry ${first}` : `Entries ${first} to ${last}`;
    lines.push(`${entries} came again: ${file}, from record ${record} on; also in ${also_in}.`);
  }
  for (const { id, file, record } of misplaced.slice(0, LISTED))
    lines.push(`Entry ${id} is out of order: ${file}, record ${record}.`);
  const more = Math.max(doubled_ranges.length - LISTED, 0) + Math.max(misplaced.length - LISTED, 0);
  if (more > 0) lines.push(`${more} more such records: --json lists them.`);
  return lines;
}

function lateSentences(late: Success['late']): string[] {
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
