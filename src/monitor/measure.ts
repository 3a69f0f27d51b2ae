import type { FactInstructions, ReportedReading } from '../changes/facts.ts';
import type { Check, Outcome, Thresholds } from '../checks/check.ts';
import { type JudgementInput, judgementOf, keptRows, skippedLine } from '../checks/judgement-of.ts';
import type { SeriesValue } from '../checks/measure.ts';
import { rowsOf } from '../checks/rows.ts';
import { type CounterBefore, type CounterSample, cleanRows } from './counters.ts';
import { LIMITS, type Limits } from './limits.ts';
import { cleanMeasures, measuresOf } from './measures/clean-measures.ts';
import { failedSample } from './measures/failed-sample.ts';
import { Vitals } from './measures/measure-vitals.ts';
import { missingPrivileges } from './missing-privileges.ts';
import { connectedOutcomes, notConnectedOutcomes } from './not-connected.ts';
import { outcomeOf, type Sample } from './outcome.ts';
import { countChecks, type Progress } from './progress.ts';
import { ChangeReader } from './read-changes.ts';
import { type Facts, msSince, type NoteStep } from './run-steps.ts';
import type { Endpoint } from './session/address.ts';
import { type ConnectFailure, connectFailure, isTimeout, refusalOf } from './session/connect-failure.ts';
import { diallerOf } from './session/dial.ts';
import { engines, type RunFacts } from './session/engine.ts';
import { openDatabase, type Reach, type Reached, reachTarget } from './session/reach.ts';
import { type Meter, NoAnswer, type Session, type Target } from './session/session.ts';

const TIMEOUTS = 3;

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
}

/** The result of a run. Plain data too. */
export interface Measured {
  outcomes: Outcome[];
  /** The samples of this run, for checks that compare runs. */
  samples: CounterSample[];
  /** The numbers of this run, of checks and vitals; and what may have changed of the server. */
  measures: SeriesValue[];
  readings: ReportedReading[];
  cost: Cost;
  /** SHA-256 of the SSH server's key, base64; null without a tunnel. */
  hostKey: string | null;
  /** Null if the server was not reached. */
  server: ReachedServer | null;
}

/** Facts about a server, read before any check: the version is as {@link import('../checks/check.ts').ServerFacts} has it. */
interface ReachedServer {
  version: number;
  /** The TLS version in use, such as TLSv1.3; null = no TLS. */
  tls: string | null;
}

/** What the checks of a run cost the monitored server, as seen by the monitor. */
export type Cost = Meter;

/** The state of a run. */
interface Run extends Reach, Required<Instructions> {
  timeouts: number;
  samples: Map<Check, Sample[]>;
  counters: CounterSample[];
  vitals: Vitals;
  changes: ChangeReader;
  server: ReachedServer | null;
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
  const engine = engines[target.engine];
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
    timeouts: 0,
    samples: new Map(engine.checks.map((check) => [check, []])),
    counters,
    vitals: new Vitals({ engine, before, began, counters, note, ended: () => hasEnded(run) }),
    changes: new ChangeReader(target, instructions.facts ?? null, () => hasEnded(run)),
    server: null,
    show,
    note,
    step: () => {},
  };
  try {
    const outcomes = await measureTarget(run);
    signal.throwIfAborted();
    const { bytes, statements, milliseconds } = run.meter;
    const cost = { milliseconds: Math.round(milliseconds), statements, bytes };
    const { counters: samples, server } = run;
    const checked = [...run.samples].flatMap(([check, own]) => measuresOf(check, own));
    const measures = cleanMeasures([...run.vitals.measures(), ...checked]);
    const [readings, hostKey] = [run.changes.reported, run.dialler.hostKey()];
    return { outcomes, samples, measures, readings, cost, hostKey, server };
  } finally {
    run.dialler.close();
  }
}

