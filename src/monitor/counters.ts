import type pg from 'pg';
import type { Row } from '../checks/check.ts';
import { cleanText } from './clean-text.ts';

/** What a check that counts read in one database, or on the server ('' then). */
export interface CounterSample {
  checkId: string;
  database: string;
  /** Seconds from the run's start (`Instructions.began`) to the reading. */
  after: number;
  rows: Row[];
}

/** A sample of the run before, so many seconds before it was loaded. */
export interface CounterBefore {
  checkId: string;
  database: string;
  seconds: number;
  rows: Row[];
}

// Samples are a row a server, a database or a large table; a stranger that sends more gets no comparison, not a full store.
const ROWS = 1_000;
const TEXT = 200;

/** Rows as they may be stored: numbers, truth values, and short clean texts of everything else. */
export function cleanRows(rows: Row[]): Row[] {
  return rows
    .slice(0, ROWS)
    .map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [cleanText(name, TEXT), cleanValue(value)]),
      ),
    );
}

function cleanValue(value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return cleanText(value instanceof Date ? value.toISOString() : String(value), TEXT);
}

// The place of the run's start on the store's clock comes back from `counters_before`, so clocks need not agree.
const storeSamples = `
  insert into counter_sample (account_id, connection_id, check_id, database, taken_at, rows)
  select $1, $2, "checkId", database, to_timestamp($3) + after * interval '1 s', rows
    from jsonb_to_recordset($4::jsonb) as s ("checkId" text, database text, after float8, rows jsonb)
  on conflict (account_id, connection_id, check_id, database)
  do update set taken_at = excluded.taken_at, rows = excluded.rows`;

/** Keeps what a run counted for the next one; `loadedAt` is the store's time (Unix, seconds) when the run began. */
export async function storeCounters(
  client: pg.ClientBase,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  loadedAt: number,
  samples: CounterSample[],
): Promise<void> {
  if (samples.length === 0) return;
  await client.query(storeSamples, [accountId, connectionId, loadedAt, JSON.stringify(samples)]);
}
