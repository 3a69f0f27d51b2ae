import type { Row } from '../../checks/fault.ts';
import { type EngineFamily, familyOf } from '../../vocabulary/engines.ts';
import type { Limits } from '../limits.ts';
import { type Dialler, diallerOf, endpointsOf } from '../session/dial.ts';
import { loadEngine } from '../session/engine.ts';
import type { EngineParts } from '../session/engine-parts.ts';
import { causeOf, describeError, isServerAnswer } from '../session/failures/connect-failure.ts';
import { WaitingLogins } from '../session/postgres/waiting-logins.ts';
import { reachTarget } from '../session/reach.ts';
import { type Meter, NoAnswer, type Session, type Target } from '../session/session.ts';
import { mysqlPulse } from './reading/mysql-pulse.sql.ts';
import { hasLockPlugin, mariadbWaits, mysqlWaits } from './reading/mysql-waits.sql.ts';
import { POOLS_BYTES, readPgbouncerPulse } from './reading/pgbouncer-pulse.ts';
import { postgresPulse } from './reading/postgres-pulse.sql.ts';
import { MalformedPulse, type PulseReading, parseReading } from './reading/pulse-reading.ts';
import { readDeadlock, type SentDeadlock, STATUS_BYTES } from './reading/read-deadlock.ts';

/** Why a pulse read nothing. */
interface PulseFailure {
  /**
   * `unreachable`: nothing answers; `unauthorized`: the login is refused; `saturated`: the server has no connection left;
   * `no_room`: the login has none; `unread`: the server answers, but not what was asked.
   */
  kind: 'unreachable' | 'unauthorized' | 'saturated' | 'no_room' | 'unread';
  /** The end of a sentence. */
  reason: string;
}

/** What a pulse gave. */
export type PulseAnswer =
  | {
      reading: PulseReading;
      /** The last deadlock, if there was one since the pulse before. */
      deadlock?: SentDeadlock;
    }
  | { failure: PulseFailure };

/** The status that names a deadlock is read at most so often: it takes InnoDB's locks. */
const DEADLOCK_EVERY_MS = 60_000;

// The longest time that a timer can have: a held session ends when it is lost, or its connection is no longer pulsed.
const FOREVER_MS = 2 ** 31 - 1;

/** Of a pulse. A session is idle for a minute at most, since pulses are at most a minute apart. */
export const PULSE_LIMITS: Limits = {
  connectMs: 3_000,
  reachMs: 4_000,
  statementMs: 2_000,
  answerMs: 3_000,
  idleMs: 150_000,
  databaseMs: FOREVER_MS,
  runMs: FOREVER_MS,
  runBytes: 256 * 1024,
  betweenTriesMs: 1_000,
};

/** A session with a target that stays open between pulses. One pulse at a time. */
export class HeldSession {
  readonly #target: Target;
  readonly #allowPrivate: boolean;
  readonly #ending = new AbortController();
  readonly #meter: Meter = { bytes: 0, statements: 0, milliseconds: 0 };
  #session: Session | null = null;
  /** What the open session is with; null before its first reading. */
  #wasStandby: boolean | null = null;
  /** The server refused the last statement of the open session. */
  #isRefused = false;
  #dialler: Dialler | null = null;
  /** They wait from pulse to pulse. */
  readonly #waiting = new WaitingLogins();
  /** The deadlocks when the last one was read. */
  #deadlocks = { count: 0, readAt: Number.NEGATIVE_INFINITY };

  constructor(target: Target, allowPrivate: boolean) {
    this.#target = target;
    this.#allowPrivate = allowPrivate;
  }

  /**
   * Reads the server once. A session that was lost since the last pulse is opened again; one in which the server refuses the statement
   * goes on, since servers do that in an incident, when a login is dear. Never throws.
   */
  async pulse(): Promise<PulseAnswer> {
    const wasOpen = this.#session !== null;
    const first = await this.#try();
    if ('reading' in first) return first;
    if (first.failure.kind !== 'unread' || this.#isRefused) await this.close();
    else this.#isRefused = true;
    if (!wasOpen || first.isFinal || first.failure.kind !== 'unreachable') return { failure: first.failure };
    const second = await this.#try();
    if ('failure' in second) await this.close();
    return 'failure' in second ? { failure: second.failure } : second;
  }

  async #try(): Promise<{ reading: PulseReading } | { failure: PulseFailure; isFinal: boolean }> {
    try {
      const answer = await this.#read();
      if ('failure' in answer) return { ...answer, isFinal: true };
      this.#isRefused = false;
      return answer;
    } catch (error) {
      const failure = error instanceof NotReached ? error.failure : toReadFailure(error);
      // Nothing in a session is believed after an answer that was none.
      if (error instanceof MalformedPulse) await this.close();
      return { failure, isFinal: error instanceof NoAnswer };
    }
  }

