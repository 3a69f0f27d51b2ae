import { numberIn } from '../../checks/columns.ts';
import type { Row } from '../../checks/fault.ts';
import { COUNTERS, type QueryGrowth, type QueryWork } from '../../checks/queries/query-facts.ts';
import { cleanText } from '../../platform/text/clean-text.ts';
import type { QueryState } from './query-state.ts';

/** An entry of the server's statistics. */
export interface Entry extends QueryGrowth {
  entry: string;
  /** When it was made, by the server's clock; null before PostgreSQL 17. */
  since: number | null;
}

// A queryid is a signed number of 64 bits, a digest 32 or 64 hexadecimal digits. A server could put a text there.
const QUERY = /^(?:-?\d{1,19}|[0-9a-f]{32}|[0-9a-f]{64})$/i;
const NAME = 100;
const ENTRY = 200;
const LARGEST = 1e18;

/** The entries of a reading; those that no server can have are left out. */
export function entriesIn(rows: readonly Row[]): Entry[] {
  return rows.flatMap((row) => {
    const { query } = row;
    if (typeof query !== 'string' || !QUERY.test(query)) return [];
    const { entry = entryOf(query, row['database']) } = row;
    if (typeof entry !== 'string' || entry.length > ENTRY) return [];
    const work = Object.fromEntries(COUNTERS.map((name) => [name, numberIn(row, name)]));
    if (Object.values(work).some((value) => !(value >= 0 && value <= LARGEST))) return [];
    return [
      {
        ...(work as unknown as QueryWork),
        query,
        entry,
        database: nameIn(row, 'database'),
        role: nameIn(row, 'role'),
        since: typeof row['since'] === 'number' ? row['since'] : null,
      },
    ];
  });
}

/** MySQL has an entry per digest and schema. */
function entryOf(query: string, database: unknown): string {
  return typeof database === 'string' && database !== '' ? `${query}/${database}` : query;
}

function nameIn(row: Row, column: string): string {
  return typeof row[column] === 'string' ? cleanText(row[column], NAME) : '';
}

/**
 * What each entry did since the last run. One that the last run did not see did all of it since, unless the last run saw
 * only a part of the entries and nobody knows when it was made: then it is left out.
 */
export function growthSince(last: QueryState, entries: readonly Entry[]): QueryGrowth[] {
  return entries.flatMap(({ entry, since, ...now }) => {
    const before = last.entries.get(entry);
    const isNew = since !== null && since > last.at;
    if (!before && !isNew && last.unreadParts > 0) return [];
    const grown = isNew || !before ? now : subtractQueryWork(now, before);
    return grown.calls > 0 ? [grown] : [];
  });
}

/** A counter that fell was reset, so all that it counts happened since. */
function subtractQueryWork(now: QueryGrowth, before: QueryWork): QueryGrowth {
  const grown = { ...now };
  for (const name of COUNTERS) grown[name] = now[name] - before[name];
  // Microseconds are rounded in the store.
  return COUNTERS.some((name) => grown[name] < -1e-5)
    ? now
    : { ...grown, seconds: Math.max(0, grown.seconds) };
}
