import { createHash } from 'node:crypto';
import type { BlockingTree, TreeSession } from '../../runs/episodes/blocking-episode.ts';
import { isSqlEngine } from '../../vocabulary/engines.ts';
import type { SampleConnection } from './sample-connection.ts';
import type { History } from './sample-fleet.ts';
import type { Incident } from './sample-incidents.ts';
import { randomNumbers } from './sample-random.ts';
import { secondsToTimestamp } from './sample-target.ts';
import { tableName } from './sample-tickets.ts';

const DAY_S = 86_400;
/** As long as episodes are kept. */
const KEPT_DAYS = 90;
/** The most runs of an incident that have an episode: the newest. */
const MOST_RUNS = 5;
/** Short waits that no run saw, in the last two weeks. */
const SHORT_ONES = 6;
const SHORT_DAYS = 14;
/** The most sessions in the tree of an episode. */
const DRAWN = 8;

/** Deadlocks of a MySQL server in the last two weeks: two transactions that locked the same rows in the opposite order. */
const DEADLOCKS = 4;

/** The deadlocks of a connection; PostgreSQL has none, because it names none. */
export function makeDeadlocks({ seed, engine }: SampleConnection, history: History): object[] {
  if (engine !== 'mysql') return [];
  const random = randomNumbers(seed + 1_213);
  const end = history.end / 1e6;
  const start = Math.max(history.start / 1e6, end - SHORT_DAYS * DAY_S);
  return Array.from({ length: DEADLOCKS }, () => {
    const at = start + random() * (end - start);
    const table = `app.${tableName(Math.floor(random() * 8))}`;
    const toTransaction = (command: string, is_victim: boolean) => ({
      digest: createHash('sha256').update(`${command} ${table}`).digest('hex'),
      command,
      tables: [table],
      is_victim,
    });
    return {
      at: secondsToTimestamp(at),
      transactions: [toTransaction('UPDATE', false), toTransaction('DELETE', true)],
    };
  });
}

interface Plan {
  began: number;
  seconds: number;
  sessions: number;
  application: string;
  relation: string;
}

/** The blocking episodes of a connection: of its tickets about blocked sessions, and short ones that led to none. */
export function makeEpisodes(
  { seed, engine }: SampleConnection,
  { incidents, history }: { incidents: readonly Incident[]; history: History },
): object[] {
  if (!isSqlEngine(engine)) return [];
  const random = randomNumbers(seed + 4_711);
  const end = history.end / 1e6;
  const start = Math.max(history.start / 1e6, end - KEPT_DAYS * DAY_S);
  const blocked = incidents.filter(({ ticket }) => ticket.fault.checkId === 'PG_BLOCKED_SESSIONS');
  const long = blocked.flatMap(({ ticket, runs, finding }) =>
    runs.slice(-MOST_RUNS).map((run): Plan => {
      const seconds = finding.measured?.value ?? 0;
      const table = tableName(ticket.table);
      const sessions = 2 + (ticket.n % 15);
      return {
        began: run - seconds,
        seconds: seconds + 20,
        sessions,
        application: `${table}_worker`,
        relation: `public.${table}`,
      };
    }),
  );
  const short = Array.from({ length: SHORT_ONES }, (): Plan => {
    const table = tableName(Math.floor(random() * 8));
    const began = end - random() * SHORT_DAYS * DAY_S;
    const seconds = 3 + random() * 20;
    return {
      began,
      seconds,
      sessions: 1 + Math.floor(random() * 4),
      application: 'migration',
      relation: `public.${table}`,
    };
  });
  return [...long, ...short]
    .filter(({ began, seconds }) => began >= start && began + seconds <= end)
    .map((plan) => toEpisode(plan, engine, 2_000 + Math.floor(random() * 30_000)));
}

function toEpisode(plan: Plan, engine: SampleConnection['engine'], pid: number) {
  const { began, seconds, sessions } = plan;
  const application = engine === 'mysql' ? '' : plan.application;
  const root = { pid, database: 'app', role: 'app', application, state: 'idle in transaction' };
  const started = engine === 'mysql' ? 0 : Math.round(began) - 90;
  return {
    began_at: secondsToTimestamp(began),
    root: `${pid}/${started}`,
    seen_at: secondsToTimestamp(began + seconds),
    ended_at: secondsToTimestamp(began + seconds),
    database: 'app',
    role: 'app',
    application,
    most_sessions: sessions,
    longest_seconds: seconds,
    lost_seconds: seconds * (1 + 0.6 * (sessions - 1)),
    trees: drawTrees(plan, root, engine),
  };
}

/** At its beginning, and at its peak if others came. */
function drawTrees(plan: Plan, root: TreeSession, engine: SampleConnection['engine']): BlockingTree[] {
  const { began, seconds, sessions } = plan;
  const first = drawTree(plan, { root, engine, at: began + 2, sessions: 1 });
  if (sessions === 1) return [first];
  return [first, drawTree(plan, { root, engine, at: began + seconds * 0.9, sessions })];
}

interface Moment {
  root: TreeSession;
  engine: SampleConnection['engine'];
  /** Unix seconds. */
  at: number;
  sessions: number;
}

function drawTree({ began, relation }: Plan, { root, engine, at, sessions }: Moment): BlockingTree {
  const isMysql = engine === 'mysql';
  const waits = Array.from({ length: Math.min(sessions, DRAWN) }, (_, n) => {
    const pid = root.pid + 17 * (n + 1);
    const application = isMysql ? '' : 'shop';
    return {
      pid,
      // Each third one waits behind the one before.
      blockers: [n % 3 === 2 ? pid - 17 : root.pid],
      seconds: Math.max(1, (at - began) * (1 - n / (sessions + 1))),
      lock: isMysql ? 'row' : 'transactionid',
      relation: isMysql ? null : relation,
      session: { pid, database: 'app', role: 'app', application, state: 'active' },
    };
  });
  return { at: new Date(at * 1_000).toISOString(), root, waits, sessions };
}
