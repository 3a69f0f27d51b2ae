import type { Check, ServerFacts, Thresholds } from '../check.ts';
import { FAULT_LIMIT, TABLE_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { groupBySchema, type SchemaNote } from '../group-by-schema.ts';
import { adviceItems, applyPlan, type IndexAdvice } from '../index-plan.ts';
import type { Measure } from '../measure.ts';
import { grouped } from '../wording.ts';
import { countOf, faultMeasure, worstOf } from '../worst-measures.ts';
import { countedSince, PROMOTION, SEES_PROMOTION } from './counted-since.ts';

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
  /** The fault of a candidate, or null. `metricLine` omits the database's name. */
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
  /** It judges what the server has not counted: a standby counts only what it does itself, so a promotion begins anew. */
  countsAsPrimary?: true;
  /** The most rows to read, if not {@link FAULT_LIMIT} and one more. */
  rowLimit?: number;
  /** What the finding about a row does to indexes. */
  indexAdvice?: (row: Row) => IndexAdvice | null;
  passMessage: string;
  /** Why the check can't run on this server; undefined if it can. */
  blind?: (server: RelationServer, facts: ServerFacts<T>) => string | undefined;
}

/** What the statement reads about the server itself. */
interface RelationServer {
  standby: boolean;
  trackCounts: boolean;
  /** The age of the statistics: since their reset or loss, the server's start, or its promotion if the check reads that. */
  countedSeconds: number;
}

// A statement of its own: a session does not send the same one twice, so all these checks count the tables once. Indexes,
// sequences and TOAST tables do not count: a table may have a dozen of them.
const serverRow = `
  select (select count(*)
            from pg_class
           where relkind in ('r', 'p', 'm')
             and relpersistence <> 't'
             and relnamespace in (select oid from pg_namespace
                                   where nspname !~ '^pg_' and nspname <> 'information_schema'))::float8 as tables,
         pg_is_in_recovery() as standby,
         ${SEES_PROMOTION} as sees_promotion,
         current_setting('track_counts')::bool as track_counts,
         (select extract(epoch from now() - ${countedSince('stats_reset')})::float8
            from pg_stat_database where datname = current_database()) as counted_seconds`;

/** A check with a finding for each faulty object of a database: bounded, and never `ok` about what it can't see. */
export function relationCheck<T extends Thresholds>({
  candidates,
  fault,
  countMetric,
  measure,
  sorted,
  perSchema,
  withoutTables,
  countsAsPrimary,
  rowLimit = FAULT_LIMIT + 1,
  indexAdvice,
  passMessage,
  blind,
  ...check
}: RelationCheck<T>): Check<T> {
  return {
    cost: 1,
    ...check,
    volatile: false,
    scope: 'database',
    sql: () => serverRow,
    steps: ({ version, thresholds }) => [
      (rows) =>
        tablesIn(rows) > TABLE_LIMIT || (tablesIn(rows) === 0 && !withoutTables)
          ? undefined
          : foundRows(candidates(version, thresholds), rowLimit),
      (rows) => (countsAsPrimary && onlyRow(rows)['sees_promotion'] === true ? PROMOTION : undefined),
    ],
    judge: (rows, facts) => {
      const first = onlyRow(rows);
      const tables = tablesIn(rows);
      if (tables > TABLE_LIMIT) {
        const reason = `Not measured: ${grouped(tables)} tables, more than ${grouped(TABLE_LIMIT)}.`;
        return { skipped: inDatabase(facts, reason), skippedForSize: true };
      }
      const server = {
        standby: first['standby'] === true,
        trackCounts: first['track_counts'] === true,
        countedSeconds: Math.min(numberIn(first, 'counted_seconds'), secondsAsPrimary(rows)),
      };
      const reason = blind?.(server, facts);
      if (reason !== undefined) return { skipped: inDatabase(facts, reason) };

      const found = rows.filter((row) => row['found'] === true);
      const [unseen] = found.filter((row) => row['unseen'] !== null);
      const grants = found.flatMap(({ needs }) => (typeof needs === 'string' ? needs : []));
      const grant = grants[0] === undefined ? {} : { grant: grants[0] };
      const planned = applyPlan(found, facts.indexPlan);
      const leftOut = found.length - planned.length;
      const judged = planned
        .filter((row) => row['unseen'] === null)
        .map((row) => ({ row, fault: fault(row, facts, server), measure: measure?.(row, facts) ?? null }));
      const all = judged.flatMap(({ row, fault, measure }) => {
        if (!fault) return [];
        const whole = { ...fault, ...(measure && { measured: faultMeasure(measure) }) };
        return [{ schema: perSchema ? textIn(row, 'schema_name') : '', fault: whole }];
      });
      const last = found.at(-1);
      const isPast =
        typeof sorted === 'function' ? last && sorted(last, facts) : all.length + leftOut < found.length;
      const cut = found.length >= rowLimit && !(sorted && isPast);
      const listed = all.slice(0, FAULT_LIMIT);
      const said = perSchema
        ? groupBySchema(listed, perSchema, { metric: countMetric, cut })
        : listed.map(({ fault }) => fault);
      const faults = said.map((each) => ({ ...each, metricLine: inDatabase(facts, each.metricLine) }));
      const skippedForSize = found.some((row) => row['skipped_for_size'] === true) && {
        skippedForSize: true as const,
      };
      if (faults.length === 0 && unseen !== undefined)
        return { skipped: inDatabase(facts, textIn(unseen, 'unseen')), ...grant, ...skippedForSize };
      return {
        faults,
        passMessage,
        measures: [
          countOf(
            countMetric,
            found[0]?.['total'] === undefined ? all.length : numberIn(found[0], 'total') - leftOut,
          ),
          ...worstOf(judged.flatMap(({ measure }) => measure ?? [])),
        ],
        truncated: cut || all.length > FAULT_LIMIT || unseen !== undefined,
        ...(indexAdvice && { indexAdvice: adviceItems(judged, indexAdvice) }),
        ...grant,
        ...skippedForSize,
      };
    },
  };
}

const foundRows = (candidates: string, limit: number) => `
  select true as found, candidate.*
    from (${candidates}
         ) candidate
   limit ${limit}`;

/** How long the server has been a primary, as {@link PROMOTION} says. */
function secondsAsPrimary(rows: readonly Row[]): number {
  const seconds = rows.find(({ promoted_seconds }) => typeof promoted_seconds === 'number');
  return seconds ? numberIn(seconds, 'promoted_seconds') : Number.POSITIVE_INFINITY;
}

function tablesIn(rows: readonly Row[]): number {
  return numberIn(onlyRow(rows), 'tables');
}

function inDatabase({ database }: Pick<ServerFacts, 'database'>, line: string): string {
  return `Database ${database}: ${line}`;
}
