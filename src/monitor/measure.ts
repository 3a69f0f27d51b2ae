import type { Finding, Thresholds } from '../checks/check.ts';
import { findingForPrimary } from '../checks/hosted/for-primary.ts';
import { type OwnCheck, toCheck } from '../checks/own/own-check.ts';
import type { ServerLimit } from '../checks/pgbouncer/server-limit.ts';
import type { FactInstructions } from '../runs/changes/facts.ts';
import type { QueryInstructions } from '../runs/queries/query-run.ts';
import type { CounterBefore, CounterSample } from './counters.ts';
import { LIMITS, type Limits } from './limits.ts';
import { cleanMeasures, collectMeasures } from './measures/clean-measures.ts';
import { incompleteChecks } from './measures/incomplete-checks.ts';
import type { Run } from './measures/measure-checks.ts';
import { measureServer } from './measures/measure-databases.ts';
import { Vitals } from './measures/measure-vitals.ts';
import { missingPrivileges } from './measures/missing-privileges.ts';
import { reachUnlessPaused } from './measures/paused-login.ts';
import { reconcileIndexes } from './measures/reconcile-indexes.ts';
import { connectedOutcomes, type Measured, notConnectedOutcomes } from './nothing-measured.ts';
import { outcomeOf } from './outcome.ts';
import type { Progress } from './progress.ts';
import { QueryReader } from './queries/query-reader.ts';
import { ChangeReader } from './read-changes.ts';
import type { NoteStep } from './run-steps.ts';
import { diallerOf } from './session/dial.ts';
import { loadEngine } from './session/engine.ts';
import { reasonOfEnd } from './session/lasting-session.ts';
import { WaitingLogins } from './session/postgres/waiting-logins.ts';
import { closeReach } from './session/reach.ts';
import type { Target } from './session/session.ts';

/** The time for the end of a run: closing the session, and sending what it has. The parent kills it later. */
const END_MS = 5_000;

const NO_QUERIES: QueryInstructions = { state: null, usual: null, recent: null, texts: null };

/** The settings of a run, besides its target. Plain data, because a pipe sends it to a child process. */
export interface Instructions {
  allowPrivateTargets: boolean;
  /** Thresholds that replace the check's own, by check id. */
  thresholds: Readonly<Record<string, Thresholds>>;
  /** 0 = none. */
  expectedStandbys?: number;
  /** For a pooler: the servers of the account that may be behind it (default: none). */
  serversBehind?: readonly ServerLimit[];
  /** The checks that members wrote for the connection (default: none). */
  own?: readonly OwnCheck[];
  /** Measures nothing else than `own` (default: false). */
  onlyOwn?: boolean;
  /** The samples of the previous run, for checks that compare runs. Their age is as of `began`. */
  before?: CounterBefore[];
  /** How often the target is tried (default: 3 times). */
  tries?: number;
  /** `Date.now()` when `before` was read (default: the start of the run). */
  began?: number;
  limits?: Limits;
  facts?: FactInstructions | null; // null, the default = the server is not compared with the previous run
  queries?: QueryInstructions; // default: nothing is known of the queries before
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
  const { limits = LIMITS, allowPrivateTargets, before = [], began = Date.now() } = instructions;
  const engine = await loadEngine(target.engine);
  const own = new Map((instructions.own ?? []).map((each) => [toCheck(each), each]));
  const counters: CounterSample[] = [];
  const run: Run = {
    expectedStandbys: instructions.expectedStandbys ?? 0,
    serversBehind: instructions.serversBehind ?? [],
    thresholds: instructions.thresholds,
    own,
    onlyOwn: instructions.onlyOwn ?? false,
    before,
    began,
    limits,
    target,
    engine,
    dialler: diallerOf(target, allowPrivateTargets),
    waiting: new WaitingLogins(),
    meter: { bytes: 0, statements: 0, milliseconds: 0 },
    signal: AbortSignal.any([
      signal,
      AbortSignal.timeout(Math.round(limits.runMs - Math.min(END_MS, limits.runMs / 10))),
    ]),
    silences: 0,
    samples: new Map([...engine.checks, ...own.keys()].map((check) => [check, []])),
    counters,
    vitals: new Vitals({ engine, before, began, counters, note, ended: () => reasonOfEnd(run) !== null }),
    changes: new ChangeReader(target, instructions.facts ?? null, () => reasonOfEnd(run) !== null),
    queries: new QueryReader(target.engine, instructions.queries ?? NO_QUERIES),
    server: null,
    leftOut: [],
    isStandby: false,
    show,
    note,
    ...(instructions.tries !== undefined && { tries: instructions.tries }),
    step: () => {},
  };
  try {
    const { outcomes, failure } = await measureTarget(run);
    signal.throwIfAborted();
    const { bytes, statements, milliseconds } = run.meter;
    const cost = { milliseconds: Math.round(milliseconds), statements, bytes };
    const { counters: samples, server, leftOut } = run;
    const checked = [...run.samples].flatMap(([check, own]) => collectMeasures(check, own));
    const measures = cleanMeasures([...run.vitals.measures(), ...checked]);
    const [readings, queries] = [run.changes.reported, run.queries.report];
    const hostKey = run.dialler.hostKey();
    return { outcomes, leftOut, samples, measures, readings, queries, cost, hostKey, server, failure };
  } finally {
    closeReach(run);
  }
}

async function measureTarget(run: Run): Promise<Pick<Measured, 'outcomes' | 'failure'>> {
  const { host, port, connectionType } = run.target;
  const { engine } = run;
  const reached = await reachUnlessPaused(run);
  const where = connectionType === 'unix_socket' || host.includes(',') ? host : `${host}:${port}`;
  const failure = 'failure' in reached ? reached.failure : await measureServer(run, reached);
  if (failure) {
    const tries = 'failure' in reached ? reached.tries : 1;
    return { failure, outcomes: notConnectedOutcomes(engine, failure, where, tries) };
  }
  reconcileIndexes([...run.samples.values()].flat());
  const samples = engine.checks.map((check) => ({ check, samples: run.samples.get(check) ?? [] }));
  const outcomes = [
    ...connectedOutcomes(),
    incompleteChecks(samples),
    ...(engine.privilegeMissing
      ? [missingPrivileges(engine.privilegeMissing, samples, run.vitals.denied)]
      : []),
    ...[...run.samples].map(([check, own]) => outcomeOf(check, own)),
  ];
  if (!run.isStandby) return { outcomes, failure };
  const forPrimary = (finding: Finding) => findingForPrimary(run.target.engine, finding);
  return {
    outcomes: outcomes.map((one) => ({ ...one, findings: one.findings.map(forPrimary) })),
    failure,
  };
}
