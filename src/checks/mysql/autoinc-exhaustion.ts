import type { Check } from '../check.ts';
import { numberIn, textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { percent } from '../wording.ts';
import { atLeast, type Scale } from '../worst-measures.ts';
import { alterTable, definitionOf, lookAtTable, showTable } from './alter-table.ts';
import { exactName } from './exact-name.ts';
import { isMariaDb } from './flavour.ts';
import { exactly, printable, quoted } from './quote.ts';
import { addSequences } from './sequence-faults.ts';
import { sequenceSteps } from './sequences.ts';
import { dictionaryPrivilege, largestTables } from './suspects.ts';
import { tableCheck, tableOf } from './table-check.ts';
import type { TableCondition } from './table-condition.ts';
import type { TableDetails } from './table-details.ts';

/** Shares of 1. */
const thresholds = { warning: 0.85, critical: 0.95 };

// The maximum of each type; of the inexact ones the last integer that has a successor. Gathered by a union,
// because MariaDB would compare all pairs in a join; columns that are not TEXT (left) stay in memory.
const candidates = (_version: number, ofTables: TableCondition) => `
  select table_schema, table_name, column_name, column_type, cast(value as char) as value,
         value /
           case data_type
             when 'tinyint' then if(column_type like '%unsigned%', 255, 127)
             when 'smallint' then if(column_type like '%unsigned%', 65535, 32767)
             when 'mediumint' then if(column_type like '%unsigned%', 16777215, 8388607)
             when 'int' then if(column_type like '%unsigned%', 4294967295, 2147483647)
             when 'float' then 16777216
             when 'double' then 9007199254740992
             else if(column_type like '%unsigned%', 18446744073709551615, 9223372036854775807)
           end + 0e0 as share
    from (select table_schema, table_name, max(value) as value, max(column_name) as column_name,
                 max(data_type) as data_type, max(column_type) as column_type
            from (select ${exactName('table_schema')} as table_schema, ${exactName('table_name')} as table_name,
                         auto_increment as value,
                         null as column_name, null as data_type, null as column_type
                    from information_schema.tables
                   where ${ofTables()} and auto_increment is not null
                   union all
                  select ${exactName('table_schema')}, ${exactName('table_name')}, null, column_name, left(data_type, 16), left(column_type, 64)
                    from information_schema.columns
                   where ${ofTables()} and extra like '%auto_increment%'
                 ) fact
           group by table_schema, table_name
          having max(value) is not null and max(column_name) is not null
         ) counted`;

/** MariaDB: as many tables as the run's time allows to open. */
const OPENED = 4_000;

const COUNT = 'nearly_exhausted_auto_increments_count';

const usedScale = (levels: typeof thresholds): Scale => ({
  ...atLeast('auto_increment_used_ratio', levels.warning, levels.critical),
  limit: 1,
  grows: true,
});

const ofTables = tableCheck({
  id: 'MY_AUTOINC_EXHAUSTION',
  title: 'AUTO_INCREMENT or sequence nearly exhausted',
  category: 'schema',
  maxSeverity: 'critical',
  thresholds,
  candidates,
  // Ids may have jumped in a small table too.
  suspects: (version) => (isMariaDb(version) ? largestTables(version, OPENED) : undefined),
  privilege: dictionaryPrivilege,
  worstFirst: 'share desc',
  details: { of: (row, { warning }) => shareOf(row) >= warning, foreignKeys: true },
  countMetric: COUNT,
  measure: (row, facts) => ({ ...usedScale(facts.thresholds), object: tableOf(row), value: shareOf(row) }),
  fault: (row, facts, _, details) => {
    const { warning, critical } = facts.thresholds;
    const share = shareOf(row);
    if (share < warning) return null;
    const table = tableOf(row);
    const column = textIn(row, 'column_name');
    const type = textIn(row, 'column_type');
    return {
      severity: share >= critical ? 'critical' : 'warning',
      object: table,
      metricLine: `AUTO_INCREMENT of table ${table} is at ${textIn(row, 'value')}, ${percent(share)} of the maximum of its column ${quoted(column)} (${type}); widen it before inserts fail.`,
      remediation: (details && widen(details, column)) ?? lookAtTable(row),
    };
  },
  passMessage: 'No AUTO_INCREMENT is nearly exhausted.',
});

/** AUTO_INCREMENT columns, and MariaDB's sequences, with few values left. */
export const autoincExhaustion: Check<typeof thresholds> = {
  ...ofTables,
  steps: (facts) => [...(ofTables.steps?.(facts) ?? []), ...(isMariaDb(facts.version) ? sequenceSteps : [])],
  judge: (rows, facts) =>
    addSequences(ofTables.judge(rows, facts), rows, {
      ...facts,
      scale: usedScale(facts.thresholds),
      countMetric: COUNT,
    }),
};

/** Undefined if the column is gone. */
function widen(table: TableDetails, columnName: string): string | undefined {
  const { schema, name } = table;
  const column = table.columns.find((each) => each.name === columnName);
  if (!column) return undefined;
  if (column.dataType === 'bigint' || !/int$/.test(column.dataType)) {
    const highest = printable(`SELECT MAX(${quoted(columnName)}) FROM ${quoted(schema, name)};`);
    return `${highest} -- then find out why the values jumped, and renumber the rows: no type gives many more values`;
  }
  if (table.foreignKeyColumns.has(columnName)) {
    return `${queryForeignKeys(schema, name, columnName)} -- then drop these foreign keys, make the columns of both sides bigint with MODIFY (repeat the rest of their definitions), and add the keys again`;
  }
  const [width = ''] = column.type.includes('zerofill') ? (/\(\d+\)/.exec(column.type) ?? []) : [];
  const sign = column.type.replace(/^\w+(?:\(\d+\))?/, '');
  const definition = definitionOf(column, table, { type: `bigint${width}${sign}` });
  return definition
    ? alterTable(table, (withoutEscapes) => `MODIFY ${definition(withoutEscapes)}`, { copies: true })
    : `${showTable(table)} -- then make the column bigint with MODIFY, and repeat the rest of its definition`;
}

/** A look at the foreign keys of a column, on either side. */
function queryForeignKeys(schema: string, table: string, column: string): string {
  const side = (prefix: string) =>
    `${prefix}table_schema = ${exactly(schema)} AND ${prefix}table_name = ${exactly(table)} AND ${prefix}column_name = ${exactly(column)}`;
  return `SELECT constraint_name, table_schema, table_name, column_name, referenced_table_schema, referenced_table_name, referenced_column_name FROM information_schema.key_column_usage WHERE referenced_table_name IS NOT NULL AND (${side('')} OR ${side('referenced_')});`;
}

/** The next value is one above the maximum when all are used. */
function shareOf(row: Row): number {
  return Math.min(numberIn(row, 'share'), 1);
}
