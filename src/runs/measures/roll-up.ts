import type pg from 'pg';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import { inTransaction } from '../../store/connect.ts';
import { expireMeasures, thinRuns } from './expire-measures.ts';
import { appendToDays, appendToHours, packFiveMinutes } from './roll-up-sql.ts';
import type { MeasuredConnection } from './store-measures.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

// A run's time is set before it commits, so an hour is rolled up only some time after its end.
const nextDue = `
  select account_id as "accountId", connection_id as "connectionId", hours_to as "hoursTo",
         extract(epoch from days_to)::float8 * 1000 as "daysTo",
         date_trunc('hour', coalesce($4, now()) - interval '2 min') as due
    from measure_rolled r
   where hours_to < date_trunc('hour', coalesce($4, now()) - interval '2 min')
     and (hours_to, account_id, connection_id) > ($1, $2, $3)
     and ${mayStartWork('r.account_id')}
   order by hours_to, account_id, connection_id
   limit 1
     for update skip locked`;

const nextRun = `
  select date_trunc('hour', min(measured_at)) as hour
    from measure_run
   where account_id = $1 and connection_id = $2 and measured_at >= $3 and measured_at < $4`;

const moveOn = `
  update measure_rolled set hours_to = $3, days_to = $4::date where account_id = $1 and connection_id = $2`;

interface Due extends MeasuredConnection {
  hoursTo: Date;
  /** In milliseconds. */
  daysTo: number;
  due: Date;
}

/** The place in the order of what is due. */
type Place = [hoursTo: Date | string, accountId: number, connectionId: number];

/** The options of {@link rollUp}. */
export interface RollUp {
  /**
   * Called in the transaction that rolled up hours of a connection, such as to make forecasts from them; `at` is the end of
   * the last of these hours, Unix time in seconds.
   */
  rolled?: (client: pg.ClientBase, connection: MeasuredConnection, at: number) => Promise<void>;
  /** The instant to roll up at (default: the store's clock). */
  now?: Date;
}

/**
 * Rolls up what connections measured, and removes what has expired: of each connection up to a day in a transaction that
 * also moves its watermark, so a kill at any point leaves nothing half done. Yields after each transaction. Any number of
 * processes may do this at once. A connection that fails is left to the next time; throws its error at the end.
 */
export async function* rollUp(writer: pg.Pool, options: RollUp = {}): AsyncGenerator<MeasuredConnection> {
  const errors: unknown[] = [];
  let place: Place = ['-infinity', 0, 0];
  for (;;) {
    let due: Due | undefined;
    try {
      due = await inTransaction(writer, async (client) => {
        const { rows } = await client.query<Due>(nextDue, [...place, options.now]);
        const [next] = rows;
        if (!next) return undefined;
        place = [next.hoursTo, next.accountId, next.connectionId];
        due = next;
        await rollUpConnection(client, next, options);
        return next;
      });
      if (!due) break;
      yield { accountId: due.accountId, connectionId: due.connectionId };
    } catch (error) {
      if (!due) throw error;
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

async function rollUpConnection(
  client: pg.ClientBase,
  { accountId, connectionId, hoursTo, daysTo, due }: Due,
  { rolled }: RollUp,
): Promise<void> {
  const ids = [accountId, connectionId];
  const to = new Date(Math.min(due.getTime(), hoursTo.getTime() + DAY_MS));
  let values = 0;
  for (let from = hoursTo; ; ) {
    const { rows } = await client.query<{ hour: Date | null }>(nextRun, [...ids, from, to]);
    const hour = rows[0]?.hour;
    if (!hour) break;
    const { rowCount } = await client.query(appendToHours, [...ids, dateOf(hour), hour.getUTCHours(), hour]);
    values += rowCount ?? 0;
    from = new Date(hour.getTime() + HOUR_MS);
  }
  const today = to.getTime() - (to.getTime() % DAY_MS);
  for (let day = daysTo; day < today; day += DAY_MS) {
    const date = dateOf(new Date(day));
    const place = [`${date.slice(0, 7)}-01`, Number(date.slice(8)) - 1];
    await client.query(appendToDays, [...ids, ...place, date]);
  }
  await thinRuns(client, ids, { from: hoursTo, to });
  if (daysTo < today) {
    await packRuns(client, ids, new Date(today - DAY_MS));
    await expireMeasures(client, ids, to);
  }
  await client.query(moveOn, [...ids, to, dateOf(new Date(Math.max(daysTo, today)))]);
  if (values > 0) await rolled?.(client, { accountId, connectionId }, to.getTime() / 1_000);
}

/** Makes five minutes of the days before `day`, whose runs are removed next. */
async function packRuns(client: pg.ClientBase, ids: readonly number[], day: Date): Promise<void> {
  const { rows } = await client.query<{ hour: Date | null }>(nextRun, [...ids, '-infinity', day]);
  const first = rows[0]?.hour?.getTime();
  if (first === undefined) return;
  for (let time = first - (first % DAY_MS); time < day.getTime(); time += DAY_MS) {
    await client.query(packFiveMinutes, [...ids, new Date(time)]);
  }
}

/** The date in UTC, as 2026-01-31. */
function dateOf(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}
