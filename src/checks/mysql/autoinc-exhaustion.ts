import type { Row } from '../check.ts';
import { numberIn, textIn } from '../columns.ts';
import { percent } from '../wording.ts';
import { quoted } from './quote.ts';
import { ofCustomers, tableCheck } from './table-check.ts';

/** Shares of 1. */
const thresholds = { warning: 0.85, critical: 0.95 };

// The maximum of each type; of the inexact ones the last integer that has a successor. Gathered by a union,
// because MariaDB would compare all pairs in a join; columns that are not TEXT (left) stay in memory.
const candidates = `
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
            from (select table_schema, table_name, auto_increment as value,
                         null as column_name, null as data_type, null as column_type
                    from information_schema.tables
                   where ${ofCustomers()} and auto_increment is not null
                   union all
                  select table_schema, table_name, null, column_name, left(data_type, 16), left(column_type, 64)
                    from information_schema.columns
                   where ${ofCustomers()} and extra like '%auto_increment%'
                 ) fact
           group by table_schema, table_name
          having max(value) is not null and max(column_name) is not null
         ) counted`;

/** AUTO_INCREMENT columns with few values left. */
export const autoincExhaustion = tableCheck({
  id: 'MY_AUTOINC_EXHAUSTION',
  title: 'AUTO_INCREMENT nearly exhausted',
  category: 'schema',
  maxSeverity: 'critical',
  thresholds,
  candidates: () => candidates,
  worstFirst: 'share desc',
  countMetric: 'nearly_exhausted_auto_increments_count',
  measure: (row, { thresholds }) => ({
    ...{ metric: 'auto_increment_used_ratio', object: tableOf(row), value: shareOf(row), operator: '>=' },
    ...thresholds,
    ...{ limit: 1, grows: true },
  }),
  fault: (row, facts) => {
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
      remediation: /^bigint.*unsigned/.test(type)
        ? `-- ${quoted(column)} of ${table} has the widest type: find out why the values jumped, and renumber the rows`
        : `ALTER TABLE ${table} MODIFY ${quoted(column)} bigint unsigned NOT NULL AUTO_INCREMENT;`,
    };
  },
  passMessage: 'No AUTO_INCREMENT is nearly exhausted.',
});

function tableOf(row: Row): string {
  return quoted(textIn(row, 'table_schema'), textIn(row, 'table_name'));
}

/** The next value is one above the maximum when all are used. */
function shareOf(row: Row): number {
  return Math.min(numberIn(row, 'share'), 1);
}
