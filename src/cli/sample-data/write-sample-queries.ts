import { createHash } from 'node:crypto';
import type pg from 'pg';
import { HOUR_COLUMNS } from '../../runs/queries/store-queries.ts';
import { inTransaction } from '../../store/connect.ts';
import type { SampleConnection, SampleFleet } from './sample-connection.ts';
import type { History } from './sample-fleet.ts';
import type { SampleStep } from './sample-progress.ts';
import { randomNumbers } from './sample-random.ts';

const ARRAYS = HOUR_COLUMNS.map((column, n) => `${column} ${n < 3 ? 'text' : 'float8'}[]`);

const insertHours = `
  insert into query_hour (account_id, connection_id, hour, all_calls, all_seconds, ${HOUR_COLUMNS.join(', ')})
  select $1, $2, to_timestamp(hour), all_calls, all_seconds, ${HOUR_COLUMNS.join(', ')}
    from json_to_recordset($3::json) as h (hour float8, all_calls float8, all_seconds float8, ${ARRAYS.join(', ')})`;

/** The connections that have queries: the first ones. */
const MOST = 20;
/** As long as queries are kept. */
const DAYS = 14;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

const insertTexts = `
  with texts as (
    insert into query_text (account_id, connection_id, query, text, read_at)
    select $1, $2, query, text, to_timestamp($5) from unnest($3::text[], $4::text[]) as t (query, text)
  )
  update connection set query_texts = true where account_id = $1 and connection_id = $2`;

/** A query of the sample: what it does in an hour of full load, and by call. */
interface Profile {
  text: string;
  role: 'app' | 'reports';
  calls: number;
  seconds: number;
  rows: number;
  /** PostgreSQL: blocks that were not in shared buffers; MySQL: rows examined. */
  read: [postgres: number, mysql: number];
  hit: number;
  /** PostgreSQL: bytes; MySQL: tables on disk. */
  temporary: [postgres: number, mysql: number];
  /** Began so many days ago. */
  isNewSince?: number;
  /** Takes so many times as long in the last two days. */
  slowdown?: number;
}

const PROFILES: readonly Profile[] = [
  {
    text: 'select id, email, name from customers where id = $1',
    role: 'app',
    calls: 42_000,
    seconds: 0.0011,
    rows: 1,
    read: [0.02, 1],
    hit: 4,
    temporary: [0, 0],
  },
  {
    text: 'update sessions set seen_at = $1 where id = $2',
    role: 'app',
    calls: 18_500,
    seconds: 0.0007,
    rows: 1,
    read: [0.01, 1],
    hit: 3,
    temporary: [0, 0],
  },
  {
    text: 'select o.id, o.total, o.placed_at\n  from orders o\n where o.customer_id = $1\n order by o.placed_at desc\n limit $2',
    role: 'app',
    calls: 9_400,
    seconds: 0.0042,
    rows: 20,
    read: [1.4, 60],
    hit: 62,
    temporary: [0, 0],
    slowdown: 3.6,
  },
  {
    text: 'insert into order_items (order_id, product_id, quantity, price) values ($1, $2, $3, $4)',
    role: 'app',
    calls: 3_100,
    seconds: 0.0093,
    rows: 1,
    read: [2.1, 3],
    hit: 18,
    temporary: [0, 0],
  },
  {
    text: 'select p.id, p.name, p.price, s.quantity\n  from products p\n  join stock s on s.product_id = p.id\n where p.category_id = $1\n order by p.name\n limit $2',
    role: 'app',
    calls: 1_850,
    seconds: 0.018,
    rows: 50,
    read: [6.5, 900],
    hit: 240,
    temporary: [0, 0],
  },
  {
    text: 'select id, name, price from products where lower(name) like lower($1) limit $2',
    role: 'app',
    calls: 310,
    seconds: 0.094,
    rows: 25,
    read: [88, 41_000],
    hit: 1_900,
    temporary: [0, 0],
  },
  {
    text: 'select c.id, count(*) as orders, max(o.placed_at) as last_order\n  from customers c\n  join orders o on o.customer_id = c.id\n where c.region = $1\n group by c.id\nhaving count(*) > $2',
    role: 'app',
    calls: 95,
    seconds: 0.31,
    rows: 12,
    read: [420, 260_000],
    hit: 5_200,
    temporary: [0, 1],
    isNewSince: 3,
  },
  {
    text: 'select date(o.placed_at) as day, sum(i.quantity * i.price) as revenue\n  from orders o\n  join order_items i on i.order_id = o.id\n where o.placed_at >= $1\n group by day\n order by day',
    role: 'reports',
    calls: 6,
    seconds: 4.8,
    rows: 1_400,
    read: [31_000, 2_900_000],
    hit: 64_000,
    temporary: [340_000_000, 4],
  },
  {
    text: 'select p.name, sum(i.quantity) as sold\n  from order_items i\n  join products p on p.id = i.product_id\n group by p.name\n order by sold desc',
    role: 'reports',
    calls: 2,
    seconds: 11.5,
    rows: 90,
    read: [120_000, 9_400_000],
    hit: 88_000,
    temporary: [1_900_000_000, 9],
  },
  {
    text: 'delete from carts where updated_at < $1',
    role: 'app',
    calls: 700,
    seconds: 0.0031,
    rows: 0,
    read: [0.3, 1],
    hit: 9,
    temporary: [0, 0],
  },
];

