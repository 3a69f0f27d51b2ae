import { numberIn, textIn } from '../columns.ts';
import { counted } from '../wording.ts';
import { quoted } from './quote.ts';
import { ofCustomers, tableCheck } from './table-check.ts';

// Other character sets with all of Unicode are fine, and ascii is used for codes. Gathered by a union,
// because MariaDB would compare all pairs in a join.
const candidates = `
  select table_schema, table_name, count(charset) as columns,
         group_concat(distinct charset order by charset separator ', ') as charsets
    from (select table_schema, table_name, character_set_name as charset, 0 as is_table
            from information_schema.columns
           where ${ofCustomers()}
             and character_set_name not in ('utf8mb4', 'utf16', 'utf16le', 'utf32', 'gb18030', 'ascii', 'binary')
           union all
          select table_schema, table_name, null, 1
            from information_schema.tables
           where ${ofCustomers()} and table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
         ) fact
   group by table_schema, table_name
  having count(charset) > 0 and max(is_table) = 1`;

/** Tables with text in a character set that lacks most characters: others are rejected or become `?`. */
export const charsetLegacy = tableCheck({
  id: 'MY_CHARSET_LEGACY',
  title: 'Legacy character set',
  category: 'schema',
  maxSeverity: 'info',
  candidates: () => candidates,
  worstFirst: 'columns desc',
  fault: (row) => {
    const table = quoted(textIn(row, 'table_schema'), textIn(row, 'table_name'));
    const columns = counted(numberIn(row, 'columns'), 'column');
    return {
      severity: 'info',
      object: table,
      metricLine: `table ${table} has ${columns} in ${textIn(row, 'charsets')}, which can't store every character; convert it to utf8mb4.`,
      remediation: `ALTER TABLE ${table} CONVERT TO CHARACTER SET utf8mb4;`,
    };
  },
  passMessage: 'Every text column can store every character.',
  countMetric: 'legacy_charset_tables_count',
});
