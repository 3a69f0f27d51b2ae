import { addAbortSignal, Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import { awaitEntries } from '../../activity/await-entries.ts';
import { entries } from '../../activity/entries.ts';
import { nullable } from '../../http/endpoint.ts';
import { count, timestamp } from '../../http/fields.ts';
import { rangeParameters, readRange } from '../../http/range-parameters.ts';
import { ConcurrencyLimit } from '../concurrency-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

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

const lastId = 'select last_id from activity_head where account_id = $1';

/** Exports run as long as the client reads. */
const exports = new ConcurrencyLimit(
  { ofAll: 20, ofAccount: 3 },
  'Too many exports of the log are running',
  10,
);

/** The page size of the endpoint. */
const PAGE = 100;

const exported = consoleRoute({
  method: 'GET',
  path: '/activity/export',
  permission: 'activity:read',
  query: Type.Object({ ...rangeParameters, action_type: entries.query.properties.action_type }),
  response: 'stream',
  cost: 60,
  async handler({ actor: { accountId }, caller, parts, query, read, requireStill }) {
    const { before } = readRange(query);
    if (before !== null) await awaitEntries(parts.writer, accountId, before);
    // An export ends with the last entry at its start: otherwise it would follow a busy log for ever.
    const [head] = await read((run) => run<{ last_id: number }>(lastId, [accountId]));
    const last = head?.last_id ?? 0;
    const page = async (afterId: number) => {
      const asked = { ...query, order: 'asc', after_id: afterId, per_page: PAGE };
      const { body } = await read((run) =>
        entries.answer(run, { accountId, query: asked, id: '', url: `${caller.origin}/` }),
      );
      return { data: body.data.filter(({ id }) => id <= last), hasMore: body.meta.has_more };
    };
    const first = await page(0); // an invalid range is reported before the first byte
    async function* lines() {
      for (let { data, hasMore } = first; data.length > 0; ) {
        yield data.map((entry) => `${JSON.stringify(entry)}\n`).join('');
        if (!hasMore) return;
        await requireStill();
        ({ data, hasMore } = await page(data.at(-1)?.id ?? 0));
      }
    }
    const leave = exports.enter(accountId);
    const filename = `activity-${new Date().toISOString().slice(0, 10)}.ndjson`;
    // Destroyed, so that a failed export does not look complete.
    const stream = addAbortSignal(parts.closing, Readable.from(lines())).once('close', leave);
    return { type: 'application/x-ndjson', filename, stream };
  },
});

export const activityRoutes: ConsoleRoute[] = [exported, verified];
