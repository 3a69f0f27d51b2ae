import { addAbortSignal, Readable } from 'node:stream';
import { awaitEntries } from '../../activity/await-entries.ts';
import { csvHeader, csvRow } from '../../activity/csv-entry.ts';
import { recordExport } from '../../activity/record-export.ts';
import { type FoundEntries, searchEntries } from '../../activity/search-entries.ts';
import { ActivityEntry } from '../../api/endpoints/entries.ts';
import { wholeNumber } from '../../http/query-parameters.ts';
import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { ConcurrencyLimit } from '../concurrency-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { entryColumns } from './entry-columns.ts';
import { filterParameters, readFilter, recordedFilter } from './entry-filter.ts';

/** The result of the last verification of the whole log, as `activity verify` reports it (docs/seals.md). */
export const VerifiedLog = Type.Object({
  /**
   * Whether the entries from `from_id` to `to_id` are as they were sealed; null = the first verification is still
   * running.
   */
  verified: nullable(Type.Boolean()),
  /** The last sealed entry; 0 = none. */
  to_id: count('last sealed entry'),
  /** When the last seal was made; null = none. */
  at: nullable(timestamp('time of the seal')),
  /** When the log was verified. */
  checked_at: nullable(timestamp('time of the verification')),
  /** The first entry that was compared; 0 = none. */
  from_id: count('first entry that was compared'),
  /** Entries that had no seal then. */
  unsealed: count('entries after the last seal'),
  /** Entries that were sealed more than an hour after they happened, or are older than that and not sealed. */
  late: count('entries that were sealed late'),
  /** What is wrong, as a sentence; null = nothing. */
  message: nullable(Type.String()),
});

export type VerifiedLog = Static<typeof VerifiedLog>;

const verified = consoleRoute({
  method: 'GET',
  path: '/activity/verified',
  permission: 'activity:read',
  response: VerifiedLog,
  cost: 20,
  handler: ({ actor, parts }) => parts.verify(actor.accountId),
});

/** The most entries of an answer, and of a part of an export. */
const PAGE = 100;

const SearchedEntries = Type.Object({
  /** Latest first. There may be more, even if it is empty. */
  data: Type.Array(ActivityEntry),
  /** `before_id` to go on with; null = the whole log was searched. */
  next_before_id: nullable(identifier('the entry that was looked at last')),
  /** How far back the log was searched. */
  searched_to: nullable(timestamp('time of that entry')),
});

export type SearchedEntries = Static<typeof SearchedEntries>;

const searched = consoleRoute({
  method: 'GET',
  path: '/activity/search',
  permission: 'activity:read',
  query: Type.Object({
    ...filterParameters,
    before_id: wholeNumber('before_id', 'Searches the entries with a smaller id.', { minimum: 1 }),
  }),
  response: SearchedEntries,
  // Up to a fifth of a second of the store's time.
  cost: 10,
  async handler({
    actor: { accountId },
    query: { before_id: beforeId = Number.MAX_SAFE_INTEGER, ...query },
    read,
  }) {
    const filter = readFilter(query);
    const from = { order: 'desc' as const, afterId: 0, beforeId, limit: PAGE };
    const { entries, next, searchedTo } = await read((run) => searchEntries(run, accountId, filter, from));
    const data = entries.map((entry) => JSON.parse(entry));
    return { data, next_before_id: next, searched_to: searchedTo };
  },
});

const lastId = 'select last_id from activity_head where account_id = $1';

/** Exports run as long as the client reads. */
const exports = new ConcurrencyLimit(
  { ofAll: 20, ofAccount: 3 },
  'Too many exports of the log are running',
  10,
);

const FORMATS = {
  ndjson: {
    type: 'application/x-ndjson',
    header: '',
    line: (entry: string) => `${entry}\n`,
  },
  csv: {
    type: 'text/csv; charset=utf-8',
    header: csvHeader,
    line: (entry: string) => csvRow(entryColumns(JSON.parse(entry))),
  },
};

// A GET, although it adds an entry to the log: only so does a browser save a long answer while it comes. Another site can't make
// a member's browser send it, because the session's cookie is SameSite=Strict.
const exported = consoleRoute({
  method: 'GET',
  path: '/activity/export',
  permission: 'activity:read',
  query: Type.Object({ ...filterParameters, format: Type.Optional(stringEnum('ndjson', 'csv')) }),
  response: 'stream',
  cost: 60,
  async handler({
    actor: { accountId },
    change,
    parts,
    query: { format = 'ndjson', ...query },
    read,
    requireStill,
    withWriter,
  }) {
    const filter = readFilter(query);
    const { before } = filter;
    if (before !== null) await withWriter((writer) => awaitEntries(writer, accountId, before));
    // An export ends with the last entry at its start: otherwise it would follow a busy log for ever.
    const [head] = await read((run) => run<{ last_id: number }>(lastId, [accountId]));
    const last = head?.last_id ?? 0;
    const leave = exports.enter(accountId);
    try {
      await recordExport(change, { format, filter: recordedFilter(query, filter), last_id: last });
    } catch (error) {
      leave();
      throw error;
    }
    const { type, header, line } = FORMATS[format];
    const page = (afterId: number) =>
      read((run) =>
        searchEntries(run, accountId, filter, { order: 'asc', afterId, beforeId: last + 1, limit: PAGE }),
      );
    async function* lines() {
      if (header !== '') yield header;
      for (let afterId: number | null = 0; afterId !== null; ) {
        const { entries, next }: FoundEntries = await page(afterId);
        if (entries.length > 0) yield entries.map(line).join('');
        afterId = next;
        if (afterId !== null) await requireStill();
      }
    }
    const filename = `activity-${new Date().toISOString().slice(0, 10)}.${format}`;
    // Destroyed, so that a failed export does not look complete.
    const stream = addAbortSignal(parts.closing, Readable.from(lines())).once('close', leave);
    return { type, filename, stream };
  },
});

export const activityRoutes: ConsoleRoute[] = [searched, exported, verified];
