import { addAbortSignal, Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import { awaitEntries } from '../../activity/await-entries.ts';
import { entries } from '../../activity/entries.ts';
import { nullable } from '../../http/endpoint.ts';
import { count, timestamp } from '../../http/fields.ts';
import { rangeParameters, readRange } from '../../http/range-parameters.ts';
import { ConcurrencyLimit } from '../concurrency-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/** What the last verification of the whole log found: the same as `activity verify` says (docs/seals.md). */
export const VerifiedLog = Type.Object({
  /** Whether the entries from `from_id` to `to_id` are as they were sealed; null = the first verification has not ended yet. */
  verified: nullable(Type.Boolean()),
  /** The last entry that is sealed; 0 when none is. */
  to_id: count('last sealed entry'),
  /** When the last seal was made; null when there is none. */
  at: nullable(timestamp('time of the seal')),
  /** When the log was verified. */
  checked_at: nullable(timestamp('time of the verification')),
  /** The first entry that was compared. 0 when none was. */
  from_id: count('first entry that was compared'),
  /** Entries that no seal held then. */
  unsealed: count('entries after the last seal'),
  /** Entries that were sealed more than an hour after they happened, or are older than that and not sealed. */
  late: count('entries that were sealed late'),
  /** What is wrong, in a sentence; null where nothing is. */
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

/** An export reads for as long as somebody listens. */
const exports = new ConcurrencyLimit(
  { ofAll: 20, ofAccount: 3 },
  'Too many exports of the log are running',
  10,
);

/** As many entries are read at once as the endpoint gives. */
const PAGE = '100';

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
    // An export is the log as it was when it began: without a last id it would follow a busy log for ever.
    const [head] = await read((run) => run<{ last_id: number }>(lastId, [accountId]));
    const last = head?.last_id ?? 0;
    const page = async (afterId: number) => {
      const asked = { ...query, order: 'asc', after_id: String(afterId), per_page: PAGE };
      const { body } = await read((run) =>
        entries.answer(run, { accountId, query: asked, id: '', url: `${caller.origin}/` }),
      );
      return { data: body.data.filter(({ id }) => id <= last), hasMore: body.meta.has_more };
    };
    const first = await page(0); // what is wrong with the range is told before the first byte
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
    // Cut off, so that it does not look whole, also when nobody reads on.
    const stream = addAbortSignal(parts.closing, Readable.from(lines())).once('close', leave);
    return { type: 'application/x-ndjson', filename, stream };
  },
});

export const activityRoutes: ConsoleRoute[] = [exported, verified];
