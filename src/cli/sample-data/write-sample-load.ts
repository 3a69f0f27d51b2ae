import type pg from 'pg';
import { hashSource, type LoadSource } from '../../runs/load/session-load.ts';
import { inTransaction } from '../../store/connect.ts';
import type { SampleConnection, SampleFleet } from './sample-connection.ts';
import { noise, workCurve } from './sample-curves.ts';
import type { History } from './sample-fleet.ts';
import type { SampleStep } from './sample-progress.ts';
import { randomNumber } from './sample-random.ts';

const insertSources = `
  insert into session_load_source (account_id, connection_id, source_id, state, wait, event, query, role, application, database, seen_at)
  select $1, $2, id, state, wait, event, query, role, application, database, to_timestamp($4)
    from json_to_recordset($3::json)
      as s (id bigint, state text, wait text, event text, query text, role text, application text, database text)`;

const insertLoad = `
  insert into session_load (account_id, connection_id, at, minutes, active, idle_in_transaction, blocked_sessions,
                            blocked_seconds, commits, rollbacks, sources, sessions)
  select $1, $2, to_timestamp(at), 5, active, idle, 0, 0, commits, 0.2, $4, sessions
    from json_to_recordset($3::json) as l (at float8, active real, idle real, commits real, sessions real[])`;

/** The connections that have a load: the first ones. */
const MOST = 20;
const DAYS = 3;
const STEP_S = 300;
const DAY_S = 86_400;

type Profile = Pick<LoadSource, 'wait' | 'event' | 'query' | 'role' | 'application'> & {
  /** Its part of all active sessions. */
  share: number;
  state?: LoadSource['state'];
};

const POSTGRES: readonly Profile[] = [
  { share: 0.31, wait: '', event: '', query: '5191732810777595558', role: 'app', application: 'shop' },
  { share: 0.16, wait: '', event: '', query: '-2204761398054417719', role: 'app', application: 'shop' },
  {
    share: 0.19,
    wait: 'IO',
    event: 'DataFileRead',
    query: '7711409230541209876',
    role: 'reports',
    application: 'nightly',
  },
  {
    share: 0.12,
    wait: 'LWLock',
    event: 'WALWrite',
    query: '5191732810777595558',
    role: 'app',
    application: 'shop',
  },
  {
    share: 0.08,
    wait: 'Client',
    event: 'ClientWrite',
    query: '880015547209134',
    role: 'reports',
    application: 'nightly',
  },
  {
    share: 0.05,
    wait: 'Lock',
    event: 'transactionid',
    query: '-2204761398054417719',
    role: 'app',
    application: 'worker',
  },
  {
    share: 0.09,
    wait: 'Client',
    event: 'ClientRead',
    query: '',
    role: 'app',
    application: 'worker',
    state: 'idle in transaction',
  },
];

/** MySQL has no names of programs in its process list, and other classes of waits. */
const MYSQL: readonly Profile[] = POSTGRES.map((profile) => ({
  ...profile,
  application: '',
  wait: profile.wait === 'LWLock' ? 'synch' : profile.wait === 'Client' ? '' : profile.wait.toLowerCase(),
  event: '',
}));

/** Writes what the sessions of the first connections did in the last three days, by five minutes. */
export async function writeLoad(
  writer: pg.Pool,
  account: { id: number; history: History },
  fleet: SampleFleet & { connectionIds: readonly number[] },
  step: SampleStep,
): Promise<void> {
  const loaded = fleet.connections.slice(0, MOST);
  for (const [place, connection] of loaded.entries()) {
    const ids = [account.id, fleet.connectionIds[place]];
    const profiles = connection.engine === 'mysql' ? MYSQL : POSTGRES;
    const sources = profiles.map(({ share: _, state = 'active', ...rest }) => {
      const source = { ...rest, state, database: 'app' };
      return { ...source, id: hashSource(source) };
    });
    const rows = loadOf(connection, profiles, account.history);
    await inTransaction(writer, async (client) => {
      await client.query(insertSources, [...ids, JSON.stringify(sources), account.history.end / 1e6]);
      await client.query(insertLoad, [...ids, JSON.stringify(rows), sources.map(({ id }) => id)]);
    });
    step(place + 1, loaded.length);
  }
}

interface LoadRow {
  at: number;
  active: number;
  idle: number;
  commits: number;
  sessions: number[];
}

function loadOf({ seed }: SampleConnection, profiles: readonly Profile[], history: History): LoadRow[] {
  const end = history.end / 1e6;
  const start = Math.max(history.start / 1e6, end - DAYS * DAY_S);
  const busy = workCurve(1.5 + 6 * randomNumber(seed + 9), seed, { end });
  const rows: LoadRow[] = [];
  for (let at = Math.ceil(start / STEP_S) * STEP_S; at < end; at += STEP_S) {
    const all = busy(at) ?? 0;
    const sessions = profiles.map(
      ({ share }, place) => all * share * Math.max(0.1, 1 + 0.8 * noise(seed + place, at)),
    );
    const sum = (isIdle: boolean) =>
      sessions.reduce((total, one, place) => {
        const isCounted = (profiles[place]?.state !== undefined) === isIdle;
        return isCounted ? total + one : total;
      }, 0);
    rows.push({ at, active: sum(false), idle: sum(true), commits: all * 40, sessions });
  }
  return rows;
}
