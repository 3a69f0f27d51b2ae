import type { Check, Judgement, ServerFacts, Skipped, Thresholds } from '../check.ts';
import { FAULT_LIMIT, TABLE_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { groupBySchema, type SchemaNote } from '../group-by-schema.ts';
import { adviceItems, applyPlan, type IndexAdvice } from '../index-plan.ts';
import type { Measure } from '../measure.ts';
import { grouped } from '../wording.ts';
import { countOf, faultMeasure, worstOf } from '../worst-measures.ts';
import { PROMOTION } from './counted-since.ts';
import { type KINDS, type RelationServer, serverIn, serverRow, tablesIn } from './relation-server.ts';

/** The most candidates that are read: one more than are listed. */
const ROW_LIMIT = FAULT_LIMIT + 1;

/** What differs between the checks of every relation of a database. */
interface RelationCheck<T extends Thresholds>
  extends Pick<
    Check<T>,
    | 'id'
    | 'title'
    | 'category'
    | 'maxSeverity'
    | 'thresholds'
    | 'comparesRuns'
    | 'keeps'
    | 'grantReadsRows'
    | 'cost'
  > {
  /**
   * One row per object that may have a fault, worst first, with no limit under `rowLimit`. The column `unseen` is null,
   * or says why the object can't be judged: then the check is never `ok`. The column `needs` may hold the GRANT that
   * would help, and `skipped_for_size` that there are too many objects.
   * Where every row is a fault, the column `total` may count them: at their own level, so that PostgreSQL still
   * computes the other columns only for the rows within the limit.
   */
  candidates: (version: number, thresholds: T) => string;
  /** All candidates are among these: where there are none, the statement is not planned. */
  among?: keyof typeof KINDS;
  /** What only some candidates need, so that a database without them does not pay for its plan, which costs more than its rows. */
  details?: Details<T>;
  /** The fault of a candidate, or null. `metricLine` omits the database's name; `detail` is empty if it needs none. */
  fault: (row: Row, facts: ServerFacts<T>, server: RelationServer) => Fault | null;
  /** The metric of how many objects have a fault, such as `duplicate_indexes_count`. */
  countMetric: string;
  /** The number of a candidate that `fault` compares, if it compares one; null if it says nothing, as for a tiny table. */
  measure?: (row: Row, facts: ServerFacts<T>) => Measure | null;
  /**
   * Candidates are sorted by what `fault` compares: after one without a fault, none has one. A function says it of
   * a candidate where `fault` compares more than that.
   */
  sorted?: true | ((row: Row, facts: ServerFacts<T>) => boolean);
  /** If a schema may have many notes of this check: how to say them as one. The rows need the column `schema_name`. */
  perSchema?: SchemaNote;
  /** It also judges what exists in a database without tables, such as functions. Others don't read such a database. */
  withoutTables?: true;
  /** It leaves out small objects: as long as the server does not know most sizes, it may leave out others too, and is not `ok`. */
  bySize?: true;
  /** It judges what the server has not counted: a standby counts only what it does itself, so a promotion begins anew. */
  countsAsPrimary?: true;
  /** The most rows to read, if not {@link ROW_LIMIT}. */
  rowLimit?: number;
  /** What the finding about a row does to indexes. */
  indexAdvice?: (row: Row) => IndexAdvice | null;
  passMessage: string;
  /** Why the check can't run on this server; undefined if it can. */
  blind?: (server: RelationServer, facts: ServerFacts<T>) => string | undefined;
}

/** More columns of candidates, which then need the column `oid`. */
interface Details<T extends Thresholds> {
  /** Which candidates need them; absent = all. */
  of?: (row: Row, thresholds: T) => boolean;
  /** `objects` stands in FROM and has the column `oid`. One row for each, with that column. */
  sql: (objects: string, version: number) => string;
}

const UNSIZED =
  'Not measured: the server does not know the sizes of most tables, as after a major upgrade or a restore. Run ANALYZE;';

/** A check with a finding for each faulty object of a database: bounded, and never `ok` about what it can't see. */
export function relationCheck<T extends Thresholds>(relation: RelationCheck<T>): Check<T> {
  const { id, title, category, maxSeverity, thresholds, comparesRuns, keeps, grantReadsRows, cost } =
    relation;
  const { candidates, among, details, withoutTables, countsAsPrimary, rowLimit = ROW_LIMIT } = relation;
  return {
    id,
    title,
    category,
    maxSeverity,
    ...(thresholds && { thresholds }),
    ...(comparesRuns && { comparesRuns }),
    ...(keeps && { keeps }),
    ...(grantReadsRows && { grantReadsRows }),
    cost: cost ?? 1,
    volatile: false,
    scope: 'database',
    sql: () => serverRow,
    steps: (facts) => [
      (rows) =>
        tablesIn(rows) > TABLE_LIMIT || (tablesIn(rows) === 0 && !withoutTables) || hasNoneOf(rows, among)
          ? undefined
          : foundRows(candidates(facts.version, facts.thresholds), rowLimit),
      (rows) => (countsAsPrimary && onlyRow(rows)['sees_promotion'] === true ? PROMOTION : undefined),
      (rows) => details && detailStatement(rows, details, facts),
    ],
    judge: (rows, facts) => judgeRelations(relation, rows, facts),
  };
}

/** A candidate that was seen, with what it is judged to be. */
interface JudgedRow {
  row: Row;
  fault: Fault | null;
  measure: Measure | null;
}

function judgeRelations<T extends Thresholds>(
  relation: RelationCheck<T>,
  rows: readonly Row[],
  facts: ServerFacts<T>,
): Judgement {
  const server = readServer(relation, rows, facts);
  if ('skipped' in server) return server;
  const { countMetric, passMessage, measure, indexAdvice } = relation;
  const details = new Map(rows.filter((row) => row['detailed'] === true).map((row) => [row['oid'], row]));
  const whole = (row: Row) => ({ ...row, ...details.get(row['oid']) });
  const hasGone = (row: Row) =>
    needsDetails(row, relation.details, facts.thresholds) && !details.has(row['oid']);
  const found = rows.filter((row) => row['found'] === true && !hasGone(row));
  const mayMiss = relation.bySize === true && server.unsized && !hasNoneOf(rows, relation.among);
  const unseen = whyUnseen(found, mayMiss);
  const grants = found.flatMap(({ needs }) => (typeof needs === 'string' ? needs : []));
  const limits = {
    ...(grants[0] !== undefined && { grant: grants[0] }),
    ...(found.some((row) => row['skipped_for_size'] === true) && { skippedForSize: true as const }),
  };
  const planned = applyPlan(found, facts.indexPlan);
  const judged = planned
    .filter((row) => row['unseen'] === null)
    .map((row) => ({
      row,
      fault: relation.fault(whole(row), facts, server),
      measure: measure?.(row, facts) ?? null,
    }));
  const leftOut = found.length - planned.length;
  const { faults, count, truncated } = listFaults(relation, judged, { found, leftOut }, facts);
  if (faults.length === 0 && unseen !== undefined) return { skipped: inDatabase(facts, unseen), ...limits };
  return {
    faults,
    passMessage,
    measures: [countOf(countMetric, count), ...worstOf(judged.flatMap((each) => each.measure ?? []))],
    truncated: truncated || unseen !== undefined,
    ...(indexAdvice && { indexAdvice: adviceItems(judged, (row) => indexAdvice(whole(row))) }),
    ...limits,
  };
}

/** What the server says of itself, or why it can't be judged. */
function readServer<T extends Thresholds>(
  { blind }: RelationCheck<T>,
  rows: readonly Row[],
  facts: ServerFacts<T>,
): RelationServer | Skipped {
  const tables = tablesIn(rows);
  if (tables > TABLE_LIMIT) {
    const reason = `Not measured: ${grouped(tables)} tables, more than ${grouped(TABLE_LIMIT)}.`;
    return { skipped: inDatabase(facts, reason), skippedForSize: true };
  }
  const server = serverIn(rows);
  const reason = blind?.(server, facts);
  return reason === undefined ? server : { skipped: inDatabase(facts, reason) };
}

/** The faults to list, how many there are, and whether there may be more. `leftOut`: candidates that another finding deals with. */
function listFaults<T extends Thresholds>(
  { countMetric, sorted, perSchema, rowLimit = ROW_LIMIT }: RelationCheck<T>,
  judged: readonly JudgedRow[],
  { found, leftOut }: { found: readonly Row[]; leftOut: number },
  facts: ServerFacts<T>,
): { faults: Fault[]; count: number; truncated: boolean } {
  const all = judged.flatMap(({ row, fault, measure }) => {
    if (!fault) return [];
    const whole = { ...fault, ...(measure && { measured: faultMeasure(measure) }) };
    return [{ schema: perSchema ? textIn(row, 'schema_name') : '', fault: whole }];
  });
  const [first, last] = [found[0], found.at(-1)];
  const isPast =
    typeof sorted === 'function' ? last && sorted(last, facts) : all.length + leftOut < found.length;
  const cut = found.length >= rowLimit && !(sorted && isPast);
  const listed = all.slice(0, FAULT_LIMIT);
  const said = perSchema
    ? groupBySchema(listed, perSchema, { metric: countMetric, cut })
    : listed.map(({ fault }) => fault);
  return {
    faults: said.map((each) => ({ ...each, metricLine: inDatabase(facts, each.metricLine) })),
    count: first?.['total'] === undefined ? all.length : numberIn(first, 'total') - leftOut,
    truncated: cut || all.length > FAULT_LIMIT,
  };
}

const foundRows = (candidates: string, limit: number) => `
  select true as found, candidate.*
    from (${candidates}
         ) candidate
   limit ${limit}`;

/** The statement for the details of the candidates that need them; undefined if none does. */
function detailStatement<T extends Thresholds>(
  rows: readonly Row[],
  details: Details<T>,
  { version, thresholds }: { version: number; thresholds: T },
): string | undefined {
  const oids = rows
    .filter((row) => row['found'] === true && needsDetails(row, details, thresholds))
    .map((row) => numberIn(row, 'oid'));
  if (oids.length === 0) return undefined;
  return `
  select true as detailed, detail.*
    from (${details.sql(`unnest('{${oids}}'::oid[]) as object (oid)`, version)}
         ) detail`;
}

function needsDetails<T extends Thresholds>(
  row: Row,
  details: Details<T> | undefined,
  thresholds: T,
): boolean {
  return details !== undefined && row['unseen'] === null && (details.of?.(row, thresholds) ?? true);
}

function hasNoneOf(rows: readonly Row[], kind: keyof typeof KINDS | undefined): boolean {
  return kind !== undefined && onlyRow(rows)[kind] === false;
}

/** Why some objects could not be judged; undefined if all were. `mayMiss`: others may not be among those that were found. */
function whyUnseen(found: readonly Row[], mayMiss: boolean): string | undefined {
  const hidden = found.find((row) => row['unseen'] !== null);
  if (hidden) return textIn(hidden, 'unseen');
  return mayMiss ? UNSIZED : undefined;
}

function inDatabase({ database }: Pick<ServerFacts, 'database'>, line: string): string {
  return `Database ${database}: ${line}`;
}
