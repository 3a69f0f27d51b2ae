import { setTimeout as wait } from 'node:timers/promises';
import { postgresChecks } from '../checks/catalogue.ts';
import type { Check, Outcome, Row, ServerFacts, Thresholds } from '../checks/check.ts';
import { type Address, refuseSocket, resolveTarget } from './address.ts';
import { cleanText } from './clean-text.ts';
import { type ConnectFailure, connectFailure, described, isTimeout } from './connect-failure.ts';
import { connectedOutcomes, notConnectedOutcomes } from './not-connected.ts';
import { outcomeOf, type Sample } from './outcome.ts';
import {
  type Allowance,
  NoAnswer,
  openSession,
  type PostgresTarget,
  type Session,
} from './postgres-session.ts';

// The limits of checks.md, "Safety contract".
const CONNECT_MS = 5_000;
const DATABASE_MS = 60_000;
const RUN_MS = 120_000;
const RUN_BYTES = 16 * 1024 * 1024;
const TIMEOUTS = 3;
// Three tries are over within 20 s, so that an unreachable database holds its place in the queue only that long.
const TRIES = 3;
const BETWEEN_TRIES_MS = 1_000;

interface MeasureOptions {
  allowPrivateTargets: boolean;
  /** By check id, where they are not to be the check's own. */
  thresholds: Readonly<Record<string, Thresholds>>;
  signal: AbortSignal;
}

/** A run under way. */
interface Run {
  target: PostgresTarget;
  thresholds: Readonly<Record<string, Thresholds>>;
  addresses: Address[];
  allowance: Allowance;
  /** Aborts when the run's time is up or it is called off. */
  signal: AbortSignal;
  timeouts: number;
  samples: Map<Check, Sample[]>;
}

/**
 * Measures a PostgreSQL with every check of the catalogue, in bounded time, and says what came of each. It never
 * throws for what the target does; it throws the reason of `signal` when that called the run off.
 */
export async function measurePostgres(
  target: PostgresTarget,
  { allowPrivateTargets, thresholds, signal }: MeasureOptions,
): Promise<Outcome[]> {
  const run: Run = {
    target,
    thresholds,
    addresses: [],
    allowance: { bytes: RUN_BYTES },
    signal: AbortSignal.any([signal, AbortSignal.timeout(RUN_MS)]),
    timeouts: 0,
    samples: new Map(postgresChecks.map((check) => [check, []])),
  };
  const opened = await connectWithTries(run, allowPrivateTargets);
  signal.throwIfAborted();
  if ('failure' in opened) {
    const where = target.connectionType === 'direct' ? `${target.host}:${target.port}` : target.host;
    return notConnectedOutcomes(opened.failure, where, opened.tries);
  }
  await measureServer(run, opened.session);
  signal.throwIfAborted();
  return [
    ...connectedOutcomes(),
    ...postgresChecks.map((check) => outcomeOf(check, run.samples.get(check) ?? [])),
  ];
}

async function connectWithTries(
  run: Run,
  allowPrivate: boolean,
): Promise<{ session: Session } | { failure: ConnectFailure; tries: number }> {
  for (let tries = 1; ; tries++) {
    try {
      return { session: await connectFirst(run, allowPrivate) };
    } catch (error) {
      const failure = connectFailure(error);
      if (failure.final || tries === TRIES || run.signal.aborted) return { failure, tries };
      await wait(BETWEEN_TRIES_MS, undefined, { signal: run.signal }).catch(() => {});
    }
  }
}

