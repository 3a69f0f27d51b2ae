import { backupChecks } from '../../checks/backups/backup-checks.ts';
import { catalogues, titleOf } from '../../checks/catalogue.ts';
import { notFound } from '../../platform/rejection.ts';
import type { Read } from '../../store/read.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { requireSettingsOf } from '../connection-settings.ts';
import { changedThresholds, type ThresholdChanges } from '../connection-thresholds.ts';
import { requireThresholdChanges } from './change-overrides.ts';
import { defaultsOf, effectiveThresholds, factsOf, type Override } from './effective-thresholds.ts';
import { type ChangedFinding, judgeAgain, type LastFinding, type LastValue } from './judge-again.ts';
import { listOverrides, listThresholdConnections, type ThresholdConnection } from './list-overrides.ts';

/** The connections whose thresholds change: those with a tag ('' = all of the account), or some by themselves. */
export type ThresholdScope = { tag: string } | { connectionIds: readonly number[] };

/** A finding that a change of thresholds would add, remove or change in the last run of a connection. */
interface PreviewedFinding extends ChangedFinding {
  connection_id: number;
  connection_name: string;
  title: string;
}

/** What a change of thresholds would have changed in the last runs. */
export interface ThresholdPreview {
  /** Connections for which a value changes. */
  connections: number;
  /** Connections in the scope for which none does: a more specific threshold holds, or it is the same. */
  unchanged: number;
  /** Of the former, how many were looked at: the first ones. */
  looked_at: number;
  /** Connections whose last run did not measure a check in question, or that have no run. */
  not_measured: number;
  appear: number;
  vanish: number;
  graver: number;
  milder: number;
  /** The first ones; those that appear come first, then by severity. */
  findings: PreviewedFinding[];
  /** Thresholds of which a run keeps no value to compare with, such as `PG_DEAD_TUPLES.minimum_rows`. */
  unknown: string[];
  /** Checks that may find more: a run keeps only the worst values. */
  may_have_more: string[];
}

/** The most connections of a preview times the checks that it names: of each, findings and values are read. */
const PREVIEWED = 1_000;
/** The most findings listed. */
const LISTED = 200;

const latest = `
    from unnest($2::bigint[]) w (id)
    join connection c on c.account_id = $1 and c.connection_id = w.id
    join health_check h on h.account_id = $1 and h.health_check_id = c.latest_check_id`;

const selectFindings = `
  select c.connection_id, f ->> 'check_id' as check_id, f ->> 'database' as database, f ->> 'object' as object,
         f ->> 'status' as status, f -> 'measured' as measured
  ${latest}
   cross join lateral jsonb_array_elements(h.findings) f
   where f ->> 'check_id' = any($3)`;

// Values of an earlier run, because the last one reached no server, are not the last run's.
const selectValues = `
  select c.connection_id, s.check_id, s.metric, s.database, s.object, v.value, v.operator, v.warning, v.critical
  ${latest}
    join measure_latest l on l.account_id = $1 and l.connection_id = w.id and l.measured_at = h.created_at
   cross join lateral unnest(l.series_ids, l.values, l.operators, l.warnings, l.criticals)
           as v (series_id, value, operator, warning, critical)
    join measure_series s on s.account_id = $1 and s.connection_id = w.id and s.series_id = v.series_id
   where s.check_id = any($3) and v.operator is not null`;

const selectSilences = `
  select s.connection_id, s.check_id, s.object
    from silence s
   where s.account_id = $1 and s.connection_id = any($2::bigint[]) and s.check_id = any($3)
     and (s.ends_at is null or s.ends_at > now())`;

interface Silenced {
  connection_id: number;
  check_id: string;
  object: string | null;
}

type OfConnection<Row> = Row & { connection_id: number };

/**
 * What a change of thresholds would have changed in the last run of each connection. It reads and changes nothing.
 * Throws a `Rejection` for wrong changes, or if there is no such connection.
 */
