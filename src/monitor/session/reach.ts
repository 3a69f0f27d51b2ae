import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Endpoint } from '../../platform/network/address.ts';
import type { Limits } from '../limits.ts';
import { msSince, type NoteStep } from '../run-steps.ts';
import { type Dialler, endpointsOf } from './dial.ts';
import type { EngineParts } from './engine-parts.ts';
import { type ConnectFailure, connectFailure, describeError } from './failures/connect-failure.ts';
import type { Login, WaitingLogins } from './postgres/waiting-logins.ts';
import type { Meter, OpenedSession, Route, Session, Target } from './session.ts';

/** How often a target is tried, unless the run says otherwise. */
const TRIES = 3;

/** What a session of a run needs. */
export interface Reach {
  target: Target;
  engine: EngineParts;
  dialler: Dialler;
  waiting: WaitingLogins;
  meter: Meter;
  limits: Limits;
  /** Aborts when the run's time is up or the run is cancelled. */
  signal: AbortSignal;
  note: NoteStep | undefined;
  /** How often the target is tried (default: 3). */
  tries?: number;
}

/** Ends the logins that wait, and the tunnel. */
export function closeReach({ waiting, dialler }: Reach): void {
  waiting.end();
  dialler.close();
}

/** A session, and the server that it is connected to. */
export interface Reached {
  session: Session;
  endpoint: Endpoint;
}

/**
 * Opens a session to one database of the target within `connectMs`. It stays open until `until` (`performance.now()`),
 * by default for `limits.databaseMs`.
 */
export async function openDatabase(
  reach: Reach,
  endpoint: Endpoint,
  database: string,
  { connectMs = reach.limits.connectMs, until }: { connectMs?: number; until?: number } = {},
): Promise<OpenedSession> {
  const { host, port } = endpoint;
  const began = performance.now();
  try {
    const left = until === undefined ? reach.limits.databaseMs : Math.max(1, Math.round(until - began));
    const session = await open(reach, endpoint, database, connectMs, left);
    reach.note?.('connect', { host, port, database, ms: msSince(began), tls: session.tls });
    return session;
  } catch (error) {
    const { reason } = connectFailure(error, connectMs, reach.target);
    reach.note?.('connect', { host, port, database, ms: msSince(began), failure: reason });
    throw error;
  }
}

// SQLSTATE of a login to a database whose encoding can't be converted to UTF-8: MULE_INTERNAL.
const UNCONVERTIBLE = '0A000';

async function open(
  reach: Reach,
  endpoint: Endpoint,
  database: string,
  connectMs: number,
  databaseMs: number,
): Promise<OpenedSession> {
  const deadline = AbortSignal.timeout(connectMs);
  const server = await reach.dialler.findServer(endpoint, AbortSignal.any([deadline, reach.signal]));
  return reach.waiting.open(`${database}@${server}`, deadline, () =>
    startLogin(reach, endpoint, database, databaseMs),
  );
}

function startLogin(reach: Reach, endpoint: Endpoint, database: string, databaseMs: number): Login {
  const { target, engine, dialler, meter, limits } = reach;
  const ending = new AbortController();
  const connecting = ending.signal;
  const signal = AbortSignal.any([reach.signal, AbortSignal.timeout(databaseMs)]);
  let dialled: Duplex | null = null;
  const login = async (encoding: Pick<Route, 'inBytes'>) => {
    const stream = await dialler.dial(endpoint, AbortSignal.any([connecting, signal]));
    dialled = stream;
    const route = { ...endpoint, stream, meter, limits, ...encoding };
    return engine.openSession(target, database, route, { connecting, signal });
  };
  const session = login({}).catch((error: unknown) => {
    if (target.engine !== 'postgres' || describeError(error).code !== UNCONVERTIBLE) throw error;
    return login({ inBytes: true });
  });
  const isConnected = () => dialled !== null && !(dialled instanceof Socket && dialled.pending);
  // MySQL, MariaDB and PgBouncer end a login themselves.
  const staysOnServer = () => target.engine === 'postgres' && isConnected();
  return { session, staysOnServer, end: (reason) => ending.abort(reason) };
}

/**
 * Connects to the target's database. Of several servers it chooses the first primary, or else the first that accepts
 * the login. Tries again if that may help, but starts nothing after 20 s, so that an unreachable database with
 * many hosts does not block its slot for longer.
 */
export async function reachTarget(
  reach: Reach,
): Promise<Reached | { failure: ConnectFailure; tries: number }> {
  const until = performance.now() + reach.limits.reachMs;
  for (let tries = 1; ; tries++) {
    const found = await reachOnce(reach, until);
    if ('session' in found) return found;
    const isOver = performance.now() + reach.limits.betweenTriesMs >= until;
    if (found.final || tries >= (reach.tries ?? TRIES) || isOver || reach.signal.aborted)
      return { failure: found, tries };
    await wait(reach.limits.betweenTriesMs, undefined, { signal: reach.signal }).catch(() => {});
  }
}

/** Tries each host once. Starts with no further host after `until` (`performance.now()`), except with the first. */
async function reachOnce(reach: Reach, until: number): Promise<Reached | ConnectFailure> {
  const { target, limits } = reach;
  const endpoints = endpointsOf(target);
  const failures: ConnectFailure[] = [];
  let standby: Reached | null = null;
  for (const endpoint of endpoints) {
    const left = until - performance.now();
    if (left <= 0 && (standby || failures.length > 0)) break;
    // Rounded to a tenth of a second, because the message shows it.
    const connectMs = Math.max(Math.min(limits.connectMs, Math.round(left / 100) * 100), 100);
    try {
      const session = await openDatabase(reach, endpoint, target.database, { connectMs });
      const reached = { session, endpoint };
      if (endpoints.length === 1 || (await isPrimary(reach, session))) {
        await standby?.session.close();
        return reached;
      }
      if (standby) await session.close();
      else standby = reached;
    } catch (error) {
      failures.push(connectFailure(error, connectMs, target));
    }
  }
  return standby ?? mainFailure(failures);
}

async function isPrimary({ engine }: Reach, session: Session): Promise<boolean> {
  return engine.isPrimary(session).catch(async (error: unknown) => {
    await session.close();
    throw error;
  });
}

// A server that answered is reported before one that did not. A retry follows if any server may still answer.
function mainFailure(failures: ConnectFailure[]): ConnectFailure {
  const answered = failures.find(({ kind }) => kind !== 'unreachable');
  const chosen = answered ?? failures.find(({ final }) => !final) ?? failures[0];
  if (!chosen) throw new Error('The target has no host.');
  return chosen;
}
