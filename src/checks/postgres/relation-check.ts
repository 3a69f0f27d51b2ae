import type { Check, Fault, Row, ServerFacts, Thresholds } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Measure } from '../measure.ts';
import { grouped } from '../wording.ts';
import { countOf, faultMeasure, worstOf } from '../worst-measures.ts';

/** A check of every relation of a database is skipped if there are more: it would take too long. */
const RELATION_LIMIT = 20_000;

/** What differs between the checks of every relation of a database. */
interface RelationCheck<T extends Thresholds>
  extends Pick<
    Check<T>,
    'id' | 'title' | 'category' | 'maxSeverity' | 'thresholds' | 'comparesRuns' | 'grantReadsRows'
  > {
  /**
   * One row per object that may have a fault, worst first, without a limit. The column `unseen` is null, or says why
   * the object can't be judged: then the check is never `ok`. The column `needs` may hold the GRANT that would help.
   * Where every row is a fault, the column `total` may count them: at their own level, so that PostgreSQL still
   * computes the other columns only for the rows within the limit.
   */
  candidates: (version: number) => string;
  /** The fault of a candidate, or null. `metricLine` omits the database's name. */
  fault: (row: Row, facts: ServerFacts<T>) => Fault | null;
  /** The metric of how many objects have a fault, such as `duplicate_indexes_count`. */
  countMetric: string;
  /** The number of a candidate that `fault` compares, if it compares one; null if it says nothing, as for a tiny table. */
  measure?: (row: Row, facts: ServerFacts<T>) => Measure | null;
  /** Candidates are sorted by what `fault` compares: after one without a fault, none has one. */
  sorted?: true;
  /** The most rows to read, if not {@link FAULT_LIMIT} and one more. */
  rowLimit?: number;
  passMessage: string;
  /** Why the check can't run on this server; undefined if it can. */
  blind?: (server: RelationServer, facts: ServerFacts<T>) => string | undefined;
}

/** What the statement reads about the server itself. */
interface RelationServer {
  standby: boolean;
  trackCounts: boolean;
  /** The age of the statistics: since their reset, or the server's start. */
  countedSeconds: number;
}

/** A check with a finding for each faulty object of a database: bounded, and never `ok` about what it can't see. */
export function relationCheck<T extends Thresholds>({
  candidates,
  fault,
  countMetric,
  measure,
  sorted,
  rowLimit = FAULT_LIMIT + 1,
  passMessage,
  blind,
  ...check
}: RelationCheck<T>): Check<T> {
  return {
    ...check,
    volatile: false,
    scope: 'database',
    // The count is a one-time filter: over the limit PostgreSQL does not search for candidates.
    sql: (version) => `
  with server as (
    select count(*)::float8 as relations,
           pg_is_in_recovery() as standby,
           current_setting('track_counts')::bool as track_counts,
           (select extract(epoch from now() - greatest(stats_reset, pg_postmaster_start_time()))::float8
              from pg_stat_database where datname = current_database()) as counted_seconds
      from pg_class
  )
  select server.*, found.*
    from server
    left join (
      select true as found, candidate.*
        from (${candidates(version)}
             ) candidate
       where (select relations from server) <= ${RELATION_LIMIT}
       limit ${rowLimit}
    ) found on true`,
    judge: (rows, facts) => {
      const first = onlyRow(rows);
      const relations = numberIn(first, 'relations');
      if (relations > RELATION_LIMIT) {
        const reason = `Not measured: ${grouped(relations)} relations, more than ${grouped(RELATION_LIMIT)}.`;
        return { skipped: inDatabase(facts, reason) };
      }
      const server = {
        standby: first['standby'] === true,
        trackCounts: first['track_counts'] === true,
        countedSeconds: numberIn(first, 'counted_seconds'),
      };
      const reason = blind?.(server, facts);
      if (reason !== undefined) return { skipped: inDatabase(facts, reason) };

      const found = rows.filter((row) => row['found'] === true);
      const [unseen] = found.filter((row) => row['unseen'] !== null);
      const grants = found.flatMap(({ needs }) => (typeof needs === 'string' ? needs : []));
      const grant = grants[0] === undefined ? {} : { grant: grants[0] };
      const judged = found
        .filter((row) => row['unseen'] === null)
        .map((row) => ({ fault: fault(row, facts), measure: measure?.(row, facts) ?? null }));
      const all = judged.flatMap(({ fault, measure }) =>
        fault ? [{ ...fault, ...(measure && { measured: faultMeasure(measure) }) }] : [],
      );
      const faults = all
        .slice(0, FAULT_LIMIT)
        .map((each) => ({ ...each, metricLine: inDatabase(facts, each.metricLine) }));
      if (faults.length === 0 && unseen !== undefined)
        return { skipped: inDatabase(facts, textIn(unseen, 'unseen')), ...grant };
      const cut = found.length >= rowLimit && !(sorted && all.length < found.length);
      return {
        faults,
        passMessage,
        measures: [
          countOf(countMetric, found[0]?.['total'] === undefined ? all.length : numberIn(found[0], 'total')),
          ...worstOf(judged.flatMap(({ measure }) => measure ?? [])),
        ],
        truncated: cut || all.length > FAULT_LIMIT || unseen !== undefined,
        ...grant,
      };
    },
  };
}

function inDatabase({ database }: Pick<ServerFacts, 'database'>, line: string): string {
  return `Database ${database}: ${line}`;
}
