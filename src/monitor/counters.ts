import type pg from 'pg';
import type { Row } from '../checks/fault.ts';
import { cleanText } from '../platform/text/clean-text.ts';
import { doesNotMove } from '../store/cells/moving.sql.ts';
import { one } from '../store/one.ts';

/** What a check that compares runs read in one database, or on the server (`database` is ''). */
export interface CounterSample {
  checkId: string;
  database: string;
  /** Seconds from the run's start (`Instructions.began`) to the reading. */
  after: number;
  rows: Row[];
}

/** A sample of the previous run, taken `seconds` before it was loaded. */
export interface CounterBefore {
  checkId: string;
  database: string;
  seconds: number;
  rows: Row[];
}

// A sample has one row per server, database or large table. Rows beyond this limit are dropped, so that a hostile
// server can't fill the store.
const ROWS = 1_000;
const TEXT = 200;

/** Makes rows safe to store: numbers and booleans stay, other values become short clean texts. */
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

// `loadedAt` is the run's start by the store's clock, so the clocks need not agree.
const storeSamples = `
  insert into counter_sample (account_id, connection_id, check_id, database, taken_at, rows)
  select $1, $2, "checkId", database, to_timestamp($3) + after * interval '1 s', rows
    from jsonb_to_recordset($4::jsonb) as s ("checkId" text, database text, after float8, rows jsonb)
  on conflict (account_id, connection_id, check_id, database)
  do update set taken_at = excluded.taken_at, rows = excluded.rows`;

/** Stores a run's samples for the next run. `loadedAt` is the store's time (Unix, seconds) at the start of the run. */
export async function storeCounters(
  client: pg.ClientBase,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  loadedAt: number,
  samples: CounterSample[],
): Promise<void> {
  if (samples.length === 0) return;
  await client.query(storeSamples, [accountId, connectionId, loadedAt, JSON.stringify(samples)]);
}

// Skips samples that a run is storing at this moment: they are no longer old.
const pruneOldest = `
  with old as materialized (
    select account_id, connection_id, check_id, database
      from counter_sample
     where taken_at < now() - interval '720 hours' and ${doesNotMove('counter_sample.account_id')}
     limit 1000
       for update skip locked
  ), gone as (
    delete from counter_sample s
     using old
     where s.account_id = old.account_id
       and s.connection_id = old.connection_id
       and s.check_id = old.check_id
       and s.database = old.database
    returning s.check_id
  )
  select count(*) as samples from gone`;

/**
 * Deletes the counters that no run has updated for 30 days, such as those of a dropped database. Works in
 * transactions of at most 1,000 rows, and yields the number of each.
 */
export async function* pruneCounters(owner: pg.Pool): AsyncGenerator<number> {
  for (;;) {
    const { rows } = await owner.query<{ samples: number }>(pruneOldest);
    const { samples } = one(rows, 'prune counters');
    if (samples === 0) return;
    yield samples;
  }
}
