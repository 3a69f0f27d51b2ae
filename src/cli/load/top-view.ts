import { type BlockingRoot, blockingRoots } from '../../monitor/pulse/blocking-roots.ts';
import type { PulseReading, PulseSession, PulseWait } from '../../monitor/pulse/reading/pulse-reading.ts';
import { cell, table } from '../print.ts';

/** A reading of a server, as `top` shows it. */
export interface TopView {
  at: Date;
  reading: PulseReading;
  /** A second, since the look before; null = there was none, or it is unknown. */
  rates: { commits: number; rollbacks: number } | null;
}

/** Of a name that a column shows. */
const SHOWN_NAME = 24;

/** Of the sessions behind one root that are shown. */
const MOST_WAITS = 15;

/** Compares a reading with the one before it. */
export function toTopView(before: TopView | null, reading: PulseReading, at: Date): TopView {
  const [last, now] = [before?.reading.transactions, reading.transactions];
  const seconds = before ? (at.getTime() - before.at.getTime()) / 1_000 : 0;
  if (!last || !now || seconds <= 0) return { at, reading, rates: null };
  const rate = (name: 'commits' | 'rollbacks') => (now[name] - last[name]) / seconds;
  const rates = { commits: rate('commits'), rollbacks: rate('rollbacks') };
  return { at, reading, rates: rates.commits < 0 || rates.rollbacks < 0 ? null : rates };
}

/** The view as one JSON value. */
export function topJson({ at, reading, rates }: TopView): object {
  const { connections, active, idleInTransaction, oldestTransaction, replicaLag, load } = reading;
  return {
    at: at.toISOString(),
    started_at: new Date(Math.min(8.64e15, Math.max(0, reading.started * 1_000))).toISOString(),
    is_standby: reading.isStandby,
    connections_used: connections.used,
    connections_allowed: connections.allowed,
    active,
    idle_in_transaction: idleInTransaction,
    oldest_transaction_seconds: oldestTransaction,
    replica_lag_seconds: replicaLag,
    commits_per_second: rates?.commits ?? null,
    rollbacks_per_second: rates?.rollbacks ?? null,
    blocking: blockingRoots(reading).map(({ session, waits }) => ({ root: session, waits })),
    load,
  };
}

/** The view as lines. What the server sent can't move the cursor or look like a line of its own. */
export function topLines(name: string, view: TopView): string[] {
  const { reading } = view;
  const roots = blockingRoots(reading);
  const tree =
    roots.length === 0 ? [] : ['', 'Blocking', ...roots.flatMap((root) => treeLines(root, reading))];
  return [
    `${cell(name)}  ${view.at.toISOString().slice(11, 19)} UTC`,
    figures(view),
    ...tree,
    '',
    ...sessions(reading),
  ];
}

function figures({ reading, rates }: TopView): string {
  const { connections, active, idleInTransaction, oldestTransaction, replicaLag, isStandby } = reading;
  return [
    isStandby ? 'standby' : 'primary',
    `${connections.used} of ${connections.allowed} connections`,
    `${active} active`,
    `${idleInTransaction} idle in transaction`,
    ...(rates ? [`${round(rates.commits)} commits/s`, `${round(rates.rollbacks)} rollbacks/s`] : []),
    ...(oldestTransaction === null ? [] : [`oldest transaction ${seconds(oldestTransaction)}`]),
    ...(replicaLag === null ? [] : [`replica lag ${seconds(replicaLag)}`]),
  ].join(', ');
}

function treeLines(root: BlockingRoot, { sessions: known }: PulseReading): string[] {
  const sessionByPid = new Map(known.map((session) => [session.pid, session]));
  const rootPid = root.session?.pid ?? (Number(root.key.split('/')[0]) || 0);
  const lines = [rootLine(root, rootPid)];
  const drawn = new Set<number>();
  const draw = (waits: readonly PulseWait[], depth: number) => {
    for (const wait of waits) {
      if (drawn.has(wait.pid)) continue;
      drawn.add(wait.pid);
      lines.push(`${'  '.repeat(depth)}${waitLine(wait, sessionByPid.get(wait.pid))}`);
      draw(
        root.waits.filter(({ blockers }) => blockers.includes(wait.pid)),
        depth + 1,
      );
    }
  };
  draw(
    root.waits.filter(
      ({ blockers }) => blockers.includes(rootPid) || (rootPid === 0 && blockers.length === 0),
    ),
    1,
  );
  draw(root.waits, 1); // what is reached only through a session that is not shown
  const rest = lines.length - 1 - MOST_WAITS;
  return rest > 0 ? [...lines.slice(0, MOST_WAITS + 1), `  and ${rest} others`] : lines;
}

function rootLine({ session, waits }: BlockingRoot, pid: number): string {
  const who = session
    ? sessionText(session)
    : pid === 0
      ? 'a session that the server does not show'
      : `${pid}`;
  const state = session ? `, ${cell(session.state)} for ${seconds(session.seconds)}` : '';
  return `${who}${state}, blocks ${waits.length === 1 ? '1 session' : `${waits.length} sessions`}`;
}

function waitLine({ pid, seconds: waited, lock, relation }: PulseWait, session?: PulseSession): string {
  const place = relation === null ? '' : ` of ${cell(relation)}`;
  return `${session ? sessionText(session) : pid} waits ${seconds(waited)} for a lock: ${cell(lock)}${place}`;
}

function sessionText({ pid, role, application, database }: PulseSession): string {
  return `${pid} ${[role, application]
    .filter(Boolean)
    .map((text) => cell(text))
    .join('/')} on ${cell(database)}`;
}

function sessions({ load, active, idleInTransaction }: PulseReading): string[] {
  if (load.length === 0) return ['No session is active.'];
  const rows = load.map((group) => ({
    ...group,
    oldest: seconds(group.seconds),
    wait:
      group.wait === '' && group.event === ''
        ? 'running'
        : [group.wait, group.event].filter(Boolean).join(': '),
    role: cut(group.role),
    application: cut(group.application),
    database: cut(group.database),
    query: cut(group.query),
  }));
  const shown = load.reduce((sum, { count }) => sum + count, 0);
  const rest = active + idleInTransaction - shown;
  const columns = ['count', 'oldest', 'state', 'wait', 'database', 'role', 'application', 'query'];
  return [...table(rows, columns).trimEnd().split('\n'), ...(rest > 0 ? [`and ${rest} others`] : [])];
}

function cut(text: string): string {
  return text.length <= SHOWN_NAME ? text : `${text.slice(0, SHOWN_NAME - 1)}…`;
}

function round(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}

function seconds(value: number): string {
  if (value < 100) return `${round(value)} s`;
  return value < 6_000 ? `${Math.round(value / 60)} min` : `${Math.round(value / 3_600)} h`;
}
