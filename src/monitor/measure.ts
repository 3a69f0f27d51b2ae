import type { FactInstructions, ReportedReading } from '../changes/facts.ts';
import { cheapestFirst } from '../checks/cheapest-first.ts';
import type { Check, Outcome, Thresholds } from '../checks/check.ts';
import { type JudgementInput, judgementOf, keptRows } from '../checks/judgement-of.ts';
import type { SeriesValue } from '../checks/measure.ts';
import { rowsOf } from '../checks/rows.ts';
import type { Endpoint } from '../network/address.ts';
import type { QueryInstructions, QueryReport } from '../queries/query-run.ts';
import type { Provider } from '../vocabulary/hosted/providers.ts';
import { type CounterBefore, type CounterSample, cleanRows } from './counters.ts';
import { LIMITS, type Limits } from './limits.ts';
import { cleanMeasures, measuresOf } from './measures/clean-measures.ts';
import { failedSample } from './measures/failed-sample.ts';
import { incompleteChecks } from './measures/incomplete-checks.ts';
import { Vitals } from './measures/measure-vitals.ts';
import { missingPrivileges } from './missing-privileges.ts';
import { connectedOutcomes, notConnectedOutcomes } from './not-connected.ts';
import { outcomeOf, type Sample } from './outcome.ts';
import { countChecks, type Progress } from './progress.ts';
import { QueryReader } from './queries/query-reader.ts';
import { ChangeReader } from './read-changes.ts';
import { factsOf, msSince, type NoteStep } from './run-steps.ts';
import { diallerOf } from './session/dial.ts';
import { loadEngine, type RunFacts } from './session/engine.ts';
import { type ConnectFailure, connectFailure, isTimeout } from './session/failures/connect-failure.ts';
import { isSilent, lastingSession, type Silences, stopWhereSilent } from './session/lasting-session.ts';
import { openDatabase, type Reached, reachTarget } from './session/reach.ts';
import type { Meter, Session, Target } from './session/session.ts';

/** After this share of the run's time, heavy checks of further databases wait until the cheap ones are done. */
const LATE = 0.25;

const NO_QUERIES: QueryInstructions = { state: null, usual: null, recent: null, texts: null };

/** The settings of a run, besides its target. Plain data, because a pipe sends it to a child process. */
export interface Instructions {
  allowPrivateTargets: boolean;
  /** Thresholds that replace the check's own, by check id. */
  thresholds: Readonly<Record<string, Thresholds>>;
  /** 0 = none. */
  expectedStandbys?: number;
  /** The samples of the previous run, for checks that compare runs. Their age is as of `began`. */
  before?: CounterBefore[];
  /** `Date.now()` when `before` was read (default: the start of the run). */
  began?: number;
  limits?: Limits;
  facts?: FactInstructions | null; // null, the default = the server is not compared with the previous run
  queries?: QueryInstructions; // default: nothing is known of the queries before
}

/** The result of a run. Plain data too. */
export interface Measured {
  outcomes: Outcome[];
  /** The samples of this run, for checks that compare runs. */
  samples: CounterSample[];
  /** The numbers of this run, of checks and vitals; and what may have changed of the server. */
  measures: SeriesValue[];
  readings: ReportedReading[];
  /** What queries did; null if that was not read. */
  queries: QueryReport | null;
  cost: Cost;
  /** SHA-256 of the SSH server's key, base64; null without a tunnel. */
  hostKey: string | null;
  /** Null if the server was not reached. */
  server: ReachedServer | null;
  /** Why the server could not be connected to; null if it could. */
  failure: ConnectFailure | null;
}

/** Facts about a server, read before any check: the version is as {@link import('../checks/check.ts').ServerFacts} has it. */
interface ReachedServer {
  version: number;
  /** The TLS version in use, such as TLSv1.3; null = no TLS. */
  tls: string | null;
  /** Who hosts it; null = nobody that dbvitals recognises. */
  provider: Provider | null;
}

/** What the checks of a run cost the monitored server, as seen by the monitor. */
export type Cost = Meter;

