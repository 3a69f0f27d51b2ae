import type pg from 'pg';
import type { SeriesValue } from '../../checks/measure.ts';
import { inTransaction } from '../../store/connect.ts';
import { one } from '../../store/one.ts';

/** How many series of a connection are kept. */
export const MAX_SERIES = 300;

// A hostile server can't make the look-up of series long.
const MAX_LOOKED_UP = 3_000;

/** A connection of an account. */
export interface MeasuredConnection {
  accountId: number;
  connectionId: number;
}

/** A value with the place of its series. */
interface PlacedMeasure {
  seriesId: number;
  /** 1 to {@link MAX_SERIES}: the element of a run's values. */
  slot: number;
  measure: SeriesValue;
}

/** The numbers of a run, ready to be stored with it. */
export interface PreparedMeasures {
  placed: PlacedMeasure[];
  /** How many numbers have no series, because the connection has {@link MAX_SERIES}. */
  dropped: number;
}

const knownSeries = `
  select g.n::int - 1 as n, s.series_id as "seriesId", s.slot,
         s.last_seen_at < date_trunc('day', now()) or s.grows <> g.grows as outdated
    from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[])
         with ordinality g (check_id, metric, database, object, grows, n)
    join measure_series s
      on s.account_id = $1 and s.connection_id = $2 and s.check_id = g.check_id and s.metric = g.metric
     and s.database = g.database and coalesce(s.object, '') = g.object`;

const usedPlaces = `
  select coalesce(max(series_id), 0) as last, coalesce(array_agg(slot) filter (where slot is not null), '{}') as slots
    from measure_series
   where account_id = $1 and connection_id = $2`;

// Of a series that exists, the id and the slot stay.
const storeSeries = `
  insert into measure_series as s
         (account_id, connection_id, check_id, metric, database, object, grows, series_id, slot, last_seen_at)
  select $1, $2, check_id, metric, database, nullif(object, ''), grows, series_id, slot, date_trunc('day', now())
    from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::integer[], $9::smallint[])
         as g (check_id, metric, database, object, grows, series_id, slot)
  on conflict (account_id, connection_id, check_id, metric, database, coalesce(object, '')) do update
     set slot = coalesce(s.slot, excluded.slot), last_seen_at = excluded.last_seen_at, grows = excluded.grows`;

const startRolling = `
  insert into measure_rolled (account_id, connection_id, hours_to, days_to)
  values ($1, $2, date_trunc('hour', now()), date_trunc('day', now()))
  on conflict do nothing`;

// One transaction at a time gives slots of a connection, or frees them (roll-up.ts).
const lockSeries = `
  select from measure_rolled where account_id = $1 and connection_id = $2 for update`;

/**
 * Finds the series of a run's numbers, and creates those that are missing. Call it before the run's transaction, so that
 * the account's log is not locked meanwhile. Where a connection has too many series, those that have a slot keep it; new
 * ones get one in this order: values of the server from checks, vitals of the server, values of databases, objects.
 */
export async function prepareMeasures(
  writer: pg.Pool,
  connection: MeasuredConnection,
  measures: readonly SeriesValue[],
): Promise<PreparedMeasures> {
  const named = new Map(
    measures.filter(({ value }) => Number.isFinite(value)).map((measure) => [nameOf(measure), measure]),
  );
  const wanted = [...named.values()].toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, MAX_LOOKED_UP);
  if (wanted.length === 0) return { placed: [], dropped: 0 };
  let known = await seriesOf(writer, connection, wanted);
  if (!known.every(isCurrent)) {
    known = await inTransaction(writer, (client) => placeSeries(client, connection, wanted));
  }
  const placed = known.flatMap(({ measure, seriesId, slot }) =>
    seriesId === null || slot === null ? [] : [{ seriesId, slot, measure }],
  );
  return { placed, dropped: named.size - placed.length };
}

/** A number, and its series where it has one. */
interface WantedSeries {
  measure: SeriesValue;
  seriesId: number | null;
  slot: number | null;
  outdated: boolean;
}

const isCurrent = ({ slot, outdated }: WantedSeries) => slot !== null && !outdated;

