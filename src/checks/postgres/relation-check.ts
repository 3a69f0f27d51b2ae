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
  /** It leaves out small objects: as long as the server does not know most sizes, it may leave out others too, and is not `ok`. */
  bySize?: true;
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
  /** It does not know the sizes of most tables and indexes. */
  unsized: boolean;
}

// A statement of its own: a session does not send the same one twice, so all these checks count the tables once. Indexes,
// sequences and TOAST tables do not count: a table may have a dozen of them. After pg_upgrade (before 18) and a restore, no table has a
// size until it is analyzed; nor has one that was just made, so the files decide, which are looked at only then.
const serverRow = `
  select t.tables::float8 as tables,
         coalesce(case when t.unknown > 0 and t.unknown * 2 >= t.with_rows
                       then pg_database_size(current_database())
                            > 32 * 1024 * 1024 + 2 * current_setting('block_size')::bigint
                              * (select coalesce(sum(relpages), 0)::bigint from pg_class where oid >= 16384) end, false) as unsized,
         pg_is_in_recovery() as standby,
         ${SEES_PROMOTION} as sees_promotion,
         current_setting('track_counts')::bool as track_counts,
         (select extract(epoch from now() - ${countedSince('stats_reset')})::float8
            from pg_stat_database where datname = current_database()) as counted_seconds
    from (select count(*) as tables,
                 count(*) filter (where relkind <> 'p') as with_rows,
                 count(*) filter (where relkind <> 'p' and reltuples < 0) as unknown
            from pg_class
           where relkind in ('r', 'p', 'm')
             and relpersistence <> 't'
             and relnamespace in (select oid from pg_namespace
                                   where nspname !~ '^pg_' and nspname <> 'information_schema')) t`;

const UNSIZED =
  'Not measured: the server does not know the sizes of most tables, as after a major upgrade or a restore. Run ANALYZE;';

/** A check with a finding for each faulty object of a database: bounded, and never `ok` about what it can't see. */
export function relationCheck<T extends Thresholds>({
  candidates,
  fault,
  countMetric,
  measure,
  sorted,
  perSchema,
  withoutTables,
  bySize,
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
        unsized: first['unsized'] === true,
      };
      const reason = blind?.(server, facts);
      if (reason !== undefined) return { skipped: inDatabase(facts, reason) };

      const found = rows.filter((row) => row['found'] === true);
      const unseen = whyUnseen(found, bySize === true && server.unsized);
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
      const skippedForSize = wasCutForSize(found);
      if (faults.length === 0 && unseen !== undefined)
        return { skipped: inDatabase(facts, unseen), ...grant, ...skippedForSize };
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

/** Why some objects could not be judged; undefined if all were. */
function whyUnseen(found: readonly Row[], isUnsized: boolean): string | undefined {
  const hidden = found.find((row) => row['unseen'] !== null);
  if (hidden) return textIn(hidden, 'unseen');
  return isUnsized ? UNSIZED : undefined;
}

function wasCutForSize(found: readonly Row[]): { skippedForSize: true } | false {
  return found.some((row) => row['skipped_for_size'] === true) && { skippedForSize: true };
}

function tablesIn(rows: readonly Row[]): number {
  return numberIn(onlyRow(rows), 'tables');
}

function inDatabase({ database }: Pick<ServerFacts, 'database'>, line: string): string {
  return `Database ${database}: ${line}`;
}
