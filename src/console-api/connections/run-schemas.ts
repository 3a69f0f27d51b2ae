import { count, identifier, score, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { ListedChange } from '../changes/change-schemas.ts';
import { FaultMeasure, namesOfSeries } from '../measures/measure-schemas.ts';

/** A health check in the history of its connection. */
const Run = Type.Object({
  id: identifier('health check identifier'),
  created_at: timestamp('when it was stored'),
  score: score('health score'),
  summary_text: Type.String(),
  complete: Type.Boolean({ description: 'whether its findings are still stored' }),
  in_maintenance: Type.Boolean({ description: 'whether the connection was in a maintenance window' }),
});

export const Runs = Type.Object({
  /** Newest first. */
  runs: Type.Array(Run),
  next: nullable(identifier('`before` of the next page; null on the last')),
});

/** A fault as one run found it. */
const FaultOfRun = Type.Object({
  severity: stringEnum(...SEVERITIES),
  metric_line: Type.String(),
  measured: nullable(FaultMeasure),
});

/** A fault that at least one of two runs found. It contains untrusted text of the monitored server. */
const ComparedFault = Type.Object({
  check_id: Type.String(),
  category: Type.String(),
  title: Type.String(),
  database: Type.String(),
  object: nullable(Type.String()),
  /** Null if the earlier run did not find it. */
  before: nullable(FaultOfRun),
  /** Null if the later run did not find it. */
  after: nullable(FaultOfRun),
});

export const RunComparison = Type.Object({
  /** The earlier run. */
  from: Run,
  to: Run,
  /** Null if the findings of one of the runs are no longer stored. Each list: worst first. */
  findings: nullable(
    Type.Object({
      new: Type.Array(ComparedFault),
      gone: Type.Array(ComparedFault),
      worse: Type.Array(ComparedFault),
      better: Type.Array(ComparedFault),
      /** Faults that only one of the runs could look for: the other skipped the check, or it failed or was silenced. */
      unknown: Type.Array(ComparedFault),
      unchanged: count('faults of the same severity in both runs'),
    }),
  ),
  /** Null = that run did not measure it. */
  measures: Type.Array(
    Type.Object({ ...namesOfSeries, before: nullable(Type.Number()), after: nullable(Type.Number()) }),
  ),
  /** What changed after the earlier run, up to and including the later one: newest first, at most 200. */
  changes: Type.Array(ListedChange),
});

export type Run = Static<typeof Run>;
/** GET /connections/:id/runs?before=&limit= */
export type Runs = Static<typeof Runs>;
export type ComparedFault = Static<typeof ComparedFault>;
/** GET /connections/:id/runs/compare?from=&to= with the ids of two runs */
export type RunComparison = Static<typeof RunComparison>;