/** The state of a run. */
interface Run extends Silences, Required<Omit<Instructions, 'queries'>> {
  samples: Map<Check, Sample[]>;
  counters: CounterSample[];
  vitals: Vitals;
  changes: ChangeReader;
  queries: QueryReader;
  server: Measured['server'];
  failure: Measured['failure'];
  show: (progress: Progress) => void;
  /** Called after each check, with the database of the session. */
  step: (database: string) => void;
}

/**
 * Measures a database server with every check of its engine's catalogue, in bounded time. Never throws because of the
 * target; throws the reason of `signal` if that cancelled the run.
 */
export async function measure(
  target: Target,
  {
    signal,
    show = () => {},
    note,
    ...instructions
  }: Instructions & { signal: AbortSignal; show?: (progress: Progress) => void; note?: NoteStep },
): Promise<Measured> {
  const { limits = LIMITS, allowPrivateTargets } = instructions;
  const engine = await loadEngine(target.engine);
  const { before = [], began = Date.now() } = instructions;
  const counters: CounterSample[] = [];
  const run: Run = {
    expectedStandbys: 0,
    facts: null,
    ...instructions,
    before,
    began,
    limits,
    target,
    engine,
    dialler: diallerOf(target, allowPrivateTargets),
    meter: { bytes: 0, statements: 0, milliseconds: 0 },
    signal: AbortSignal.any([signal, AbortSignal.timeout(limits.runMs)]),
    silences: 0,
    samples: new Map(engine.checks.map((check) => [check, []])),
    counters,
    vitals: new Vitals({ engine, before, began, counters, note, ended: () => isSilent(run) }),
    changes: new ChangeReader(target, instructions.facts ?? null, () => isSilent(run)),
    queries: new QueryReader(target.engine, instructions.queries ?? NO_QUERIES),
    server: null,
    failure: null,
    show,
    note,
    step: () => {},
  };
  try {
    const outcomes = await measureTarget(run);
    signal.throwIfAborted();
    const { bytes, statements, milliseconds } = run.meter;
    const cost = { milliseconds: Math.round(milliseconds), statements, bytes };
    const { counters: samples, server, failure } = run;
    const checked = [...run.samples].flatMap(([check, own]) => measuresOf(check, own));
    const measures = cleanMeasures([...run.vitals.measures(), ...checked]);
    const [readings, hostKey] = [run.changes.reported, run.dialler.hostKey()];
    const queries = run.queries.report;
    return { outcomes, samples, measures, readings, queries, cost, hostKey, server, failure };
  } finally {
    run.dialler.close();
  }
}

async function measureTarget(run: Run): Promise<Outcome[]> {
  const { host, port, connectionType } = run.target;
  const { engine } = run;
  const reached = await reachTarget(run);
  const where = connectionType === 'unix_socket' || host.includes(',') ? host : `${host}:${port}`;
  run.failure = 'failure' in reached ? reached.failure : await measureServer(run, reached);
  if (run.failure)
    return notConnectedOutcomes(engine, run.failure, where, 'failure' in reached ? reached.tries : 1);
  const samples = engine.checks.map((check) => ({ check, samples: run.samples.get(check) ?? [] }));
  return [
    ...connectedOutcomes(),
    incompleteChecks(samples),
    missingPrivileges(engine.privilegeMissing, samples),
    ...samples.map(({ check, samples: own }) => outcomeOf(check, own)),
  ];
}

/**
 * Measures the server in the session's database, then its databases one at a time; closes the session. Returns a
 * failure if the server accepted the login but not the queries for its facts: it counts as unreachable.
 */
