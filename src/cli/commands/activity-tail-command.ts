import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type pg from 'pg';
import { ENTRY_FORMATS, type EntryFormat, formatEntry } from '../../activity/formats/format.ts';
import type { ShownEntry } from '../../activity/formats/shown-entry.ts';
import { countOf, idOf, serviceUrlOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { jsonLine } from '../print.ts';
import { UsageError } from '../usage-error.ts';
import { addProofCommands } from './activity-proof-command.ts';

/** How many entries are printed without --after-id. */
const LAST_ENTRIES = 20;
const ENTRIES_A_READ = 1_000;
/** How often --follow looks for new entries. */
const POLL_MS = 500;

const lastId = 'select last_id from activity_head where account_id = $1';

// Entries as endpoint 6 shows them; json (not jsonb) keeps the order of the properties.
const entriesAfter = `
  select a.id,
         a.action_type,
         a.page_path,
         coalesce(a.properties::json, json_build_object(
           'method', a.method, 'status', a.status, 'error_code', a.error_code, 'query', coalesce(a.query, '{}'),
           'request_id', a.request_id, 'api_key_id', a.api_key_id, 'api_key_name', k.name,
           'source_ip', host(a.source_ip), 'user_agent', a.user_agent)) as properties,
         a.occurred_at
    from activity a
    left join api_key k on k.account_id = a.account_id and k.api_key_id = a.api_key_id
   where a.account_id = $1 and a.id > $2 and a.id <= $3
   order by a.id`;

interface Tail {
  account: number;
  afterId?: number;
  follow?: boolean;
  format: EntryFormat;
}

interface TailOptions extends Omit<Tail, 'account'> {
  account?: number;
  url?: string;
  state?: string;
}

/** Prints the log after `afterId`, one JSON object per line, until its end or, with --follow, until the signal. */
async function printEntries(
  writer: pg.Pool,
  { account, afterId, follow, format }: Tail,
  until: AbortSignal,
): Promise<void> {
  const end = async () => {
    const { rows } = await writer.query<{ last_id: number }>(lastId, [account]);
    const [head] = rows;
    if (head === undefined) throw new Error(`There is no account ${account}.`);
    return head.last_id;
  };
  let last = await end();
  let seen = afterId ?? Math.max(0, last - LAST_ENTRIES);
  while (!until.aborted) {
    while (seen < last && !until.aborted) {
      const upTo = Math.min(seen + ENTRIES_A_READ, last);
      const { rows } = await writer.query<StoredEntry>(entriesAfter, [account, seen, upTo]);
      seen = upTo;
      const text = rows.map((entry) => jsonLine(formatted(format, entry, account))).join('');
      if (!process.stdout.write(text)) await once(process.stdout, 'drain', { signal: until }).catch(() => {});
    }
    if (!follow) return;
    await wait(POLL_MS, undefined, { signal: until }).catch(() => {});
    if (!until.aborted) last = await end();
  }
}

type StoredEntry = Omit<ShownEntry, 'occurred_at'> & { occurred_at: Date };

function formatted(format: EntryFormat, entry: StoredEntry, accountId: number): object {
  return formatEntry(format, { ...entry, occurred_at: entry.occurred_at.toISOString() }, accountId);
}

/** `activity tail`, and the commands for seals. */
export function addActivityCommands(program: Command, context: CommandContext): void {
  const group = program.command('activity').description('the activity log of an account');
  addProofCommands(group, context);

  addCommand(group, 'tail', 'print the log, one JSON object per line, oldest first')
    .option('--account <ID>', 'read this account from the store', idOf('--account'))
    .option(
      '--url <URL>',
      'read from a service through its API, with the key in DBVITALS_API_KEY; retries after failures',
      serviceUrlOf('--url'),
    )
    .option('--follow', 'keep printing new entries until interrupted')
    .addOption(
      new Option('--format <FORMAT>', 'as the API shows them, or as events of OCSF 1.3.0 or ECS 8.11')
        .choices(ENTRY_FORMATS)
        .default('native'),
    )
    .option(
      '--after-id <N>',
      `start after this entry, 0 for all entries (default: the last ${LAST_ENTRIES})`,
      countOf('--after-id', 0, Number.MAX_SAFE_INTEGER),
    )
    .option(
      '--state <FILE>',
      'with --url: resume after the last entry recorded in FILE. FILE is updated every 100 lines or every second, so a kill loses no line and repeats at most 100',
    )
    .action(async ({ account, url, state, ...tail }: TailOptions) => {
      if ((account === undefined) === (url === undefined)) {
        throw new UsageError('Give --account to read the store, or --url to read a service.');
      }
      if (state !== undefined && url === undefined) throw new UsageError('--state needs --url.');
      const ended = new AbortController();
      process.stdout.once('error', () => ended.abort()); // the reader closed the pipe
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ended.abort());
      if (account !== undefined) {
        await context.withStore((writer) => printEntries(writer, { ...tail, account }, ended.signal));
      } else if (url !== undefined) {
        const { tailService } = await import('../tail-service.ts');
        const file = state === undefined ? {} : { state };
        const { signal } = ended;
        await tailService(
          { ...tail, ...file, url, apiKey: context.apiKey(), lastEntries: LAST_ENTRIES },
          signal,
        );
      }
    });
}
