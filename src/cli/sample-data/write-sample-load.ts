import { hashSource, type LoadSource } from '../../runs/load/session-load.ts';
import { isSqlEngine } from '../../vocabulary/engines.ts';
import type { SampleConnection, SampleFleet } from './sample-connection.ts';
import { noise, workCurve } from './sample-curves.ts';
import type { History } from './sample-fleet.ts';
import type { SampleStep } from './sample-progress.ts';
import { randomNumber } from './sample-random.ts';
import { type SampleTarget, secondsToTimestamp, writeDetails } from './sample-target.ts';

const DAYS = 3;
const STEP_S = 300;
const DAY_S = 86_400;

/** What sessions do, and their part of all active sessions. */
type Profile = readonly [
  share: number,
  state: LoadSource['state'],
  wait: string,
  event: string,
  query: string,
  role: string,
  application: string,
];

const PROFILES: readonly Profile[] = [
  [0.31, 'active', '', '', '5191732810777595558', 'app', 'shop'],
  [0.16, 'active', '', '', '-2204761398054417719', 'app', 'shop'],
  [0.19, 'active', 'IO', 'DataFileRead', '7711409230541209876', 'reports', 'nightly'],
  [0.12, 'active', 'LWLock', 'WALWrite', '5191732810777595558', 'app', 'shop'],
  [0.08, 'active', 'Client', 'ClientWrite', '880015547209134', 'reports', 'nightly'],
  [0.05, 'active', 'Lock', 'transactionid', '-2204761398054417719', 'app', 'worker'],
  [0.09, 'idle in transaction', 'Client', 'ClientRead', '', 'app', 'worker'],
];

/** The waits of MySQL. It has no names of programs in its process list, and no events. */
const MYSQL_WAITS: Readonly<Record<string, string>> = { IO: 'io', LWLock: 'synch', Lock: 'lock' };

/** Writes what the sessions of the first connections did in the last three days, by five minutes. */
export async function writeLoad(
  target: SampleTarget,
  fleet: SampleFleet & { connectionIds: readonly number[] },
  step: SampleStep,
): Promise<void> {
  await writeDetails(target, fleet, step, (connection) => {
    if (!isSqlEngine(connection.engine)) return {};
    const sources = PROFILES.map((profile) => toSource(profile, connection.engine === 'mysql'));
    const seen_at = secondsToTimestamp(target.history.end / 1e6);
    return {
      session_load_source: sources.map((source) => ({ ...source, seen_at })),
      session_load: makeLoad(
        connection,
        target.history,
        sources.map(({ source_id }) => source_id),
      ),
    };
  });
}

function toSource([, state, wait, event, query, role, application]: Profile, isMysql: boolean) {
  const engineNames = isMysql
    ? { wait: MYSQL_WAITS[wait] ?? '', event: '', application: '' }
    : { wait, event, application };
  const source = { state, query, role, database: 'app', ...engineNames };
  return { source_id: hashSource(source), ...source };
}

function makeLoad(
  { seed }: SampleConnection,
  history: History,
  sources: readonly (string | number)[],
): object[] {
  const end = history.end / 1e6;
  const start = Math.max(history.start / 1e6, end - DAYS * DAY_S);
  const workload = workCurve(1.5 + 6 * randomNumber(seed + 9), seed, { end });
  const rows: object[] = [];
  for (let at = Math.ceil(start / STEP_S) * STEP_S; at < end; at += STEP_S) {
    const all = workload(at) ?? 0;
    const sessions = PROFILES.map(
      ([share], place) => all * share * Math.max(0.1, 1 + 0.8 * noise(seed + place, at)),
    );
    const sum = (state: LoadSource['state']) =>
      sessions.reduce((total, one, place) => (PROFILES[place]?.[1] === state ? total + one : total), 0);
    rows.push({
      at: secondsToTimestamp(at),
      minutes: 5,
      active: sum('active'),
      idle_in_transaction: sum('idle in transaction'),
      blocked_sessions: 0,
      blocked_seconds: 0,
      commits: all * 40,
      rollbacks: 0.2,
      sources,
      sessions,
    });
  }
  return rows;
}