async function measureTarget(run: Run): Promise<Outcome[]> {
  const { host, port, connectionType } = run.target;
  const { engine } = run;
  const reached = await reachTarget(run);
  const where = connectionType === 'unix_socket' || host.includes(',') ? host : `${host}:${port}`;
  if ('failure' in reached) return notConnectedOutcomes(engine, reached.failure, where, reached.tries);
  const failure = await measureServer(run, reached);
  if (failure) return notConnectedOutcomes(engine, failure, where, 1);
  const samples = engine.checks.map((check) => ({ check, samples: run.samples.get(check) ?? [] }));
  return [
    ...connectedOutcomes(),
    missingPrivileges(engine.privilegeMissing, samples),
    ...samples.map(({ check, samples: own }) => outcomeOf(check, own)),
  ];
}

/**
 * Measures the server in the session's database, then its databases one at a time; closes the session. Returns a
 * failure if the server accepted the login but not the queries for its facts: it counts as unreachable.
 */
async function measureServer(run: Run, { session, endpoint }: Reached): Promise<ConnectFailure | null> {
  const { checks, readFacts } = run.engine;
  const ofServer = checks.filter(({ scope }) => scope === 'server');
  const ofDatabase = checks.filter(({ scope }) => scope === 'database');
  const { database } = run.target;
  try {
    const { databases, ...facts } = await readFacts(session);
    run.server = { version: facts.version, tls: session.tls };
    const counts = { ofServer: ofServer.length, ofDatabase: ofDatabase.length };
    run.step = countChecks(databases, counts, run.show);
    const place = { ...facts, database };
    const shared = run.vitals.sharing(session, facts.version);
    await measureEach(run, shared, ofServer, place);
    if (databases[0] === database) await measureEach(run, session, ofDatabase, place);
    // Last, so that a server too slow for them still has its checks measured.
    await run.vitals.read(session, 'server', place);
    if (databases[0] === database) await run.vitals.read(session, 'database', place);
    await run.changes.readServer(session, facts, endpoint);
    if (databases[0] === database) await run.changes.readDatabase(session, database);
    await session.close();
    for (const other of databases) {
      if (other !== database) await measureDatabase(run, endpoint, ofDatabase, { ...facts, database: other });
    }
    return null;
  } catch (error) {
    return connectFailure(error, run.limits.answerMs);
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
): Promise<void> {
  try {
    stopWhereEnded(run);
    const session = await openDatabase(run, endpoint, place.database);
    try {
      await measureEach(run, session, checks, place);
      await run.vitals.read(session, 'database', place);
      await run.changes.readDatabase(session, place.database);
    } finally {
      await session.close();
    }
  } catch (error) {
    if (isTimeout(error)) run.timeouts++;
    const reason = new Error(connectFailure(error, run.limits.connectMs).reason);
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

function factsOf(sample: Sample): Facts {
  if ('failed' in sample) return { status: sample.status, reason: sample.failed };
  const { judgement } = sample;
  return 'skipped' in judgement
    ? { status: 'skipped', reason: skippedLine(judgement) }
    : { status: 'measured', faults: judgement.faults.length };
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
    const rows = await rowsOf(check, place.version, (statement) => session.read(statement));
    const facts = factsFor(run, check, place, database);
    if (check.comparesRuns) {
      const after = (Date.now() - run.began) / 1_000;
      run.counters.push({ checkId: check.id, database, after, rows: cleanRows(keptRows(check, rows)) });
    }
    return { database, judgement: judgementOf(check, rows, facts) };
  } catch (error) {
    if (error instanceof NoAnswer || refusalOf(error) === 'timeout') run.timeouts++;
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

/** The run ended before all checks were measured. */
class RunEnded extends Error {}

function hasEnded(run: Run): boolean {
  return run.timeouts >= TIMEOUTS;
}

function stopWhereEnded(run: Run): void {
  if (hasEnded(run)) throw new RunEnded(`the run ended after ${TIMEOUTS} timeouts`);
}