  async close(): Promise<void> {
    const [session, dialler] = [this.#session, this.#dialler];
    this.#session = null;
    this.#wasStandby = null;
    this.#isRefused = false;
    // A login that waits needs its tunnel.
    const isKept = this.#waiting.size > 0 && this.#target.tunnel !== null;
    if (!isKept) this.#dialler = null;
    await session?.close().catch(() => {});
    if (!isKept) dialler?.close();
  }

  /** Closes it at once, also while it reads. */
  async end(): Promise<void> {
    this.#waiting.end();
    await this.close();
    this.#ending.abort(new Error('the pulse ends'));
  }

  async #read(): Promise<PulseAnswer> {
    this.#meter.bytes = this.#target.engine === 'pgbouncer' ? -POOLS_BYTES : 0;
    const engine = await loadEngine(this.#target.engine);
    this.#session ??= await this.#open(engine);
    const reading = await READERS[familyOf(this.#target.engine)](this.#session);
    const isDemoted = reading.isStandby && this.#wasStandby === false;
    const isElsewhere = reading.isStandby && endpointsOf(this.#target).length > 1;
    this.#wasStandby = reading.isStandby;
    if (reading.room !== null && reading.room < 1) {
      await this.close();
      return {
        failure: { kind: 'no_room', reason: 'the login may open no connection besides that of the pulse' },
      };
    }
    const deadlock = await this.#readDeadlock(this.#session, reading.deadlocks);
    // The next pulse looks for the primary. Its name may have another address by now, while a server of MySQL keeps its sessions.
    if (isElsewhere || isDemoted) await this.close();
    return { reading, ...(deadlock && { deadlock }) };
  }

  /** A failure of it is none of the pulse, but the session may be lost. */
  async #readDeadlock(session: Session, count: number | null): Promise<SentDeadlock | null> {
    const now = performance.now();
    if (count === null || count === this.#deadlocks.count) return null;
    if (count === 0 || now - this.#deadlocks.readAt < DEADLOCK_EVERY_MS) return null;
    this.#deadlocks = { count, readAt: now };
    this.#meter.bytes = -STATUS_BYTES;
    try {
      return await readDeadlock(session, this.#target.engine === 'mysql');
    } catch {
      await this.close();
      return null;
    }
  }

  async #open(engine: EngineParts): Promise<Session> {
    const dialler = this.#dialler ?? diallerOf(this.#target, this.#allowPrivate);
    this.#dialler = dialler;
    const reached = await reachTarget({
      target: this.#target,
      engine,
      dialler,
      waiting: this.#waiting,
      meter: this.#meter,
      limits: PULSE_LIMITS,
      signal: this.#ending.signal,
      note: undefined,
      tries: 1,
    });
    if ('session' in reached) return reached.session;
    const { kind, reason, isOwnLimit } = reached.failure;
    throw new NotReached({ kind: isOwnLimit === true ? 'no_room' : kind, reason });
  }
}

const READERS: Readonly<Record<EngineFamily, (session: Session) => Promise<PulseReading>>> = {
  postgres: async (session) => parseReading(await session.read(postgresPulse, { isRepeated: true })),
  mysql: async (session) => parseReading(await readMysql(session)),
  pgbouncer: readPgbouncerPulse,
};

const INSTRUMENTED = { pulse: mysqlPulse(true), waits: mysqlWaits(true) };
const UNINSTRUMENTED = { pulse: mysqlPulse(false), waits: mysqlWaits(false) };
/** Sessions with servers whose performance_schema is off. To switch it on takes a restart, which ends them. */
const uninstrumented = new WeakSet<Session>();

/** Waits are in a statement of their own, because MySQL and MariaDB plan each statement anew: to plan that one takes as long as all else. */
async function readMysql(session: Session): Promise<Row[]> {
  const statements = uninstrumented.has(session) ? UNINSTRUMENTED : INSTRUMENTED;
  const rows = await session.read(statements.pulse);
  const [row] = rows;
  if (!row || rows.length !== 1) return rows;
  if (statements === INSTRUMENTED && Number(row['is_instrumented'] ?? 1) !== 1) {
    uninstrumented.add(session);
    return readMysql(session);
  }
  const waiting = Number(row['long_waits']) > 0 ? await readWaits(session, statements.waits) : undefined;
  return [{ ...row, waits: waiting?.['waits'] ?? null, sessions: waiting?.['sessions'] ?? null }];
}

/** Where it is not known who holds a metadata lock, a plugin of MariaDB may know. */
async function readWaits(session: Session, waits: string): Promise<Row | undefined> {
  const [waiting] = await session.read(waits);
  if (!/"blocker": ?null[^}]*"metadata"/.test(String(waiting?.['waits']))) return waiting;
  const [plugin] = await session.read(hasLockPlugin);
  return Number(plugin?.['found']) > 0 ? (await session.read(mariadbWaits))[0] : waiting;
}

class NotReached extends Error {
  readonly failure: PulseFailure;

  constructor(failure: PulseFailure) {
    super(failure.reason);
    this.failure = failure;
  }
}

// An error that the server sent has a code of its own; without one the connection was lost.
function toReadFailure(error: unknown): PulseFailure {
  const { code } = describeError(error);
  const reason = causeOf(error, 200);
  const isAnswer = error instanceof MalformedPulse || (isServerAnswer(error) && !/^(?:57P|08)/.test(code));
  return isAnswer ? { kind: 'unread', reason } : { kind: 'unreachable', reason };
}