export async function previewThresholds(
  read: Read,
  accountId: number,
  scope: ThresholdScope,
  changes: ThresholdChanges,
): Promise<ThresholdPreview> {
  requireThresholdChanges(changes);
  const [connections, overrides] = await Promise.all([
    listThresholdConnections(read, accountId),
    listOverrides(read, accountId),
  ]);
  const inScope = connectionsIn(connections, scope, changes);
  // Those of other checks change nothing, and there can be thousands for each of ten thousand connections.
  const named = overrides.filter(({ check_id }) => changes[check_id] !== undefined);
  const changedOverrides = 'tag' in scope ? overridesAfter(named, scope.tag, changes) : named;
  const affected = inScope.flatMap((connection) => {
    const checks = changedChecks(connection, scope, changes, named, changedOverrides);
    return checks.length === 0 ? [] : [{ connection, checks }];
  });
  const looked = affected.slice(0, Math.ceil(PREVIEWED / Object.keys(changes).length));
  const ids = looked.map(({ connection }) => connection.id);
  const last = await readLastRuns(read, [accountId, ids, Object.keys(changes)]);
  const found: Found = {
    changed: [],
    unknown: new Set(),
    mayHaveMore: new Set(),
    notMeasured: new Set(),
  };
  for (const { connection, checks } of looked)
    for (const check of checks) previewCheck(connection, check, last, found);
  return summaryOf(found, { inScope: inScope.length, affected: affected.length, looked: looked.length });
}

/** A check with a threshold that changes: the names that do, and all values after the change. */
interface ChangedCheck {
  id: string;
  names: string[];
  values: Record<string, number>;
}

/** The checks of a connection whose thresholds a change would alter. */
function changedChecks(
  connection: ThresholdConnection,
  scope: ThresholdScope,
  changes: ThresholdChanges,
  overrides: readonly Override[],
  changedOverrides: readonly Override[],
): ChangedCheck[] {
  const own = 'tag' in scope ? connection.thresholds : changedThresholds(connection.thresholds, changes);
  const before = effectiveThresholds(connection.thresholds, connection.tags, overrides);
  const after = effectiveThresholds(own, connection.tags, changedOverrides);
  return Object.entries(changes).flatMap(([id, named]) => {
    const value = (of: typeof before, name: string) => of.get(id)?.get(name)?.value ?? defaultsOf(id)[name];
    const names = Object.keys(named).filter((name) => value(before, name) !== value(after, name));
    const values = Object.fromEntries(
      Object.entries(defaultsOf(id)).map(([name, standard]) => [name, value(after, name) ?? standard]),
    );
    return names.length === 0 || !hasCheck(connection.engine, id) ? [] : [{ id, names, values }];
  });
}

/** What the last runs found, by connection and check ({@link keyOf}). */
interface LastRuns {
  findings: ReadonlyMap<string, readonly LastFinding[]>;
  values: ReadonlyMap<string, readonly LastValue[]>;
  silences: ReadonlyMap<string, readonly Silenced[]>;
}

const keyOf = (connectionId: number, checkId: string) => `${connectionId} ${checkId}`;

/** `values`: the account, its connections, the checks. */
async function readLastRuns(
  read: Read,
  values: [accountId: number, ids: number[], checkIds: string[]],
): Promise<LastRuns> {
  const [, ids] = values;
  if (ids.length === 0) return { findings: new Map(), values: new Map(), silences: new Map() };
  const [findings, lastValues, silences] = await Promise.all([
    read<OfConnection<LastFinding>>(selectFindings, values),
    read<OfConnection<LastValue>>(selectValues, values),
    read<Silenced>(selectSilences, values),
  ]);
  const grouped = <Row extends { connection_id: number; check_id: string }>(rows: readonly Row[]) =>
    Map.groupBy(rows, ({ connection_id, check_id }) => keyOf(connection_id, check_id));
  return { findings: grouped(findings), values: grouped(lastValues), silences: grouped(silences) };
}

/** What the previews of all checks add up to. */
interface Found {
  changed: PreviewedFinding[];
  unknown: Set<string>;
  mayHaveMore: Set<string>;
  notMeasured: Set<number>;
}

