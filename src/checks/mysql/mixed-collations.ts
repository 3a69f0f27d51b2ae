import { numberIn, textIn } from '../columns.ts';
import { counted } from '../wording.ts';
import { exactName } from './exact-name.ts';
import { exactly, printable, quoted } from './quote.ts';
import { collationsOfSchemas } from './suspects.ts';
import { tableCheck } from './table-check.ts';
import type { TableCondition } from './table-condition.ts';

/** Names of columns that refer to another table's row: these are joined. */
const REFERENCE = '._(id|uuid|guid|code|key)$';

// Columns of views repeat those of tables. Gathered by a union, because MariaDB would compare all pairs in a join.
const candidates = (_version: number, ofTables: TableCondition) => `
  select table_schema, '' as table_name, count(*) + 0 as columns,
         substring_index(group_concat(column_name order by column_name separator ', '), ', ', 5) as names
    from (select table_schema, column_name
            from (select table_schema, column_name, collation_name,
                         max(is_table) over (partition by table_schema, table_name) as of_table
                    from (select ${exactName('table_schema')} as table_schema, ${exactName('table_name')} as table_name,
                                 lower(column_name) as column_name, collation_name, 0 as is_table
                            from information_schema.columns
                           where ${ofTables()} and collation_name is not null and column_name regexp '${REFERENCE}'
                           union all
                          select ${exactName('table_schema')}, ${exactName('table_name')}, null, null, 1
                            from information_schema.tables
                           where ${ofTables()} and table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
                         ) fact
                 ) placed
           where of_table = 1 and column_name is not null
           group by table_schema, column_name
          having count(distinct collation_name) > 1
         ) mixed
   group by table_schema`;

/** Columns of one name that refer to other tables, in different collations: a join of them fails or uses no index. */
export const mixedCollations = tableCheck({
  id: 'MY_MIXED_COLLATIONS',
  title: 'Mixed collations',
  category: 'schema',
  maxSeverity: 'info',
  candidates,
  suspects: () => ({
    ...collationsOfSchemas,
    of: (row, all) => all.filter((each) => each['suspect_schema'] === row['suspect_schema']).length > 1,
  }),
  fault: (row) => {
    const name = textIn(row, 'table_schema');
    const schema = quoted(name);
    const columns = counted(numberIn(row, 'columns'), 'name');
    const look = `SELECT column_name, collation_name, group_concat(table_name) FROM information_schema.columns WHERE table_schema = ${exactly(name)} AND collation_name IS NOT NULL AND column_name REGEXP '${REFERENCE}' GROUP BY column_name, collation_name;`;
    return {
      severity: 'info',
      object: schema,
      metricLine: `in schema ${schema}, columns of the same name have different collations (${columns}: ${textIn(row, 'names')}); a join of them fails or uses no index. Give them one collation.`,
      remediation: `${printable(look)} -- then give the columns that you join one collation with MODIFY, and repeat the rest of their definitions`,
    };
  },
  passMessage: 'No columns that refer to the same rows have different collations.',
  countMetric: 'mixed_collations_schemas_count',
});
