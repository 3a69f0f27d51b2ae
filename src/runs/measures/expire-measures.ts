import type pg from 'pg';
import { DAYS_KEPT_MONTHS, FIVE_MINUTES_KEPT_DAYS, HOURS_KEPT_DAYS } from './kept.ts';

// Of the runs in a window, the last of each five minutes stays.
const thin = `
  delete from measure_run r
   where account_id = $1 and connection_id = $2 and measured_at >= $3 and measured_at < $4
     and exists (select from measure_run later
                  where later.account_id = $1 and later.connection_id = $2
                    and later.measured_at > r.measured_at
                    and later.measured_at < date_bin('5 min', r.measured_at, '2000-01-01Z') + interval '5 min')`;

const expireRuns = `
  delete from measure_run where account_id = $1 and connection_id = $2 and measured_at < $3`;

const expireFiveMinutes = `
  delete from measure_five_minutes where account_id = $1 and connection_id = $2 and day < $3::date`;

const expireHours = `
  delete from measure_hour where account_id = $1 and connection_id = $2 and day < $3::date`;

const expireDays = `
  delete from measure_day where account_id = $1 and connection_id = $2 and month < date_trunc('month', $3::date)`;

// The runs that are kept are younger, so none has a value at a slot that is freed.
const freeSlots = `
  update measure_series set slot = null
   where account_id = $1 and connection_id = $2 and slot is not null and last_seen_at < $3`;

// Never the newest: its number would be given again.
const removeSeries = `
  delete from measure_series s
   where account_id = $1 and connection_id = $2 and slot is null and last_seen_at < $3
     and series_id < (select max(series_id) from measure_series where account_id = $1 and connection_id = $2)
     and not exists (select from measure_hour h
                      where h.account_id = $1 and h.connection_id = $2 and h.series_id = s.series_id)
     and not exists (select from measure_day d
                      where d.account_id = $1 and d.connection_id = $2 and d.series_id = s.series_id)`;

const DAY_MS = 86_400_000;
const SLOT_DAYS = 8;

/** Thins the runs of a day ago of a connection (account and connection id) when the hours in a range were rolled up. */
export async function thinRuns(
  client: pg.ClientBase,
  ids: readonly number[],
  { from, to }: { from: Date; to: Date },
): Promise<void> {
  await client.query(thin, [...ids, before(from, DAY_MS), before(to, DAY_MS)]);
}

/**
 * Removes what is old of a connection, and frees slots, when its days were rolled up to `to` and its five minutes up to the
 * day before.
 */
export async function expireMeasures(client: pg.ClientBase, ids: readonly number[], to: Date): Promise<void> {
  const oldestDay = new Date(to);
  oldestDay.setUTCMonth(to.getUTCMonth() - DAYS_KEPT_MONTHS, 1);
  const yesterday = to.getTime() - (to.getTime() % DAY_MS) - DAY_MS;
  await client.query(expireRuns, [...ids, new Date(yesterday)]);
  await client.query(expireFiveMinutes, [...ids, before(to, FIVE_MINUTES_KEPT_DAYS * DAY_MS).toISOString()]);
  await client.query(expireHours, [...ids, before(to, HOURS_KEPT_DAYS * DAY_MS).toISOString()]);
  await client.query(expireDays, [...ids, oldestDay.toISOString()]);
  await client.query(freeSlots, [...ids, before(to, SLOT_DAYS * DAY_MS)]);
  await client.query(removeSeries, [...ids, oldestDay]);
}

function before(instant: Date, ms: number): Date {
  return new Date(instant.getTime() - ms);
}
