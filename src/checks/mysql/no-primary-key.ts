import { textIn, textOrNone } from '../columns.ts';
import { quoted } from './quote.ts';
import { ofCustomers, tableCheck } from './table-check.ts';

// Gathered by a union, because MariaDB would compare all pairs in a join; texts of at most 500 characters (left) stay in
// memory. A unique key that could be the primary one comes as the text after ADD PRIMARY KEY. create_options, which
// shows partitions, would make MariaDB open each table completely.
const candidates = `
  select table_schema, table_name,
         min(unique_key) as unique_key,
         max(auto_column) as auto_column,
         max(id_column) as id_column
    from (select table_schema, table_name, 1 as is_table, 0 as has_key, null as unique_key,
                  null as auto_column, null as id_column
            from information_schema.tables
           where ${ofCustomers()}
             and table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
             and engine = 'InnoDB'
           union all
          select table_schema, table_name, 0, index_name = 'PRIMARY',
                 case when count(*) = sum(nullable <> 'YES' and sub_part is null and column_name is not null)
                       and sum(length(column_name) + 4) + length(index_name) < 400
                        then left(concat('(', group_concat(concat('\`', replace(column_name, '\`', '\`\`'), '\`')
                                                           order by seq_in_index separator ', '),
                                         '), DROP INDEX \`', replace(index_name, '\`', '\`\`'), '\`'), 500) end,
                 null, null
            from information_schema.statistics
           where ${ofCustomers()} and non_unique = 0
           group by table_schema, table_name, index_name
           union all
          select table_schema, table_name, 0, 0, null,
                 case when extra like '%auto_increment%' then column_name end,
                 case when column_name = 'id' then column_name end
            from information_schema.columns
           where ${ofCustomers()} and (extra like '%auto_increment%' or column_name = 'id')
         ) fact
   group by table_schema, table_name
  having max(is_table) = 1 and max(has_key) = 0`;

/** InnoDB tables without a row identity: a replica scans the whole table for each changed row. */
export const noPrimaryKey = tableCheck({
  id: 'MY_NO_PRIMARY_KEY',
  title: 'Table without primary key',
  category: 'schema',
  maxSeverity: 'warning',
  candidates: () => candidates,
  fault: (row) => {
    const table = quoted(textIn(row, 'table_schema'), textIn(row, 'table_name'));
    return {
      severity: 'warning',
      object: table,
      metricLine: `table ${table} has no primary key: replicas and clusters apply its changes slowly or not at all; add one.`,
      remediation: addKey(
        table,
        textOrNone(row, 'unique_key'),
        textOrNone(row, 'auto_column') ?? textOrNone(row, 'id_column'),
      ),
    };
  },
  passMessage: 'Every InnoDB table has a primary key.',
  countMetric: 'tables_without_primary_key_count',
});

function addKey(table: string, unique?: string, column?: string): string {
  if (unique !== undefined) return `ALTER TABLE ${table} ADD PRIMARY KEY ${unique};`;
  if (column !== undefined) return `ALTER TABLE ${table} ADD PRIMARY KEY (${quoted(column)});`;
  return `ALTER TABLE ${table} ADD COLUMN id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY;`;
}