async function measureServer(run: Run, reached: Reached): Promise<ConnectFailure | null> {
  const { endpoint } = reached;
  const { checks, readFacts } = run.engine;
  const ofServer = cheapestFirst(checks.filter(({ scope }) => scope === 'server'));
  const ofDatabase = cheapestFirst(checks.filter(({ scope }) => scope === 'database'));
  const { database } = run.target;
  const session = lastingSession(run, reached.session, endpoint, database);
  const began = performance.now();
  try {
    const { databases, ...facts } = await readFacts(session);
    run.server = { version: facts.version, tls: session.tls, provider: facts.provider };
    const counts = { ofServer: ofServer.length, ofDatabase: ofDatabase.length };
    run.step = countChecks(databases, counts, run.show);
    const place = { ...facts, database };
    await measureEach(run, session, ofServer, place);
    if (databases[0] === database) await measureEach(run, session, ofDatabase, place);
    // Last, so that a server too slow for them still has its checks measured.
    await run.vitals.read(session, 'server', place);
    if (databases[0] === database) await run.vitals.read(session, 'database', place);
    await run.changes.readServer(session, facts, endpoint);
    if (databases[0] === database) await run.changes.readDatabase(session, database);
    await session.close();
    const heavy = ofDatabase.filter(({ cost }) => cost === 2);
    const light = ofDatabase.filter((check) => !heavy.includes(check));
    const late: Place[] = [];
    for (const other of databases.filter((each) => each !== database)) {
      const there = { ...facts, database: other };
      const isLate = performance.now() - began > run.limits.runMs * LATE;
      if (isLate) late.push(there);
      await measureDatabase(run, endpoint, isLate ? light : ofDatabase, there, async (opened) => {
        await run.vitals.read(opened, 'database', there);
        await run.changes.readDatabase(opened, other);
      });
    }
    for (const there of late) await measureDatabase(run, endpoint, heavy, there);
    return null;
  } catch (error) {
    return connectFailure(error, run.limits.answerMs, run.target);
  } finally {
    await session.close();
  }
}

type Place = Omit<RunFacts, 'databases'> & { database: string };

async function measureDatabase(
  run: Run,
  endpoint: Endpoint,
  checks: readonly Check[],
  place: Place,
  afterwards?: (session: Session) => Promise<void>,
): Promise<void> {
  try {
    stopWhereSilent(run);
    const { database } = place;
    const session = lastingSession(run, await openDatabase(run, endpoint, database), endpoint, database);
    try {
      await measureEach(run, session, checks, place);
      await afterwards?.(session);
    } finally {
      await session.close();
    }
  } catch (error) {
    if (isTimeout(error)) run.silences++;
    const reason = new Error(connectFailure(error, run.limits.connectMs, run.target).reason);
    for (const check of checks) run.samples.get(check)?.push(failedSample(check, place, reason));
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
    const began = performance.now();
    const sample = await sampleOf(run, session, check, place, database);
    run.note?.('check', { check_id: check.id, database, ms: msSince(began), ...factsOf(sample) });
    run.samples.get(check)?.push(sample);
    run.step(place.database);
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
    stopWhereSilent(run);
    const read = (statement: string) => session.read(statement);
    const server = { engine: run.target.engine, version: place.version };
    const rows = await rowsOf(check, server, read, run.thresholds[check.id]);
    const queries = check.readsQueries && (await run.queries.facts(session, place.database));
    const facts = { ...factsFor(run, check, place, database), ...(queries && { queries }) };
    if (check.comparesRuns) {
      const after = (Date.now() - run.began) / 1_000;
      run.counters.push({ checkId: check.id, database, after, rows: cleanRows(keptRows(check, rows)) });
    }
    return { database, judgement: judgementOf(check, rows, facts) };
  } catch (error) {
    return failedSample(check, { ...place, database }, error);
  }
}

function factsFor(run: Run, { id, comparesRuns }: Check, place: Place, database: string): JudgementInput {
  const { expectedStandbys, began } = run;
  const thresholds = run.thresholds[id];
  const last = comparesRuns && run.before.find((each) => each.checkId === id && each.database === database);
  const seconds = last ? last.seconds + (Date.now() - began) / 1_000 : 0;
  return {
    ...place,
    now: new Date(),
    expectedStandbys,
    ...(thresholds && { thresholds }),
    ...(last && { before: { rows: last.rows, seconds } }),
  };
}
