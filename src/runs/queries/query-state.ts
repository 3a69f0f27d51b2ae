import { deflateSync, inflateSync } from 'node:zlib';
import { COUNTERS, type QueryWork } from '../../checks/queries/query-facts.ts';
import { ENTRY_LIMIT, PARTS, type Seen, seenBit } from '../../checks/queries/statistics-sql.ts';

/** The counters of all entries as the last run read them. */
export interface QueryState {
  /** The server's time of the reading: Unix, in seconds. */
  at: number;
  /** The part of the entries that was read last, whether they moved or not. */
  part: number;
  /** Which server, and since when; counters of another one can't be compared. */
  server: string;
  /** When its statistics were reset; null if it does not tell. */
  reset: string | null;
  /** How many parts may have entries that were not read. If none has, an entry that is missing is new. */
  unreadParts: number;
  /** How many entries the server had removed, or could not add, for want of room; null if it does not tell. */
  lost: number | null;
  /** Entry → what it counted. */
  entries: Map<string, QueryWork>;
  /** PostgreSQL: whether a query whose text was looked at is set aside, as {@link import('../../checks/queries/query-facts.ts').QueryFacts} says. */
  judged: ReadonlyMap<string, boolean>;
}

type Packed = [
  ...[number, number, string, string | null, number, [string, ...number[]][]],
  lost?: number | null,
  setAside?: string[],
  others?: string[],
];

// 5,000 entries take 400 kB unpacked.
const LARGEST = 4_000_000;

/** Packs a state for the store: about 30 bytes an entry. */
export function packState({
  at,
  part,
  server,
  reset,
  unreadParts,
  lost,
  entries,
  judged,
}: QueryState): Buffer {
  const rows = [...entries].map(([entry, work]): Packed[5][number] => [
    entry,
    ...COUNTERS.map((name) => (name === 'seconds' ? Math.round(work.seconds * 1e6) / 1e6 : work[name])),
  ]);
  const isJudged = (is: boolean) =>
    [...judged].flatMap(([query, isSetAside]) => (isSetAside === is ? query : []));
  const packed: Packed = [at, part, server, reset, unreadParts, rows, lost, isJudged(true), isJudged(false)];
  return deflateSync(JSON.stringify(packed));
}

/** Unpacks a state of {@link packState}; null if it is none. */
export function unpackState(packed: Buffer): QueryState | null {
  try {
    const text = inflateSync(packed, { maxOutputLength: LARGEST }).toString();
    const [at, part, server, reset, unreadParts, rows, lost = null, setAside = [], others = []] = JSON.parse(
      text,
    ) as Packed;
    if (!Number.isInteger(part) || part < 0 || part >= PARTS) return null;
    const entries = rows.map(
      ([entry, calls = 0, seconds = 0, rows = 0, read = 0, hit = 0, temporary = 0]) => {
        const work: QueryWork = { calls, seconds, rows, read, hit, temporary };
        return [entry, work] as const;
      },
    );
    const judged = new Map([
      ...setAside.map((query) => [query, true] as const),
      ...others.map((query) => [query, false] as const),
    ]);
    return { at, part, server, reset, unreadParts, lost, entries: new Map(entries), judged };
  } catch {
    return null;
  }
}

const POSTGRES_ENTRY = /^-?\d{1,19}\/\d{1,10}\/\d{1,10}\/[01]$/;

/** What the next statement needs to know of a state. */
export function seenIn({ at, part, entries }: QueryState): Seen {
  // 64 bits an entry: one in 64 shares its bit. At least 4 KB, so that on a small server hardly one does.
  const bits = 2 ** Math.max(15, Math.ceil(Math.log2(Math.max(1, entries.size) * 64)));
  const seen = Buffer.alloc(bits / 8);
  for (const [entry, { calls }] of entries) {
    if (!POSTGRES_ENTRY.test(entry)) continue;
    const [query = 0n, user = 0n, database = 0n, top = 0n] = entry.split('/').map(BigInt);
    const bit = seenBit({ query, user, database, top, calls: BigInt(calls) }, bits);
    // PostgreSQL counts the bits of a byte from the lowest.
    seen[bit >> 3] = (seen[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return { bits: seen, at, part: (part + 1) % PARTS };
}

/** The part that an entry belongs to, as the statements compute it. */
export function partOf(entry: string): number {
  const [query = ''] = entry.split('/');
  return POSTGRES_ENTRY.test(entry)
    ? Number(BigInt.asUintN(64, BigInt(query)) % BigInt(PARTS))
    : Number.parseInt(query.slice(0, 1), PARTS);
}

/** The entries with the most time, as many as are kept. */
export function mostTime(entries: Map<string, QueryWork>): Map<string, QueryWork> {
  if (entries.size <= ENTRY_LIMIT) return entries;
  return new Map(
    [...entries].sort(([, one], [, other]) => other.seconds - one.seconds).slice(0, ENTRY_LIMIT),
  );
}
