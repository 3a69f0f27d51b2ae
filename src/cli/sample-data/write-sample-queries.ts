import { createHash } from 'node:crypto';
import { HOUR_COLUMNS } from '../../runs/queries/store-queries.ts';
import { isSqlEngine } from '../../vocabulary/engines.ts';
import type { SampleConnection, SampleFleet } from './sample-connection.ts';
import type { History } from './sample-fleet.ts';
import type { SampleStep } from './sample-progress.ts';
import { randomNumbers } from './sample-random.ts';
import { type SampleTarget, secondsToTimestamp, writeDetails } from './sample-target.ts';

/** As long as queries are kept. */
const DAYS = 14;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** The listed queries are not all of them. */
const ALL_CALLS = 1.2;
const ALL_SECONDS = 1.08;

/** A query of the sample: its calls in an hour of full load, and what a call does. Pairs are of PostgreSQL and of MySQL. */
type Profile = readonly [
  role: 'app' | 'reports',
  calls: number,
  seconds: number,
  rows: number,
  /** Blocks that were not in shared buffers, or rows examined. */
  read: readonly [number, number],
  hit: number,
  /** Bytes, or tables on disk. */
  temporary: readonly [number, number],
];

const PROFILES: readonly Profile[] = [
  ['app', 42_000, 0.0011, 1, [0.02, 1], 4, [0, 0]],
  ['app', 18_500, 0.0007, 1, [0.01, 1], 3, [0, 0]],
  ['app', 9_400, 0.0042, 20, [1.4, 60], 62, [0, 0]],
  ['app', 3_100, 0.0093, 1, [2.1, 3], 18, [0, 0]],
  ['app', 1_850, 0.018, 50, [6.5, 900], 240, [0, 0]],
  ['app', 310, 0.094, 25, [88, 41_000], 1_900, [0, 0]],
  ['app', 95, 0.31, 12, [420, 260_000], 5_200, [0, 1]],
  ['reports', 6, 4.8, 1_400, [31_000, 2_900_000], 64_000, [340_000_000, 4]],
  ['reports', 2, 11.5, 90, [120_000, 9_400_000], 88_000, [1_900_000_000, 9]],
  ['app', 700, 0.0031, 0, [0.3, 1], 9, [0, 0]],
];
/** The texts of the profiles. */
const TEXTS: readonly string[] = [
  'select id, email, name from customers where id = $1',
  'update sessions set seen_at = $1 where id = $2',
  'select o.id, o.total, o.placed_at\n  from orders o\n where o.customer_id = $1\n order by o.placed_at desc\n limit $2',
  'insert into order_items (order_id, product_id, quantity, price) values ($1, $2, $3, $4)',
  'select p.id, p.name, p.price, s.quantity\n  from products p\n  join stock s on s.product_id = p.id\n where p.category_id = $1\n order by p.name\n limit $2',
  'select id, name, price from products where lower(name) like lower($1) limit $2',
  'select c.id, count(*) as orders, max(o.placed_at) as last_order\n  from customers c\n  join orders o on o.customer_id = c.id\n where c.region = $1\n group by c.id\nhaving count(*) > $2',
  'select date(o.placed_at) as day, sum(i.quantity * i.price) as revenue\n  from orders o\n  join order_items i on i.order_id = o.id\n where o.placed_at >= $1\n group by day\n order by day',
  'select p.name, sum(i.quantity) as sold\n  from order_items i\n  join products p on p.id = i.product_id\n group by p.name\n order by sold desc',
  'delete from carts where updated_at < $1',
];
/** A profile that began some days ago, and one that takes longer in the last two days. */
const NEW = { place: 6, days: 3 };
const SLOWED = { place: 2, days: 2, factor: 3.6 };

const showTexts = 'update connection set query_texts = true where account_id = $1 and connection_id = $2';