async function seriesOf(
  writer: pg.Pool | pg.ClientBase,
  { accountId, connectionId }: MeasuredConnection,
  wanted: readonly SeriesValue[],
): Promise<WantedSeries[]> {
  const { rows } = await writer.query<Omit<WantedSeries, 'measure'> & { n: number }>(knownSeries, [
    accountId,
    connectionId,
    ...columnsOf(wanted),
  ]);
  const known = new Map(rows.map((row) => [row.n, row]));
  const none = { seriesId: null, slot: null, outdated: false };
  return wanted.map((measure, n) => ({ ...none, ...known.get(n), measure }));
}

/** Gives slots to the series without one while there are any, and marks all that are measured now. */
async function placeSeries(
  client: pg.ClientBase,
  connection: MeasuredConnection,
  wanted: readonly SeriesValue[],
): Promise<WantedSeries[]> {
  const ids = [connection.accountId, connection.connectionId];
  await client.query(startRolling, ids);
  await client.query(lockSeries, ids);
  const known = await seriesOf(client, connection, wanted);
  const { rows } = await client.query<{ last: number; slots: number[] }>(usedPlaces, ids);
  const { last, slots } = one(rows, 'read the slots of a connection');
  const used = new Set(slots);
  const free = Array.from({ length: MAX_SERIES }, (_, n) => n + 1).filter((slot) => !used.has(slot));
  const placed = known.filter(({ slot }) => slot === null).slice(0, free.length);
  const stored = [
    ...placed.map(({ measure }, n) => ({ measure, seriesId: last + 1 + n, slot: free[n] ?? null })),
    ...known.filter(({ outdated, slot }) => outdated && slot !== null),
  ];
  if (stored.length === 0) return known;
  await client.query(storeSeries, [
    ...ids,
    ...columnsOf(stored.map(({ measure }) => measure)),
    stored.map(({ seriesId }) => seriesId),
    stored.map(({ slot }) => slot),
  ]);
  return seriesOf(client, connection, wanted);
}

function nameOf({ checkId, metric, database, object }: SeriesValue): string {
  return JSON.stringify([checkId, metric, database, object ?? '']);
}

function rankOf({ checkId, database, object }: SeriesValue): number {
  if (object !== null) return 3;
  if (database !== '') return 2;
  return checkId === '' ? 1 : 0;
}

/** Check, metric, database, object, and whether it grows, each as an array. */
function columnsOf(measures: readonly SeriesValue[]): [string[], string[], string[], string[], boolean[]] {
  return [
    measures.map(({ checkId }) => checkId),
    measures.map(({ metric }) => metric),
    measures.map(({ database }) => database),
    measures.map(({ object }) => object ?? ''),
    measures.map(({ grows }) => grows === true),
  ];
}

// Well within the range of `real`, so that means of such values are also in it.
const LARGEST = 3e38;
const SMALLEST = 1e-20;

// A connection that is checked more often than once a minute keeps the last run of each minute, so that it takes no more
// space than others. The scan begins a minute earlier only to mark index entries of replaced runs as dead: a page of the
// index is cleaned of those before it is split (docs/decisions/0063-vitals-and-history.md).
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
  const run = [accountId, connectionId, at, valuesBySlot(placed)];
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

/** Stores the numbers of a run of the past: the latest values stay those of a later run. */
export async function storePastMeasures(
  client: pg.ClientBase,
  { accountId, connectionId, at }: { accountId: number; connectionId: number; at: string },
  { placed }: PreparedMeasures,
): Promise<void> {
  await client.query(storeRun, [accountId, connectionId, at, valuesBySlot(placed)]);
}

function valuesBySlot(placed: readonly PlacedMeasure[]): (number | null)[] {
  const values = new Array<number | null>(Math.max(0, ...placed.map(({ slot }) => slot))).fill(null);
  for (const { slot, measure } of placed) values[slot - 1] = toReal(measure.value);
  return values;
}

/** The nearest number that PostgreSQL's `real` holds. One that is too small becomes 0. */
export function toReal(value: number): number {
  if (Math.abs(value) < SMALLEST) return 0;
  return Math.fround(Math.min(Math.max(value, -LARGEST), LARGEST));
}

function finite(value: number | null | undefined): number | null {
  return value != null && Number.isFinite(value) ? value : null;
}
