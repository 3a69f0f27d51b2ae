import { type ChangeAccount, changeAccount } from '../../activity/record-entry.ts';
import { findingId, type OwnCheck } from '../../checks/own/own-check.ts';
import { worstFirst } from '../../checks/score.ts';
import { notFound, Rejection } from '../../platform/rejection.ts';
import { ENGINE_NAMES, isSqlEngine } from '../../vocabulary/engines.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import type { FindingStatus } from '../../vocabulary/severities.ts';
import { loadRun } from '../load-run.ts';
import type { ConnectionKey, MonitorDeps } from '../monitor-deps.ts';
import type { Cost } from '../nothing-measured.ts';
import { measureLoaded } from '../tokens/measure-loaded.ts';

/** What a statement gave for an own check that is not stored. */
export interface OwnTrial {
  status: FindingStatus;
  /** Of the worst value; or why nothing was measured. */
  metric_line: string;
  values: { object: string | null; value: number }[];
  /** How many rows would be a fault. */
  faults: number;
  cost: Cost;
}

/** A check that is tried: its engine is the connection's. */
export type TriedCheck = Pick<
  OwnCheck,
  'sql' | 'database' | 'unit' | 'operator' | 'warning' | 'critical' | 'timeout'
>;

// So the run returns the rows, which it keeps for the time between two readings.
const KEPT = { every: 86_400 };

const NEVER = new AbortController().signal;

/**
 * Runs the statement of an own check once on a connection, as a run does, and stores nothing but an entry in the log, which `change`
 * writes. Throws `notFound`, and as `loadRun` does.
 */
export async function tryOwnCheck(
  deps: MonitorDeps,
  connection: ConnectionKey,
  tried: TriedCheck,
  {
    signal = NEVER,
    change = (work) => changeAccount(deps.writer, connection.accountId, work),
  }: { signal?: AbortSignal; change?: ChangeAccount } = {},
): Promise<OwnTrial> {
  const run = await loadRun(deps, connection);
  const { connectionId: connection_id } = connection;
  if (!run) throw notFound('connection', connection_id);
  const { engine } = run.job.target;
  if (!isSqlEngine(engine))
    throw new Rejection('conflict', `${ENGINE_NAMES[engine]} runs no SELECT, so it has no own checks.`);
  await change(async ({ record }) => {
    const properties = { connection_id, name: run.name, sql: tried.sql, ...deps.actor };
    record('own_check_tried', PAGE_LINKS.connection(connection_id), properties);
  });
  const { target, instructions } = run.job;
  const named = { id: 'TRIED', title: 'Tried', engine, remediation: '', tags: [] };
  const own = [{ ...tried, ...named, ...KEPT }];
  const { facts: _, before: __, ...rest } = instructions;
  const job = { target, instructions: { ...rest, own, onlyOwn: true } };
  const measured = await measureLoaded({ ...run, job }, deps.tokenCommands ?? {}, signal);
  const id = findingId(named.id);
  const outcome = measured.outcomes.filter(({ check }) => check.id === id);
  const findings = worstFirst(outcome.length > 0 ? outcome : measured.outcomes);
  const rows = measured.samples.find(({ checkId }) => checkId === id)?.rows.slice(1) ?? [];
  return {
    // If there is no outcome of it, the finding says why the server was not reached.
    status: outcome.length > 0 ? (findings[0]?.status ?? 'error') : 'error',
    metric_line: findings[0]?.metric_line ?? '',
    values: rows.map(({ object, value }) => ({
      object: typeof object === 'string' ? object : null,
      value: Number(value),
    })),
    faults: outcome.length > 0 ? findings.filter(({ status, severity }) => status === severity).length : 0,
    cost: measured.cost,
  };
}
