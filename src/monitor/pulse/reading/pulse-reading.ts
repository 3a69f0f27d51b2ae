import type { Row } from '../../../checks/fault.ts';
import { cleanText } from '../../../platform/text/clean-text.ts';
import { OwnWords } from '../../../platform/text/own-words.ts';

/** A session that waits for a lock, or holds what others wait for. */
export interface PulseSession {
  pid: number;
  /** When it began, Unix seconds; 0 = the server does not tell. With `pid` it is one session. */
  started: number;
  database: string;
  role: string;
  application: string;
  /** `idle in transaction`, `active` …; '' = hidden. */
  state: string;
  /** How long it has been in this state. */
  seconds: number;
}

/** A session that has waited for a lock for a second or more. */
export interface PulseWait {
  pid: number;
  /** Whom it waits for; empty = not shown. 0 = a transaction without a session. */
  blockers: number[];
  seconds: number;
  /** What kind of lock it is, such as `transactionid`, `metadata`, `table` (of an engine without row locks), or `user` (GET_LOCK). */
  lock: string;
  relation: string | null;
}

/** Sessions that do the same: those that are active, or idle in a transaction. */
export interface LoadGroup {
  state: 'active' | 'idle in transaction';
  /** The class of what they wait for, such as `Lock`; '' = they run. */
  wait: string;
  event: string;
  /** The statement's query id or digest; '' = unknown. */
  query: string;
  role: string;
  application: string;
  database: string;
  count: number;
  /** How long the oldest has been in this state. */
  seconds: number;
}

/** What a pulse read of a server. */
export interface PulseReading {
  /** When the server started, Unix seconds. */
  started: number;
  /** It accepts no writes. */
  isStandby: boolean;
  /** Whether it receives and applies changes of another server; null if it is no replica. */
  isReplicating: boolean | null;
  connections: { used: number; allowed: number };
  /** How many more connections the login may open; null = it has no limit of its own. */
  room: number | null;
  /** Seconds after which the server ends a wait for a row; null = never. */
  lockWaitTimeout: number | null;
  active: number;
  idleInTransaction: number;
  /** The largest groups of both first; those of smaller ones are only in the numbers. */
  load: LoadGroup[];
  /** Since the server's start or a reset of its statistics; null = not read. */
  transactions: { commits: number; rollbacks: number } | null;
  /** Seconds that the replica which is furthest behind is behind, or this server if it is one; null = there is none, or it is unknown. */
  replicaLag: number | null;
  /** How many InnoDB has ended since the server's start; null = not read. */
  deadlocks: number | null;
  /** Seconds; null = there is none. */
  oldestTransaction: number | null;
  waits: PulseWait[];
  /** How many sessions have waited for a lock for less than a second. */
  shortWaits: number;
  sessions: PulseSession[];
  /** Clients of a pooler that wait for a server connection; null if this is none. */
  clientsWaiting: {
    count: number;
    /** The longest wait. */
    seconds: number;
    /** In a pool that has no server connection. */
    isCutOff: boolean;
  } | null;
}

/** The server's answer is not what the statement asks for. */
export class MalformedPulse extends OwnWords {}

const MOST = 1_000;
const NAME = 200;
/** Of names that are stored each minute: as long as a name of PostgreSQL and a digest of MySQL are. */
const NAME_BYTES = 64;
/** More than a server has. */
const MOST_SESSIONS = 1e6;
/** Longer than any server has run. */
const LONGEST_SECONDS = 1e9;

/** Parses the answer of a server to the statement of `postgres-pulse.sql.ts` or `mysql-pulse.sql.ts`. Nothing in it is trusted. */
export function parseReading(rows: readonly Row[]): PulseReading {
  const [row] = rows;
  if (!row || rows.length !== 1) throw new MalformedPulse('the pulse is not one row');
  const figures = parseFigures(row['figures']);
  const status = (name: string) => number(figures.get(name), name);
  const started = figures.size > 0 ? number(row['clock'], 'clock') - status('uptime') : row['started'];
  const used = figures.size > 0 ? status('threads_connected') : row['used'];
  const waits = list(row['waits'], 'waits').map(parseWait);
  return {
    started: number(started, 'started'),
    isStandby: flag(row['standby']) === true,
    isReplicating:
      flag(row['replicating']) ?? { on: true, off: false }[figures.get('slave_running') ?? ''] ?? null,
    connections: { used: number(used, 'used'), allowed: number(row['allowed'], 'allowed') },
    room: numberOrNull(row['room'], 'room'),
    lockWaitTimeout: numberOrNull(row['lock_wait_timeout'], 'lock_wait_timeout'),
    active: number(row['active'], 'active'),
    idleInTransaction: number(row['idle_in_transaction'], 'idle_in_transaction'),
    load: list(row['load'], 'load').map(parseGroup),
    transactions: parseTransactions(
      figures.get('com_commit') ?? row['commits'],
      figures.get('com_rollback') ?? row['rollbacks'],
    ),
    replicaLag: row['replica_lag'] === null ? null : seconds(row['replica_lag']),
    deadlocks: numberOrNull(figures.get('innodb_deadlocks') ?? row['deadlocks'], 'deadlocks'),
    oldestTransaction: numberOrNull(row['oldest_transaction'], 'oldest_transaction'),
    waits: joinWaits(waits),
    shortWaits: number(row['short_waits'], 'short_waits'),
    sessions: list(row['sessions'], 'sessions').map(parseSession),
    clientsWaiting: null,
  };
}