/** Adds what the change would have changed in the last run of a connection, for one check. */
function previewCheck(
  { id: connection_id, name: connection_name }: ThresholdConnection,
  { id, names, values }: ChangedCheck,
  last: LastRuns,
  found: Found,
): void {
  const key = keyOf(connection_id, id);
  const findings = last.findings.get(key) ?? [];
  if (!findings.some(isMeasured)) {
    found.notMeasured.add(connection_id);
    return;
  }
  for (const name of names) if (!factsOf(id, name)?.level) found.unknown.add(`${id}.${name}`);
  // Without a change of a level, its findings stay as they are.
  if (!names.some((name) => factsOf(id, name)?.level)) return;
  const levels = Object.keys(values).flatMap((name) => factsOf(id, name)?.level ?? []);
  const again = judgeAgain(id, { levels, values }, findings, last.values.get(key) ?? []);
  if (again.may_have_more) found.mayHaveMore.add(id);
  const silences = last.silences.get(key) ?? [];
  for (const one of again.changed) {
    const isSilenced = silences.some(({ object }) => object === null || object === one.object);
    if (one.before === null && isSilenced) continue;
    found.changed.push({ connection_id, connection_name, title: titleOf(id) ?? id, ...one });
  }
}

/** The preview from how many connections are in the scope, affected and looked at. */
function summaryOf(
  { changed, unknown, mayHaveMore, notMeasured }: Found,
  { inScope, affected, looked }: { inScope: number; affected: number; looked: number },
): ThresholdPreview {
  return {
    connections: affected,
    unchanged: inScope - affected,
    looked_at: looked,
    not_measured: notMeasured.size,
    ...countsOf(changed),
    findings: changed.sort(byImportance).slice(0, LISTED),
    unknown: [...unknown].sort(),
    may_have_more: [...mayHaveMore].sort(),
  };
}

function connectionsIn(
  connections: readonly ThresholdConnection[],
  scope: ThresholdScope,
  changes: ThresholdChanges,
): ThresholdConnection[] {
  if ('tag' in scope) return connections.filter(({ tags }) => scope.tag === '' || tags.includes(scope.tag));
  const known = new Map(connections.map((connection) => [connection.id, connection]));
  return scope.connectionIds.map((id) => {
    const connection = known.get(id);
    if (!connection) throw notFound('connection', id);
    requireSettingsOf(connection.engine, { thresholds: changes });
    return connection;
  });
}

function overridesAfter(overrides: readonly Override[], tag: string, changes: ThresholdChanges): Override[] {
  const kept = overrides.filter((one) => one.tag !== tag || changes[one.check_id]?.[one.name] === undefined);
  const set = Object.entries(changes).flatMap(([check_id, named]) =>
    Object.entries(named).flatMap(([name, value]) =>
      value === null ? [] : [{ tag, check_id, name, value }],
    ),
  );
  return [...kept, ...set];
}

function hasCheck(engine: ThresholdConnection['engine'], id: string): boolean {
  return [...catalogues[engine].checks, ...backupChecks].some((check) => check.id === id);
}

/** A silenced fault is listed as skipped, with its number. */
function isMeasured({ status, measured }: LastFinding): boolean {
  return (status !== 'skipped' && status !== 'error') || (measured ?? null) !== null;
}

function rank(severity: PreviewedFinding['after']): number {
  return severity === null ? SEVERITIES.length : SEVERITIES.indexOf(severity);
}

function countsOf(changed: readonly PreviewedFinding[]) {
  const count = (is: (one: PreviewedFinding) => boolean) => changed.filter(is).length;
  const both = (one: PreviewedFinding) => one.before !== null && one.after !== null;
  return {
    appear: count(({ before }) => before === null),
    vanish: count(({ after }) => after === null),
    graver: count((one) => both(one) && rank(one.after) < rank(one.before)),
    milder: count((one) => both(one) && rank(one.after) > rank(one.before)),
  };
}

function byImportance(one: PreviewedFinding, other: PreviewedFinding): number {
  const appears = Number(one.before !== null) - Number(other.before !== null);
  return appears || rank(one.after) - rank(other.after) || one.connection_id - other.connection_id;
}
