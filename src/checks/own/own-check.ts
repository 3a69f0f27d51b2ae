import type { SqlEngine } from '../../vocabulary/engines.ts';
import type { Check, Judgement, ServerFacts } from '../check.ts';
import type { Fault, Row } from '../fault.ts';
import type { Measure, Operator } from '../measure.ts';
import { duration, grouped, percent, rate, size } from '../wording.ts';
import { crosses, faultMeasure, worstOf } from '../worst-measures.ts';

/** The units of an own check's value, as the last word of its metric. */
export const OWN_UNITS = ['ratio', 'bytes', 'seconds', 'count', 'per_second'] as const;

type OwnUnit = (typeof OWN_UNITS)[number];

/** How an own check compares its value. */
export const OWN_OPERATORS = ['>=', '<='] as const satisfies Operator[];

/** A check that a member wrote: a statement, and what its numbers mean. */
export interface OwnCheck {
  /** As a member writes it, such as `ORDERS_STUCK`. Findings have {@link findingId}. */
  id: string;
  title: string;
  engine: SqlEngine;
  /** Null = the database of the connection. */
  database: string | null;
  /** One SELECT. */
  sql: string;
  unit: OwnUnit;
  operator: Operator;
  /** Null = no such level. At least one of the two is set. */
  warning: number | null;
  critical: number | null;
  /** What to do, in the member's words. Nothing ever runs it. */
  remediation: string;
  /** Its statement runs at most so often, in seconds. Null = in each run. */
  every: number | null;
  /** After so many seconds the server cancels the statement. */
  timeout: number;
  /** It runs on the connections of its engine that have all of these. */
  tags: readonly string[];
}

const PREFIX = 'OWN_';

/** The id of an own check in findings: `OWN_ORDERS_STUCK`. */
export function findingId(id: string): string {
  return `${PREFIX}${id}`;
}

/** Whether findings of this check are of an own check. */
export function isOwnCheckId(checkId: string): boolean {
  return checkId.startsWith(PREFIX);
}

/** The metric of an own check: `orders_stuck_count`. */
function ownMetric({ id, unit }: Pick<OwnCheck, 'id' | 'unit'>): string {
  return `${id.toLowerCase()}_${unit}`;
}

/** The metrics that the own check of these findings may have: its unit is not known here. */
export function ownMetrics(checkId: string): string[] {
  return OWN_UNITS.map((unit) => ownMetric({ id: checkId.slice(PREFIX.length), unit }));
}

/** An own check as a check of a run. Its rows are those that `readRows` of own-rows.ts makes. */
export function toCheck(own: OwnCheck): Check {
  const { id, title, warning, critical } = own;
  return {
    id: findingId(id),
    title,
    category: 'own',
    maxSeverity: critical === null ? 'warning' : 'critical',
    volatile: false,
    scope: 'server',
    sql: () => own.sql,
    thresholds: { ...(warning !== null && { warning }), ...(critical !== null && { critical }) },
    judge: (rows, facts) => judge(own, rows, facts),
  };
}

function judge(own: OwnCheck, rows: Row[], { thresholds }: ServerFacts): Judgement {
  const measures = rows.map(
    (row): Measure => ({
      metric: ownMetric(own),
      object: typeof row['object'] === 'string' ? row['object'] : null,
      value: Number(row['value']),
      operator: own.operator,
      warning: thresholds['warning'] ?? null,
      critical: thresholds['critical'] ?? null,
      // A forecast says when it reaches its last level.
      ...(own.operator === '>=' && {
        grows: true as const,
        limit: thresholds['critical'] ?? thresholds['warning'] ?? null,
      }),
    }),
  );
  const worst = worstOf(measures);
  const shown = worst[0];
  return {
    faults: measures.flatMap((measure) => toFault(own, measure) ?? []),
    passMessage:
      shown === undefined ? 'The statement gave no rows.' : `${describe(own, shown)}${levels(own, shown)}.`,
    measures: worst,
  };
}

function toFault(own: OwnCheck, measure: Measure): Fault | null {
  const isCritical = crosses(measure, measure.critical);
  if (!isCritical && !crosses(measure, measure.warning)) return null;
  return {
    severity: isCritical ? 'critical' : 'warning',
    object: measure.object,
    metricLine: `${describe(own, measure)}${levels(own, measure)}.`,
    remediation: own.remediation,
    measured: faultMeasure(measure),
  };
}

function describe({ unit }: OwnCheck, { object, value }: Measure): string {
  return `${object === null ? '' : `${object}: `}${inUnit(unit, value)}`;
}

function levels({ unit, operator }: OwnCheck, { warning, critical }: Measure): string {
  const word = operator === '>=' ? 'from' : 'down from';
  const named = Object.entries({ warning, critical }).flatMap(([name, threshold]) =>
    threshold === null ? [] : `${name} ${word} ${inUnit(unit, threshold)}`,
  );
  return named.length === 0 ? '' : ` (${named.join(', ')})`;
}

function inUnit(unit: OwnUnit, value: number): string {
  if (unit === 'count') return Number.isInteger(value) ? grouped(value) : String(value);
  // The texts of the other units are for values from 0 on.
  if (value < 0) return `${value} ${unit.replace('_', ' ')}`;
  switch (unit) {
    case 'ratio':
      return percent(value);
    case 'bytes':
      return size(value);
    case 'seconds':
      return duration(value);
    case 'per_second':
      return rate(value);
  }
}
