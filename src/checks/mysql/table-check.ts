import type { Check, Fault, Row, ServerFacts, Thresholds } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow } from '../columns.ts';
import type { Measure } from '../measure.ts';
import { grouped } from '../wording.ts';
import { countOf, faultMeasure, worstOf } from '../worst-measures.ts';
import { Figures, figures } from './figures.ts';

/** A check of every table of a server is skipped if there are more: it would take too long. */
const TABLE_LIMIT = 20_000;

/** Condition on information_schema: the customer's tables, not system tables. `alias` as in `t.`. */
export const ofCustomers = (alias = '') =>
  `${alias}table_schema not in ('mysql', 'sys', 'information_schema', 'performance_schema')`;

/** What differs between the checks of every table of a server. */
interface TableCheck<T extends Thresholds>
  extends Pick<Check<T>, 'id' | 'title' | 'category' | 'maxSeverity' | 'thresholds' | 'privilege'> {
  /** One row per object that may have a fault, with `table_schema` and `table_name`, without order or limit. */
  candidates: (version: number) => string;
  /** The fault of a candidate, or null. */
  fault: (row: Row, facts: ServerFacts<T>, server: Figures) => Fault | null;
  /** The metric of how many objects have a fault, such as `redundant_indexes_count`. */
  countMetric: string;
  /** The number of a candidate that `fault` compares; absent if every candidate has a fault. */
  measure?: (row: Row, facts: ServerFacts<T>) => Measure;
  /** The order that `fault` compares by: after a candidate without a fault, none has one. By name if absent. */
  worstFirst?: string;
  passMessage: string;
  /** Figures of the server that `blind` and `fault` need. */
  needs?: Parameters<typeof figures>[0];
  /** Why the check can't run on this server; undefined if it can. `first` is the server's row, with the columns of `extraColumns`. */
  blind?: (server: Figures, first: Row, facts: ServerFacts<T>) => string | undefined;
  /** More columns for the server's row. */
  extraColumns?: string;
}

// The server silently hides tables and columns on which the login has no privilege.
// REFERENCES on *.* shows all but gives no access to rows. Nobody grants a privilege on this system table alone.
const serverRow = (extraColumns: string) => `
  select (select count(*)
            from information_schema.columns
           where table_schema = 'mysql' and table_name = 'proxies_priv') > 0 as sees_all,
         (select count(*) from information_schema.tables where ${ofCustomers()}) as tables${extraColumns}`;

/** A check with a finding for each faulty object of a server: bounded, and never `ok` about what it can't see. */
export function tableCheck<T extends Thresholds>({
  candidates,
  fault,
  countMetric,
  measure,
  worstFirst = 'table_schema, table_name',
  passMessage,
  needs = {},
  blind,
  extraColumns,
  ...check
}: TableCheck<T>): Check<T> {
  return {
    ...check,
    volatile: false,
    scope: 'server',
    // The count is a constant: over the limit MariaDB does not open the tables.
    sql: (version) => [
      serverRow(extraColumns === undefined ? '' : `,${extraColumns}`),
      ...figures(needs),
      `
  select candidate.*, count(*) over () as found
    from (${candidates(version)}
         ) candidate
   where (select count(*) from information_schema.tables where ${ofCustomers()}) <= ${TABLE_LIMIT}
   order by ${worstFirst}
   limit ${FAULT_LIMIT + 1}`,
    ],
    judge: (rows, facts) => {
      const first = onlyRow(rows);
      const tables = numberIn(first, 'tables');
      if (tables > TABLE_LIMIT) {
        const reason = `Not measured: ${grouped(tables)} tables, more than ${grouped(TABLE_LIMIT)}.`;
        return { skipped: reason };
      }
      const server = new Figures(rows);
      const reason = blind?.(server, first, facts);
      if (reason !== undefined) return { skipped: reason };

      const found = rows.filter((row) => 'table_schema' in row);
      const all = found.flatMap((row): Fault[] => {
        const own = fault(row, facts, server);
        return own ? [{ ...own, ...(measure && { measured: faultMeasure(measure(row, facts)) }) }] : [];
      });
      const faults = all.slice(0, FAULT_LIMIT);
      const cut = found.length > FAULT_LIMIT && all.length === found.length;
      const worst = measure ? worstOf(found.map((row) => measure(row, facts))) : [];
      // Where every candidate has a fault, the server has counted those beyond the limit too.
      const count = measure || !found[0] ? all.length : numberIn(found[0], 'found');
      if (numberIn(first, 'sees_all') === 1)
        return { faults, passMessage, measures: [countOf(countMetric, count), ...worst], truncated: cut };

      const grant = `GRANT REFERENCES ON *.* TO ${facts.me};`;
      return faults.length > 0
        ? { faults, passMessage, measures: worst, truncated: true, grant }
        : { skipped: 'Not measured: tables may be hidden from the login.', grant };
    },
  };
}
