import { wholeNumber } from '../../http/query-parameters.ts';
import { notFound, Rejection } from '../../platform/rejection.ts';
import { Type } from '../../platform/schema/schema.ts';
import { showChange } from '../../runs/changes/connection-change.ts';
import { listChanges } from '../../runs/changes/list-changes.ts';
import { compareFindings } from '../../runs/compare-findings.ts';
import { listRuns, readRuns, type Run as StoredRun } from '../../runs/list-runs.ts';
import { readRunValues } from '../../runs/measures/read-run-values.ts';
import { endOf } from '../history-range.ts';
import { named } from '../measures/series-names.ts';
import { limitParameter, readLimit } from '../page-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { requireConnection } from './require-connection.ts';
import { type Run, RunComparison, Runs } from './run-schemas.ts';

const listPage = consoleRoute({
  method: 'GET',
  path: '/connections/:id/runs',
  permission: 'health:read',
  query: Type.Object({
    before: wholeNumber('before', 'Gives the runs before the run with this id.', { minimum: 1 }),
    limit: limitParameter,
  }),
  response: Runs,
  async handler({ actor: { accountId }, id, query, read }) {
    const limit = readLimit(query.limit);
    const { before = null } = query;
    const rows = await read(async (run) => {
      await requireConnection(run, accountId, id);
      return listRuns(run, accountId, id, { before, limit: limit + 1 });
    });
    const runs = rows.slice(0, limit).map(runOf);
    return { runs, next: rows.length > limit ? (runs.at(-1)?.id ?? null) : null };
  },
});

const MOST_CHANGES = 200;

const compare = consoleRoute({
  method: 'GET',
  path: '/connections/:id/runs/compare',
  permission: 'health:read',
  query: Type.Object({
    from: wholeNumber('from', 'The earlier run.', { minimum: 1 }),
    to: wholeNumber('to', 'The later run.', { minimum: 1 }),
  }),
  response: RunComparison,
  // It reads the findings of two runs, and a value for each of up to 600 series.
  cost: 5,
  async handler({ actor: { accountId }, id, query, read }) {
    const ids = { from: runParameter('from', query.from), to: runParameter('to', query.to) };
    return read(async (run) => {
      await requireConnection(run, accountId, id);
      const runs = await readRuns(run, accountId, id, ids);
      if (!runs) throw notFound();
      const { from, to } = runs;
      if (isAfter(from, to)) throw invalid('from', 'from must be the earlier run.');
      const range = { from: from.created_at, to: to.created_at };
      const measures = await readRunValues(run, accountId, id, range);
      const changed = { from: endOf(from.created_at), to: endOf(to.created_at), limit: MOST_CHANGES };
      return {
        from: runOf(from),
        to: runOf(to),
        findings: from.findings && to.findings ? compareFindings(from.findings, to.findings) : null,
        measures: measures.map(named),
        changes: (await listChanges(run, accountId, id, changed)).map(showChange),
      };
    });
  },
});

/** The routes of a connection's run history. */
export const runHistoryRoutes: ConsoleRoute[] = [listPage, compare];

function runOf({ id, created_at, score, summary_text, complete, in_maintenance }: StoredRun): Run {
  return { id, created_at: created_at.toISOString(), score, summary_text, complete, in_maintenance };
}

function isAfter(one: StoredRun, other: StoredRun): boolean {
  return (one.created_at.getTime() - other.created_at.getTime() || one.id - other.id) > 0;
}

function runParameter(name: string, id: number | undefined): number {
  if (id === undefined) throw invalid(name, 'Give from and to the ids of two runs.');
  return id;
}

function invalid(parameter: string, message: string): Rejection {
  return new Rejection('invalid_parameter', message, { parameter });
}