// The host is resolved until that succeeds once; the whole run stays with the addresses that were allowed then.
async function connectFirst(run: Run, allowPrivate: boolean): Promise<Session> {
  const { target } = run;
  const connecting = AbortSignal.timeout(CONNECT_MS);
  if (target.connectionType === 'unix_socket') refuseSocket(allowPrivate);
  else if (run.addresses.length === 0) {
    run.addresses = await unlessAborted(resolveTarget(target.host, allowPrivate), connecting);
  }
  return openSession(target, target.database, run, { connecting, signal: databaseSignal(run) });
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

function databaseSignal(run: Run): AbortSignal {
  return AbortSignal.any([run.signal, AbortSignal.timeout(DATABASE_MS)]);
}

const serverFacts = `
  select current_setting('server_version_num')::int as version,
         array(select datname::text
                 from pg_database
                where datallowconn and not datistemplate and datconnlimit <> -2
                  and has_database_privilege(oid, 'connect')
                order by datname <> current_database(), datname) as databases`;

/** Measures the server in the session's database, then its databases one at a time; closes the session. */
async function measureServer(run: Run, session: Session): Promise<void> {
  const ofServer = postgresChecks.filter(({ scope }) => scope === 'server');
  const ofDatabase = postgresChecks.filter(({ scope }) => scope === 'database');
  try {
    const [facts] = await session.read(serverFacts);
    const { version, databases } = readFacts(facts);
    await measureEach(run, session, ofServer, { version, database: run.target.database });
    if (databases[0] === run.target.database) {
      await measureEach(run, session, ofDatabase, { version, database: run.target.database });
    }
    await session.close();
    for (const database of databases) {
      if (database !== run.target.database) await measureDatabase(run, ofDatabase, { version, database });
    }
  } catch (error) {
    // Without the facts nothing can be measured.
    for (const check of postgresChecks) run.samples.get(check)?.push(failedSample('', error));
  } finally {
    await session.close();
  }
}

function readFacts(row: Row | undefined): { version: number; databases: string[] } {
  const { version, databases } = row ?? {};
  if (typeof version !== 'number' || !Array.isArray(databases))
    throw new Error('it is no PostgreSQL that we know');
  return { version, databases: databases.map(String) };
}

interface Place {
  version: number;
  database: string;
}

async function measureDatabase(run: Run, checks: readonly Check[], place: Place): Promise<void> {
  try {
    stopWhereEnded(run);
    const connecting = AbortSignal.timeout(CONNECT_MS);
    const session = await openSession(run.target, place.database, run, {
      connecting,
      signal: databaseSignal(run),
    });
    await measureEach(run, session, checks, place);
    await session.close();
  } catch (error) {
    if (isTimeout(error)) run.timeouts++;
    const reason = new Error(connectFailure(error).reason);
    for (const check of checks) run.samples.get(check)?.push(failedSample(place.database, reason));
  }
}

async function measureEach(
  run: Run,
  session: Session,
  checks: readonly Check[],
  place: Place,
): Promise<void> {
  for (const check of checks) {
    const database = check.scope === 'server' ? '' : place.database;
    run.samples.get(check)?.push(await sampleOf(run, session, check, place, database));
  }
}

async function sampleOf(
  run: Run,
  session: Session,
  check: Check,
  place: Place,
  database: string,
): Promise<Sample> {
  try {
    stopWhereEnded(run);
    const rows = await session.read(check.sql(place.version));
    return { database, judgement: check.judge(rows, factsFor(run, check, place)) };
  } catch (error) {
    if (error instanceof NoAnswer || described(error).code === '57014') run.timeouts++;
    return failedSample(database, error);
  }
}

function factsFor({ thresholds }: Run, { id }: Check, place: Place): ServerFacts {
  const own = thresholds[id];
  return { ...place, now: new Date(), ...(own && { thresholds: own }) };
}

/** The run ended before everything was measured. */
class RunEnded extends Error {}

function stopWhereEnded(run: Run): void {
  if (run.timeouts >= TIMEOUTS) throw new RunEnded(`the run ended after ${TIMEOUTS} timeouts`);
}

function failedSample(database: string, error: unknown): Sample {
  const { code, message } = described(error);
  const reason =
    {
      '57014': 'it took more than 5 s',
      '55P03': 'what it reads is locked',
    }[code] ?? (isTimeout(error) ? 'the time for it was up' : cleanText(message, 300));
  const failed = `${database === '' ? '' : `Database ${database}: `}Not measured: ${reason}.`;
  return { database, failed, status: code === '42501' ? 'skipped' : 'error' };
}
