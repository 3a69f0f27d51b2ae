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

/** A query of the sample: what it does in an hour of full load, and by call. */
interface Profile {
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
  { role: 'app', calls: 42_000, seconds: 0.0011, rows: 1, read: [0.02, 1], hit: 4, temporary: [0, 0] },
  { role: 'app', calls: 18_500, seconds: 0.0007, rows: 1, read: [0.01, 1], hit: 3, temporary: [0, 0] },
  {
    role: 'app',
    calls: 9_400,
    seconds: 0.0042,
    rows: 20,
    read: [1.4, 60],
    hit: 62,
    temporary: [0, 0],
    slowdown: 3.6,
  },
  { role: 'app', calls: 3_100, seconds: 0.0093, rows: 1, read: [2.1, 3], hit: 18, temporary: [0, 0] },
  { role: 'app', calls: 1_850, seconds: 0.018, rows: 50, read: [6.5, 900], hit: 240, temporary: [0, 0] },
  { role: 'app', calls: 310, seconds: 0.094, rows: 25, read: [88, 41_000], hit: 1_900, temporary: [0, 0] },
  {
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
    role: 'reports',
    calls: 6,
    seconds: 4.8,
    rows: 1_400,
    read: [31_000, 2_900_000],
    hit: 64_000,
    temporary: [340_000_000, 4],
  },
  {
    role: 'reports',
    calls: 2,
    seconds: 11.5,
    rows: 90,
    read: [120_000, 9_400_000],
    hit: 88_000,
    temporary: [1_900_000_000, 9],
  },
  { role: 'app', calls: 700, seconds: 0.0031, rows: 0, read: [0.3, 1], hit: 9, temporary: [0, 0] },
];

/** Writes what the queries of the first connections did in the last two weeks, by hour and without texts. */
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
    await inTransaction(writer, (client) => client.query(insertHours, [account.id, connectionId, hours]));
    step(place + 1, connections.length);
  }
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
