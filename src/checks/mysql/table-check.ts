import type { Check, Judgement, ServerFacts, Thresholds } from '../check.ts';
import { FAULT_LIMIT, TABLE_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { groupBySchema, type PlacedFault, type SchemaNote } from '../group-by-schema.ts';
import { adviceItems, applyPlan, type IndexAdvice } from '../index-plan.ts';
import type { Measure } from '../measure.ts';
import { grouped } from '../wording.ts';
import { countOf, faultMeasure, worstOf } from '../worst-measures.ts';
import { Figures, figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';
import { exactly, quoted } from './quote.ts';
import { ofCustomers, type TableCondition } from './table-condition.ts';
import { detailStatements, type TableDetails, tableDetails } from './table-details.ts';

/** On a server of so few tables, each check looks at every table. */
const FEW = 500;

/** A table that may have a fault. */
interface Suspect {
  schema: string;
  /** '' = each table of the schema. */
  table: string;
  /** Bytes of its file; 0 if the statement does not read them. */
  bytes: number;
}

/** How a check finds the tables that may have a fault, on a server with many. */
interface Suspects<T extends Thresholds> {
  /**
   * A cheaper statement that finds the tables that `candidates` may be of, largest first, and one more than `limit` if
   * there are more: see suspects.ts. Absent = only tables that InnoDB does not store. It is made of the rows of `before`.
   */
  sql?: string | ((rows: readonly Row[]) => string);
  before?: string;
  /** Whether `sql` leaves out tables that `candidates` may be of. */
  leavesOut?: (rows: readonly Row[]) => boolean;
  limit: number;
  /** `sql` finds the tables of every engine that `candidates` may be of, not only those of InnoDB. */
  everyEngine?: true;
  /** Which rows of `sql` are suspects; absent = all. */
  of?: (row: Row, all: readonly Row[]) => boolean;
  /** If there are more suspects than `limit`, the check looks at every table. Absent = at the first ones. */
  allIfMore?: true;
  /** Whether a table may have a fault, by its size. Absent = it may. */
  isLarge?: (suspect: Suspect, thresholds: T) => boolean;
}

// InnoDB's dictionary, which finds suspects in MariaDB, lacks them.
const OTHER_LIMIT = 1_000;
const otherEngines = `
  select table_schema as other_schema, table_name as other_table
    from information_schema.tables
   where ${ofCustomers()} and table_type in ('BASE TABLE', 'SYSTEM VERSIONED') and engine <> 'InnoDB'
   limit ${OTHER_LIMIT + 1}`;

/** What differs between the checks of every table of a server. */
interface TableCheck<T extends Thresholds>
  extends Pick<Check<T>, 'id' | 'title' | 'category' | 'maxSeverity' | 'thresholds' | 'privilege'> {
  /**
   * One row per object of `ofTables` that may have a fault, with `table_schema` and `table_name`, without order or limit.
   * `ofTooMany`: these are all tables of a server with many, although it has suspects: MariaDB would open each for its size.
   */
  candidates: (version: number, ofTables: TableCondition, ofTooMany: boolean) => string;
  /** For a server with many tables, by its version. Undefined = any table may have a fault. */
  suspects?: (version: number) => Suspects<T> | undefined;
  /** The fault of a candidate, or null. `details` are there if {@link TableCheck.details} asks for them. */
  fault: (row: Row, facts: ServerFacts<T>, server: Figures, details?: TableDetails) => Fault | null;
  /** Which candidates' details are read, and whether `foreignKeys` too. */
  details?: { of?: (row: Row, thresholds: T) => boolean; foreignKeys?: boolean };
  /** If a schema may have many notes of this check: how to say them as one. */
  perSchema?: SchemaNote;
  /** A candidate may have no fault, although no number is compared: it is too small to matter. */
  holdsBack?: true;
  /** The metric of how many objects have a fault, such as `redundant_indexes_count`. */
  countMetric: string;
  /** The number of a candidate that `fault` compares; absent if every candidate has a fault. */
  measure?: (row: Row, facts: ServerFacts<T>) => Measure;
  /** The order that `fault` compares by: after a candidate without a fault, none has one. By name if absent. */
  worstFirst?: string;
  /** What the finding about a row does to indexes. */
  indexAdvice?: (row: Row) => IndexAdvice | null;
  passMessage: string;
  /** Figures of the server that `blind` and `fault` need. */
  needs?: Parameters<typeof figures>[0];
  /** Why the check can't run on this server; undefined if it can. `rows` have that of `about` too. */
  blind?: (server: Figures, rows: readonly Row[], facts: ServerFacts<T>) => string | undefined;
  /** A statement about the server, for `blind`. */
  about?: string;
}

// The server silently hides tables and columns on which the login has no privilege.
// REFERENCES on *.* shows all but gives no access to rows. Nobody grants a privilege on this system table alone.
// The same statement for all these checks: a session does not send it twice, so a run counts the tables once.
const serverRow = `
  select (select count(*)
            from information_schema.columns
           where table_schema = 'mysql' and table_name = 'proxies_priv') > 0 as sees_all,
         (select count(*) from information_schema.tables where ${ofCustomers()}) as tables`;

/** A check with a finding for each faulty object of a server: bounded, and never `ok` about what it can't see. */
export function tableCheck<T extends Thresholds>(definition: TableCheck<T>): Check<T> {
  const { id, title, category, maxSeverity, thresholds, privilege, needs = {}, about, details } = definition;
  return {
    id,
    title,
    category,
    maxSeverity,
    ...(thresholds && { thresholds }),
    ...(privilege !== undefined && { privilege }),
    ...(details && { details: (rows, facts) => detailsSql(details, rows, facts) }),
    volatile: false,
    scope: 'server',
    cost: 1,
    sql: () => [serverRow, ...(about === undefined ? [] : [about]), ...figures(needs)],
    steps: ({ version, thresholds: levels }) => [
      (rows) => suspectsOn(definition, rows, version)?.before,
      (rows) => {
        const sql = suspectsOn(definition, rows, version)?.sql;
        return typeof sql === 'function' ? sql(rows) : sql;
      },
      (rows) => {
        const suspects = suspectsOn(definition, rows, version);
        return suspects && isMariaDb(version) && !suspects.everyEngine ? otherEngines : undefined;
      },
      (rows) => candidatesSql(definition, rows, { version, thresholds: levels }),
    ],
    judge: (rows, facts) => {
      const tables = tablesIn(rows);
      if (tables > TABLE_LIMIT) {
        const reason = `Not measured: ${grouped(tables)} tables, more than ${grouped(TABLE_LIMIT)}.`;
        return { skipped: reason, skippedForSize: true };
      }
      const server = new Figures(rows);
      const reason = definition.blind?.(server, rows, facts);
      return reason === undefined ? judgeTables(definition, rows, facts, server) : { skipped: reason };
    },
  };
}

/** How suspects are found on a server of these tables; undefined if each table may have a fault. */
function suspectsOn<T extends Thresholds>(
  { suspects }: TableCheck<T>,
  rows: readonly Row[],
  version: number,
): Suspects<T> | undefined {
  const tables = tablesIn(rows);
  return tables <= FEW || tables > TABLE_LIMIT ? undefined : suspects?.(version);
}

/** The statements that read the details of the candidates' tables. */
function detailsSql<T extends Thresholds>(
  details: NonNullable<TableCheck<T>['details']>,
  rows: readonly Row[],
  { version, thresholds }: Pick<ServerFacts<T>, 'version' | 'thresholds'>,
): readonly string[] {
  const { of = () => true } = details;
  const tables = tablesOf(rows.filter((row) => 'table_schema' in row && of(row, thresholds)));
  return detailStatements(tables, version, { ...details, manyTables: tablesIn(rows) > FEW });
}

/** The statement that reads the candidates; undefined if there are none, or too many tables. */
function candidatesSql<T extends Thresholds>(
  definition: TableCheck<T>,
  rows: readonly Row[],
  { version, thresholds }: { version: number; thresholds: T },
): string | undefined {
  if (tablesIn(rows) > TABLE_LIMIT) return undefined;
  const suspects = suspectsOn(definition, rows, version);
  const { listed, isPartial } = listedIn(rows, suspects, thresholds);
  const isRestricted = suspects !== undefined && !(suspects.allIfMore && isPartial);
  if (isRestricted && listed.length === 0) return undefined;
  const { candidates, worstFirst = 'table_schema, table_name' } = definition;
  return `
  select candidate.*, count(*) over () as found
    from (${candidates(version, isRestricted ? amongst(listed) : ofCustomers, suspects !== undefined && !isRestricted)}
         ) candidate
   order by ${worstFirst}
   limit ${FAULT_LIMIT + 1}`;
}

function judgeTables<T extends Thresholds>(
  definition: TableCheck<T>,
  rows: readonly Row[],
  facts: ServerFacts<T>,
  server: Figures,
): Judgement {
  const { measure, holdsBack, perSchema, countMetric, indexAdvice, passMessage } = definition;
  const candidates = rows.filter((row) => 'table_schema' in row);
  const details = tableDetails(rows);
  const planned = applyPlan(candidates, facts.indexPlan);
  const leftOut = candidates.length - planned.length;
  const judged = planned.map((row) => ({
    row,
    fault: definition.fault(row, facts, server, details.get(tableOf(row))),
  }));
  const all = judged.flatMap(({ row, fault }): PlacedFault[] => {
    if (!fault) return [];
    const whole = { ...fault, ...(measure && { measured: faultMeasure(measure(row, facts)) }) };
    return [{ schema: quoted(textIn(row, 'table_schema')), fault: whole }];
  });
  const suspects = suspectsOn(definition, rows, facts.version);
  const isPartial = !suspects?.allIfMore && listedIn(rows, suspects, facts.thresholds).isPartial;
  const truncated =
    isPartial || (candidates.length > FAULT_LIMIT && all.length + leftOut === candidates.length);
  const first = onlyRow(rows);
  const seesAll = numberIn(first, 'sees_all') === 1;
  const listed = all.slice(0, FAULT_LIMIT);
  const faults = perSchema
    ? groupBySchema(listed, perSchema, { metric: countMetric, cut: truncated || !seesAll })
    : listed.map(({ fault }) => fault);
  const worst = measure ? worstOf(planned.map((row) => measure(row, facts))) : [];
  const items = indexAdvice && { indexAdvice: adviceItems(judged, indexAdvice) };
  if (!seesAll) {
    const grant = `GRANT REFERENCES ON *.* TO ${facts.me};`;
    return faults.length > 0
      ? { faults, passMessage, measures: worst, truncated: true, grant, ...items }
      : { skipped: 'Not measured: tables may be hidden from the login.', grant };
  }
  // Where every candidate has a fault, the server has counted those beyond the limit too.
  const [candidate] = candidates;
  const count = measure || holdsBack || !candidate ? all.length : numberIn(candidate, 'found') - leftOut;
  const measures = [countOf(countMetric, count), ...worst];
  return { faults, passMessage, measures, truncated, ...(isPartial && { skippedForSize: true }), ...items };
}

/** The tables of candidates, each once. */
function tablesOf(rows: readonly Row[]) {
  return [...new Map(rows.slice(0, FAULT_LIMIT).map((row) => [tableOf(row), row])).values()].map((row) => ({
    schema: textIn(row, 'table_schema'),
    name: textIn(row, 'table_name'),
  }));
}

/** The quoted name of a candidate's table. */
export function tableOf(row: Row): string {
  return quoted(textIn(row, 'table_schema'), textIn(row, 'table_name'));
}

function tablesIn(rows: readonly Row[]): number {
  return numberIn(onlyRow(rows), 'tables');
}

/** The tables to look at, and whether others were left out. */
function listedIn<T extends Thresholds>(
  rows: readonly Row[],
  { limit = 0, of = () => true, isLarge = () => true, leavesOut = () => false }: Partial<Suspects<T>> = {},
  thresholds: T,
) {
  const found = rows.filter((row) => 'suspect_table' in row);
  const named = found
    .map((row) => ({
      row,
      schema: textIn(row, 'suspect_schema'),
      table: textIn(row, 'suspect_table'),
      bytes: numberIn(row, 'suspect_bytes'),
    }))
    .filter((suspect) => isLarge(suspect, thresholds));
  const others = rows
    .filter((row) => 'other_table' in row)
    .map((row) => ({ schema: textIn(row, 'other_schema'), table: textIn(row, 'other_table') }));
  return {
    listed: [...named.slice(0, limit).filter(({ row }) => of(row, found)), ...others],
    isPartial: named.length > limit || others.length > OTHER_LIMIT || leavesOut(rows),
  };
}

/**
 * These tables only. MariaDB compares names before it opens a table, and does not turn a long list into a join, because
 * the session says so (`in_predicate_conversion_threshold`).
 */
function amongst(tables: readonly Omit<Suspect, 'bytes'>[]): TableCondition {
  const schemas = [...new Set(tables.map(({ schema }) => schema))].map(exactly).join(', ');
  if (tables.some(({ table }) => table === '')) return (alias = '') => `${alias}table_schema in (${schemas})`;
  const names = tables.map(({ schema, table }) => exactly(`${schema}/${table}`)).join(', ');
  return (alias = '') =>
    `${alias}table_schema in (${schemas}) and concat(${alias}table_schema, '/', ${alias}table_name) in (${names})`;
}