/** Writes what the queries of the first connections did in the last two weeks, by hour, and their texts. */
export async function writeQueries(
  target: SampleTarget,
  fleet: SampleFleet & { connectionIds: readonly number[] },
  step: SampleStep,
): Promise<void> {
  const makeRows = (connection: SampleConnection) =>
    isSqlEngine(connection.engine)
      ? {
          query_hour: makeHours(connection, target.history),
          query_text: makeTexts(connection, target.history),
        }
      : {};
  await writeDetails(target, fleet, step, makeRows, async (client, { ids, engine }) => {
    if (isSqlEngine(engine)) await client.query(showTexts, [ids.account_id, ids.connection_id]);
  });
}

/** The texts as the server normalizes them. */
function makeTexts({ engine, seed }: SampleConnection, { end }: History): object[] {
  return TEXTS.map((text, place) => ({
    query: hashQuery(engine, `${seed} ${place}`),
    text: engine === 'postgres' ? text : text.replace(/\$\d/g, '?'),
    read_at: secondsToTimestamp(end / 1e6),
  }));
}

function makeHours({ engine, seed }: SampleConnection, { start, end }: History): object[] {
  const random = randomNumbers(seed);
  const ids = PROFILES.map((_, place) => hashQuery(engine, `${seed} ${place}`));
  const last = Math.floor(end / 1e6 / HOUR_S) * HOUR_S;
  const first = Math.max(Math.ceil(start / 1e6 / HOUR_S) * HOUR_S, last - DAYS * DAY_S);
  const hours: object[] = [];
  for (let hour = first; hour <= last; hour += HOUR_S) {
    const age = (last - hour) / DAY_S;
    const load = loadAt(hour);
    const work = PROFILES.flatMap((profile, place) => {
      if (place === NEW.place && age > NEW.days) return [];
      const slowdown = place === SLOWED.place && age < SLOWED.days ? SLOWED.factor : 1;
      return [{ query: ids[place], ...makeWork(profile, engine, { load, slowdown, random }) }];
    }).toSorted((one, other) => other.seconds - one.seconds);
    hours.push({
      hour: secondsToTimestamp(hour),
      all_calls: Math.round(work.reduce((sum, { calls }) => sum + calls, 0) * ALL_CALLS),
      all_seconds: round(work.reduce((sum, { seconds }) => sum + seconds, 0) * ALL_SECONDS),
      ...Object.fromEntries(HOUR_COLUMNS.map((column) => [column, work.map((one) => one[column])])),
    });
  }
  return hours;
}

/** What a query did in an hour. */
function makeWork(
  [role, callsAtFullLoad, secondsOfCall, rows, read, hit, temporary]: Profile,
  engine: SampleConnection['engine'],
  { load, slowdown, random }: { load: number; slowdown: number; random: () => number },
) {
  const calls = Math.max(1, Math.round(callsAtFullLoad * load * (0.85 + 0.3 * random())));
  const isPostgres = engine === 'postgres';
  const place = isPostgres ? 0 : 1;
  return {
    database: 'app',
    role: isPostgres ? role : '',
    calls,
    seconds: round(calls * secondsOfCall * slowdown * (0.9 + 0.2 * random())),
    rows: Math.round(calls * rows),
    read: Math.round(calls * read[place]),
    hit: isPostgres ? Math.round(calls * hit) : 0,
    temporary: Math.round(calls * temporary[place]),
  };
}

/** The share of the full load at an hour: most at noon (UTC), little at night and at weekends. */
function loadAt(hour: number): number {
  const day = Math.max(0, Math.sin(((hour % DAY_S) / DAY_S - 0.25) * 2 * Math.PI));
  const isWeekend = [0, 6].includes(new Date(hour * 1_000).getUTCDay());
  return 0.15 + day * (isWeekend ? 0.25 : 0.85);
}

/** A queryid of PostgreSQL or a digest of MySQL, the same for the same text. */
function hashQuery(engine: SampleConnection['engine'], text: string): string {
  const hash = createHash('sha256').update(text).digest();
  return engine === 'postgres' ? String(hash.readBigInt64BE()) : hash.toString('hex');
}

function round(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
