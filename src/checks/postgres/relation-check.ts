import type { Check, Fault, Row, ServerFacts } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textOrNone } from '../columns.ts';
import { grouped } from '../wording.ts';

/** A check that looks at every relation of a database is skipped where there are more (safety contract). */
const RELATION_LIMIT = 20_000;

/** What differs between the checks that look at every relation of a database. */
interface RelationCheck extends Pick<Check, 'id' | 'title' | 'category' | 'worst' | 'thresholds'> {
  /**
   * One row an object that may be at fault, worst first, without a limit. A column `unseen` holds null, or why
   * the object can't be judged: then the check is never `ok`.
   */
  candidates: (version: number) => string;
  /** The fault that a candidate is, or null when it is none. `metricLine` goes without the database's name. */
  fault: (row: Row, facts: ServerFacts) => Fault | null;
  okLine: string;
  /** Why nothing can be measured on this server, if so. */
  blind?: (server: RelationServer) => string | undefined;
}

/** What a server tells about itself beside the candidates. */
interface RelationServer {
  standby: boolean;
  trackCounts: boolean;
}

/** A check with a finding for each faulty object of a database: bounded, and honest about what it can't see. */
export function relationCheck({ candidates, fault, okLine, blind, ...check }: RelationCheck): Check {
  return {
    ...check,
    volatile: false,
    scope: 'database',
    // The count is a one-time filter: over the limit the candidates are not even looked for.
    sql: (version) => `
  with server as (
    select count(*)::float8 as relations,
           pg_is_in_recovery() as standby,
           current_setting('track_counts')::bool as track_counts
      from pg_class
  )
  select server.*, found.*
    from server
    left join (
      select true as found, candidate.*
        from (${candidates(version)}
             ) candidate
       where (select relations from server) <= ${RELATION_LIMIT}
       limit ${FAULT_LIMIT + 1}
    ) found on true`,
    judge: (rows, facts) => {
      const first = onlyRow(rows);
      const relations = numberIn(first, 'relations');
      if (relations > RELATION_LIMIT) {
        const reason = `Not measured: ${grouped(relations)} relations, more than ${grouped(RELATION_LIMIT)}.`;
        return { faults: [], okLine, skipped: inDatabase(facts, reason) };
      }
      const server = { standby: first['standby'] === true, trackCounts: first['track_counts'] === true };
      const reason = blind?.(server);
      if (reason !== undefined) return { faults: [], okLine, skipped: inDatabase(facts, reason) };

      const found = rows.filter((row) => row['found'] === true);
      const unseen = found.flatMap((row) => textOrNone(row, 'unseen') ?? []);
      const faults = found
        .slice(0, FAULT_LIMIT)
        .flatMap((row) => (row['unseen'] === null ? (fault(row, facts) ?? []) : []))
        .map((each) => ({ ...each, metricLine: inDatabase(facts, each.metricLine) }));
      if (faults.length === 0 && unseen[0] !== undefined) {
        return { faults, okLine, skipped: inDatabase(facts, unseen[0]) };
      }
      return { faults, okLine, truncated: found.length > FAULT_LIMIT || unseen.length > 0 };
    },
  };
}

function inDatabase(facts: ServerFacts, line: string): string {
  return `Database ${facts.database}: ${line}`;
}