/** Writes what the queries of the first connections did in the last two weeks, by hour, and their texts. */
export async function writeQueries(
  writer: pg.Pool,
  account: { id: number; history: History },
  fleet: SampleFleet & { connectionIds: readonly number[] },
  step: SampleStep,
): Promise<void> {
  const connections = fleet.connections.slice(0, MOST);
  for (const [place, connection] of connections.entries()) {
    const connectionId = fleet.connectionIds[place];
    if (connectionId === undefined) throw new Error('A connection was not stored.');
    const hours = JSON.stringify(hoursOf(connection, account.history));
    const texts = textsOf(connection);
    const read = account.history.end / 1e6;
    await inTransaction(writer, async (client) => {
      await client.query(insertHours, [account.id, connectionId, hours]);
      await client.query(insertTexts, [account.id, connectionId, texts.ids, texts.texts, read]);
    });
    step(place + 1, connections.length);
  }
}

/** The texts as the server normalizes them. */
function textsOf({ engine, seed }: SampleConnection): { ids: string[]; texts: string[] } {
  return {
    ids: PROFILES.map((_, n) => idOf(engine, `${seed} ${n}`)),
    texts: PROFILES.map(({ text }) => (engine === 'postgres' ? text : text.replace(/\$\d/g, '?'))),
  };
}

type Worked = Record<(typeof HOUR_COLUMNS)[number], string | number>;

function hoursOf({ engine, seed }: SampleConnection, { start, end }: History): object[] {
  const random = randomNumbers(seed);
  const profiles = PROFILES.map((profile, n) => ({ ...profile, query: idOf(engine, `${seed} ${n}`) }));
  const last = Math.floor(end / 1e6 / HOUR_S) * HOUR_S;
  const first = Math.max(Math.ceil(start / 1e6 / HOUR_S) * HOUR_S, last - DAYS * DAY_S);
  const own = engine === 'postgres' ? 0 : 1;
  const hours: object[] = [];
  for (let hour = first; hour <= last; hour += HOUR_S) {
    const load = loadAt(hour);
    const age = (last - hour) / DAY_S;
    const worked = profiles
      .filter(({ isNewSince = DAYS }) => age <= isNewSince)
      .map((profile): Worked => {
        const calls = Math.max(1, Math.round(profile.calls * load * (0.85 + 0.3 * random())));
        const slower = age < 2 ? (profile.slowdown ?? 1) : 1;
        return {
          query: profile.query,
          database: 'app',
          role: engine === 'postgres' ? profile.role : '',
          calls,
          seconds: round(calls * profile.seconds * slower * (0.9 + 0.2 * random())),
          rows: Math.round(calls * profile.rows),
          read: Math.round(calls * profile.read[own]),
          hit: engine === 'postgres' ? Math.round(calls * profile.hit) : 0,
          temporary: Math.round(calls * profile.temporary[own]),
        };
      })
      .toSorted((one, other) => Number(other.seconds) - Number(one.seconds));
    const sum = (name: 'calls' | 'seconds') => worked.reduce((all, one) => all + Number(one[name]), 0);
    // The listed queries are not all of them.
    hours.push({
      hour,
      all_calls: Math.round(sum('calls') * 1.2),
      all_seconds: round(sum('seconds') * 1.08),
      ...Object.fromEntries(HOUR_COLUMNS.map((column) => [column, worked.map((one) => one[column])])),
    });
  }
  return hours;
}

/** The share of the full load at an hour: most at noon (UTC), little at night and at weekends. */
function loadAt(hour: number): number {
  const day = Math.max(0, Math.sin(((hour % DAY_S) / DAY_S - 0.25) * 2 * Math.PI));
  const isWeekend = [0, 6].includes(new Date(hour * 1_000).getUTCDay());
  return 0.15 + day * (isWeekend ? 0.25 : 0.85);
}

/** A queryid of PostgreSQL or a digest of MySQL, the same for the same text. */
function idOf(engine: SampleConnection['engine'], text: string): string {
  const hash = createHash('sha256').update(text).digest();
  return engine === 'postgres' ? String(hash.readBigInt64BE()) : hash.toString('hex');
}

function round(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