function parseWait(value: Row): PulseWait {
  const { blocker, blockers } = value;
  const by = Array.isArray(blockers) ? blockers : [blocker];
  return {
    pid: number(value['pid'], 'pid'),
    blockers: by
      .flatMap((pid) => (pid === null || pid === undefined ? [] : number(pid, 'blocker')))
      .slice(0, 8),
    seconds: seconds(value['seconds']),
    lock: name(value['lock']),
    relation:
      typeof value['relation'] === 'string' && value['relation'] !== '' ? name(value['relation']) : null,
  };
}

function parseGroup(value: Row): LoadGroup {
  return {
    state: value['state'] === 'active' ? 'active' : 'idle in transaction',
    wait: shortName(value['wait']),
    event: shortName(value['event']),
    query: shortName(value['query']),
    role: shortName(value['role']),
    application: shortName(value['application']),
    database: shortName(value['database']),
    count: Math.min(MOST_SESSIONS, Math.max(0, number(value['count'], 'count'))),
    seconds: seconds(value['seconds']),
  };
}

function parseTransactions(commits: unknown, rollbacks: unknown): PulseReading['transactions'] {
  if (commits === null || rollbacks === null) return null;
  return { commits: number(commits, 'commits'), rollbacks: number(rollbacks, 'rollbacks') };
}

/** MySQL has a row for each blocker of a session. */
function joinWaits(waits: readonly PulseWait[]): PulseWait[] {
  return [...Map.groupBy(waits, ({ pid }) => pid).values()].flatMap((rows) => {
    const [longest] = rows.toSorted((one, other) => other.seconds - one.seconds);
    return longest ? [{ ...longest, blockers: [...new Set(rows.flatMap(({ blockers }) => blockers))] }] : [];
  });
}

function parseSession(value: Row): PulseSession {
  return {
    pid: number(value['pid'], 'pid'),
    started: number(value['started'], 'started'),
    database: name(value['database']),
    role: name(value['role']),
    application: name(value['application']),
    state: name(value['state']),
    seconds: seconds(value['seconds']),
  };
}

/** `uptime=12,threads_connected=3`; empty if it is no text. */
function parseFigures(value: unknown): ReadonlyMap<string, string> {
  if (typeof value !== 'string') return new Map();
  return new Map(
    value.split(',').flatMap((pair): [string, string][] => {
      const [key = '', figure] = pair.split('=');
      return figure === undefined ? [] : [[key, figure.toLowerCase()]];
    }),
  );
}

/** The objects of a JSON array; none for null. */
function list(value: unknown, column: string): Row[] {
  if (value === null) return [];
  const parsed: unknown = typeof value === 'string' ? parseJson(value, column) : undefined;
  if (!Array.isArray(parsed) || parsed.length > MOST) throw new MalformedPulse(`${column} is not a list`);
  return parsed.map((item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item))
      throw new MalformedPulse(`${column} does not hold objects`);
    return { ...item };
  });
}

function parseJson(text: string, column: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedPulse(`${column} is not JSON`);
  }
}

function number(value: unknown, column: string): number {
  const parsed = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof parsed !== 'number' || !Number.isFinite(parsed) || Math.abs(parsed) > Number.MAX_SAFE_INTEGER)
    throw new MalformedPulse(`${column} is not a number`);
  return parsed;
}

/**
 * A duration. Clocks that were set make it negative, and a session of MySQL that set its timestamp has been there for decades: nobody
 * knows how long.
 */
function seconds(value: unknown): number {
  const isUnknown = typeof value === 'number' && value > LONGEST_SECONDS;
  return isUnknown ? 0 : Math.max(0, number(value, 'seconds'));
}

function numberOrNull(value: unknown, column: string): number | null {
  return value === null || value === undefined ? null : number(value, column);
}

function flag(value: unknown): boolean | null {
  return value === null || value === undefined ? null : value === true || value === 1 || value === '1';
}

function name(value: unknown): string {
  if (typeof value !== 'string') throw new MalformedPulse('a name is not a text');
  return cleanText(value, NAME);
}

function shortName(value: unknown): string {
  const text = name(value);
  if (Buffer.byteLength(text) <= NAME_BYTES) return text;
  return Buffer.from(text)
    .subarray(0, NAME_BYTES)
    .toString()
    .replace(/\ufffd$/, '');
}
