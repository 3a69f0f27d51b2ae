import { EventEmitter, once } from 'node:events';
import { PassThrough, type Writable } from 'node:stream';
import { actorProperties } from '../../accounts/sign-in/sessions.ts';
import { CredentialError } from '../../connections/credentials.ts';
import type { Progress } from '../../monitor/progress.ts';
import { checkNow } from '../../monitor/schedule.ts';
import { notFound, Rejection } from '../../platform/rejection.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import type { Read } from '../../store/read.ts';
import { ConcurrencyLimit } from '../concurrency-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/**
 * The data of an event of GET /connections/:id/run (server-sent events, all of type `message`), and the answer of its POST. The
 * last one has the state done, failed or idle, and the stream ends; idle = no check runs, nor was one run from here just now.
 */
export const RunProgress = Type.Object({
  /** waiting: another monitor's run must end first, or this run has just started. */
  state: stringEnum('waiting', 'running', 'done', 'failed', 'idle'),
  /** Null while unknown. */
  progress: nullable(
    Type.Object({
      database: Type.String(),
      /** The current database, from 1. */
      number: Type.Integer(),
      /** 0 for an engine whose session sees all databases. */
      databases: Type.Integer(),
      /** Checks completed. */
      done: Type.Integer(),
      all: Type.Integer(),
    }),
  ),
  /** Set when done. */
  score: nullable(Type.Integer()),
  /** Set when failed: a sentence. */
  message: nullable(Type.String()),
});

export type RunProgress = Static<typeof RunProgress>;

/** How long an ended run is reported, so that its requester sees the end of even the quickest run. */
const KEPT_MS = 60_000;
/** How often the store is polled for a run of another monitor; our own runs report their progress. */
const POLL_MS = 1_000;
/** Proxies close connections that are silent for a minute. */
const SILENCE_MS = 15_000;
// As long as the longest run including its wait; browsers reopen the stream.
const LONGEST_STREAM_MS = 300_000;

const NOTHING = { progress: null, score: null, message: null };
/** Runs started from the console of this process; the monitor's own runs are counted separately. */
const places = new ConcurrencyLimit({ ofAll: 10, ofAccount: 4 }, 'Too many health checks are running', 10);

/** By account and connection. One process handles all console requests of a service, so all runs are here. */
const runs = new Map<string, RunProgress>();

/** Emits the key of a run in `runs` whose state changed. */
const changes = new EventEmitter().setMaxListeners(0);

function setRun(key: string, state: RunProgress): void {
  runs.set(key, state);
  changes.emit(key);
}

const isOver = ({ state }: RunProgress) => state === 'done' || state === 'failed' || state === 'idle';

const selectState = `
  select c.latest_check_id, c.latest_score as score, coalesce(s.claimed_until > now(), false) as running
    from connection c
    left join connection_schedule s on s.account_id = $1 and s.connection_id = $2
   where c.account_id = $1 and c.connection_id = $2 and c.removed_at is null`;

interface StateRow {
  latest_check_id: number | null;
  score: number | null;
  running: boolean;
}

async function stateOf(run: Read, accountId: number, connectionId: number): Promise<StateRow> {
  const [row] = await run<StateRow>(selectState, [accountId, connectionId]);
  if (!row) throw notFound();
  return row;
}

const start = consoleRoute({
  method: 'POST',
  path: '/connections/:id/run',
  permission: 'checks:run',
  response: RunProgress,
  status: 202,
  cost: 5,
  async handler({ actor, caller, id, parts, read, store }) {
    await read((run) => stateOf(run, actor.accountId, id));
    const key = `${actor.accountId}/${id}`;
    const before = runs.get(key);
    if (before && !isOver(before)) return before;
    const leave = places.enter(actor.accountId);
    const begun: RunProgress = { state: 'waiting', ...NOTHING };
    setRun(key, begun);
    const { secret, allowPrivateTargets, tokenCommands, log, closing } = parts;
    const deps = {
      writer: store.writer,
      secret,
      allowPrivateTargets,
      tokenCommands,
      log,
      actor: actorProperties(actor, caller),
    };
    const show = ({ database, databases, checks }: Progress) => {
      const progress = { database: database.name, number: database.number, databases, ...checks };
      setRun(key, { ...NOTHING, state: 'running', progress });
    };
    void checkNow({ ...deps, show }, { accountId: actor.accountId, connectionId: id }, closing)
      .then(
        (stored): RunProgress =>
          stored
            ? { ...NOTHING, state: 'done', score: stored.score }
            : { ...NOTHING, state: 'failed', message: 'The connection was removed while it was checked.' },
        (error: unknown): RunProgress => {
          if (!closing.aborted && !(error instanceof Rejection))
            log.error({ err: error, connectionId: id }, 'a health check of the console failed');
          const known =
            error instanceof Rejection
              ? error.publicMessage
              : error instanceof CredentialError
                ? error.message
                : null;
          return {
            ...NOTHING,
            state: 'failed',
            message: known ?? 'The result could not be stored. Try again in a minute.',
          };
        },
      )
      .then((ended) => {
        leave();
        setRun(key, ended);
        setTimeout(() => runs.get(key) === ended && runs.delete(key), KEPT_MS).unref();
      });
    return begun;
  },
});

const follow = consoleRoute({
  method: 'GET',
  path: '/connections/:id/run',
  permission: 'health:read',
  response: 'stream',
  async handler({ actor: { accountId }, id, parts, read, requireStill }) {
    const key = `${accountId}/${id}`;
    const first = await read((run) => stateOf(run, accountId, id));
    const stream = new PassThrough();
    const now = async (): Promise<RunProgress> => {
      await requireStill();
      const own = runs.get(key);
      if (own) return own;
      const { running, score, latest_check_id } = await read((run) => stateOf(run, accountId, id));
      if (running) return { ...NOTHING, state: 'running' };
      const ended = first.running || latest_check_id !== first.latest_check_id;
      return ended ? { ...NOTHING, state: 'done', score } : { ...NOTHING, state: 'idle' };
    };
    tell(stream, parts.closing, key, now).catch((error: Error) => stream.destroy(error));
    return { type: 'text/event-stream', filename: null, stream };
  },
});

/** Writes each new state until the last one, until the client disconnects, or until the service stops. */
async function tell(
  stream: Writable,
  closing: AbortSignal,
  key: string,
  now: () => Promise<RunProgress>,
): Promise<void> {
  const began = performance.now();
  let told = '';
  let toldAt = began;
  while (!stream.destroyed && !closing.aborted && performance.now() - began < LONGEST_STREAM_MS) {
    const state = await now();
    const text = JSON.stringify(state);
    const silent = performance.now() - toldAt > SILENCE_MS;
    if (text !== told) stream.write(`data: ${text}\n\n`);
    else if (silent) stream.write(': still here\n\n');
    if (text !== told || silent) toldAt = performance.now();
    told = text;
    if (isOver(state)) break;
    const signal = AbortSignal.any([closing, AbortSignal.timeout(POLL_MS)]);
    await once(changes, key, { signal }).catch(() => {});
  }
  stream.end();
}

export const runRoutes: ConsoleRoute[] = [start, follow];
