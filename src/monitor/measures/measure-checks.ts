import type { Check, Thresholds } from '../../checks/check.ts';
import { type JudgementInput, keptRows } from '../../checks/judgement-of.ts';
import type { OwnCheck } from '../../checks/own/own-check.ts';
import type { ServerLimit } from '../../checks/pgbouncer/server-limit.ts';
import { rowsOf } from '../../checks/rows.ts';
import type { Provider } from '../../vocabulary/hosted/providers.ts';
import { type CounterBefore, type CounterSample, cleanRows } from '../counters.ts';
import type { Sample } from '../outcome.ts';
import type { Progress } from '../progress.ts';
import type { QueryReader } from '../queries/query-reader.ts';
import type { ChangeReader } from '../read-changes.ts';
import { factsOf, msSince } from '../run-steps.ts';
import type { RunFacts } from '../session/engine-parts.ts';
import { exactPrivilege } from '../session/failures/exact-privilege.ts';
import { reasonOfEnd, type Silences, stopWhereEnded } from '../session/lasting-session.ts';
import type { Session } from '../session/session.ts';
import { failedSample } from './failed-sample.ts';
import type { Vitals } from './measure-vitals.ts';
import { judgedSample } from './reconcile-indexes.ts';

/** Facts about a server, read before any check: the version is as {@link import('../../checks/check.ts').ServerFacts} has it. */
export interface ReachedServer {
  version: number;
  /** The TLS version in use, such as TLSv1.3; null = no TLS. */
  tls: string | null;
  /** Who hosts it; null = nobody that dbvitals recognises. */
  provider: Provider | null;
}

/** The state of a run. */
export interface Run extends Silences {
  /** Thresholds that replace the check's own, by check id. */
  thresholds: Readonly<Record<string, Thresholds>>;
  expectedStandbys: number;
  serversBehind: readonly ServerLimit[];
  /** The checks that members wrote, as checks of the run. */
  own: ReadonlyMap<Check, OwnCheck>;
  /** Measures nothing else than `own`. */
  onlyOwn: boolean;
  /** The samples of the previous run. */
  before: CounterBefore[];
  /** `Date.now()` when `before` was read. */
  began: number;
  samples: Map<Check, Sample[]>;
  counters: CounterSample[];
  vitals: Vitals;
  changes: ChangeReader;
  queries: QueryReader;
  server: ReachedServer | null;
  /** As {@link RunFacts} has it, safe to store. */
  leftOut: string[];
  /** Whether the server copies another one, and accepts no writes. */
  isStandby: boolean;
  show: (progress: Progress) => void;
  /** Called after each check, with the database of the session. */
  step: (database: string) => void;
}

/** The server's facts, and the database of a session. */
export type Place = Omit<RunFacts, 'databases' | 'leftOut'> & { database: string };

/** Measures with each check in turn. After the end of the run, each counts as not measured. */
export async function measureEach(
  run: Run,
  session: Session,
  checks: readonly Check[],
  place: Place,
): Promise<void> {
  for (const check of checks) {
    const database = check.scope === 'server' ? '' : place.database;
    const began = performance.now();
    const sample = await takeSample(run, session, check, place, database);
    run.note?.('check', { check_id: check.id, database, ms: msSince(began), ...factsOf(sample) });
    run.samples.get(check)?.push(sample);
    run.step(place.database);
  }
}

async function takeSample(
  run: Run,
  session: Session,
  check: Check,
  place: Place,
  database: string,
): Promise<Sample> {
  try {
    stopWhereEnded(run);
    const read = (statement: string) => session.read(statement);
    const server = { engine: run.target.engine, version: place.version };
    const rows = await rowsOf(check, server, read, run.thresholds[check.id]);
    const queries = check.readsQueries && (await run.queries.facts(session, place.database));
    const facts = { ...factsFor(run, check, place, database), ...(queries && { queries }) };
    if (check.comparesRuns) {
      const after = (Date.now() - run.began) / 1_000;
      const kept = cleanRows(keptRows(check, rows, facts.before));
      run.counters.push({ checkId: check.id, database, after, rows: kept });
    }
    return judgedSample(check, rows, facts, database);
  } catch (error) {
    const at = { ...place, database };
    if (run.signal.aborted) return failedSample(check, at, reasonOfEnd(run));
    return failedSample(
      check,
      at,
      error,
      await exactPrivilege(error, (statement) => session.read(statement)),
    );
  }
}

function factsFor(run: Run, { id, comparesRuns }: Check, place: Place, database: string): JudgementInput {
  const { expectedStandbys, serversBehind, began } = run;
  const thresholds = run.thresholds[id];
  const last = comparesRuns && run.before.find((each) => each.checkId === id && each.database === database);
  const seconds = last ? last.seconds + (Date.now() - began) / 1_000 : 0;
  return {
    ...place,
    now: new Date(),
    expectedStandbys,
    serversBehind,
    ...(thresholds && { thresholds }),
    ...(last && { before: { rows: last.rows, seconds } }),
  };
}
