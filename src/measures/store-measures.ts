import type pg from 'pg';
import type { PreparedMeasures } from './prepare-measures.ts';

// Well within the range of `real`, so that means of such values are also in it.
const LARGEST = 3e38;
const SMALLEST = 1e-20;

// A connection that is checked more often than once a minute keeps the last run of each minute, so that it takes no more
// space than others. The scan begins a minute earlier only to mark index entries of replaced runs as dead: a page of the
// index is cleaned of those before it is split (docs/decisions/0064-history-of-measures.md).
const replaceRun = `
  delete from measure_run
   where account_id = $1 and connection_id = $2
     and measured_at >= date_trunc('minute', $3::timestamptz) - interval '1 min' and measured_at < $3
     and date_trunc('minute', measured_at) = date_trunc('minute', $3::timestamptz)
     and exists (select from connection_schedule
                  where account_id = $1 and connection_id = $2 and every < interval '1 min')`;

const insertRun = `
  insert into measure_run (account_id, connection_id, measured_at, values) values ($1, $2, $3, $4)`;

const storeRun = `
  with replaced as (${replaceRun})
  ${insertRun}`;

const storeRunAndLatest = `
  with replaced as (${replaceRun}), run as (${insertRun})
  insert into measure_latest
         (account_id, connection_id, measured_at, series_ids, values, operators, warnings, criticals, limits, dropped)
  values ($1, $2, $3, $5, $6, $7, $8, $9, $10, $11)
  on conflict (account_id, connection_id) do update
     set measured_at = excluded.measured_at, series_ids = excluded.series_ids, values = excluded.values,
         operators = excluded.operators, warnings = excluded.warnings, criticals = excluded.criticals,
         limits = excluded.limits, dropped = excluded.dropped`;

/**
 * Stores the numbers of a run that is stored at `at`, in one statement. A run that measured nothing is a gap in every
 * series, and the latest values stay those of the run before.
 */
export async function storeMeasures(
  client: pg.ClientBase,
  { accountId, connectionId, at }: { accountId: number; connectionId: number; at: string },
  { placed, dropped }: PreparedMeasures,
): Promise<void> {
  const values = new Array<number | null>(Math.max(0, ...placed.map(({ slot }) => slot))).fill(null);
  for (const { slot, measure } of placed) values[slot - 1] = toReal(measure.value);
  const run = [accountId, connectionId, at, values];
  if (placed.length === 0) {
    await client.query(storeRun, run);
    return;
  }
  await client.query(storeRunAndLatest, [
    ...run,
    placed.map(({ seriesId }) => seriesId),
    placed.map(({ measure }) => measure.value),
    placed.map(({ measure }) => measure.operator),
    placed.map(({ measure }) => finite(measure.warning)),
    placed.map(({ measure }) => finite(measure.critical)),
    placed.map(({ measure }) => finite(measure.limit)),
    dropped,
  ]);
}

/** The nearest number that PostgreSQL's `real` holds. One that is too small becomes 0. */
export function toReal(value: number): number {
  if (Math.abs(value) < SMALLEST) return 0;
  return Math.fround(Math.min(Math.max(value, -LARGEST), LARGEST));
}

function finite(value: number | null | undefined): number | null {
  return value != null && Number.isFinite(value) ? value : null;
}
