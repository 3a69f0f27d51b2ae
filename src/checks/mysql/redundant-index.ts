import { numberIn, textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { size } from '../wording.ts';
import { alterTable, hideIndex, lookAtTable } from './alter-table.ts';
import { largeTable, withBytes } from './candidate-bytes.ts';
import { exactName } from './exact-name.ts';
import { isMariaDb } from './flavour.ts';
import { quoted } from './quote.ts';
import { tablesByIndexes, tablesWithSimilarIndexes } from './suspects.ts';
import { tableCheck, tableOf } from './table-check.ts';
import type { TableCondition } from './table-condition.ts';
import type { TableDetails } from './table-details.ts';

// The window keeps MariaDB from merging the parts into the join: 2,000 tables take 0.3 s, merged 6.5 s. Of equal ones the
// primary key stays, then a unique one, then one in use, then the first by name. The finding names the widest covering
// index, which no other covers. An index with an expression has a column without a name, and matches nothing.
const candidates = (version: number, ofTables: TableCondition) =>
  withBytes(
    `
  with part as (
    select ${exactName('table_schema')} as table_schema, ${exactName('table_name')} as table_name, index_name, seq_in_index as place, column_name, sub_part, collation as direction,
           non_unique,
           ${isMariaDb(version) ? "ignored = 'NO'" : "is_visible = 'YES'"} as visible,
           count(*) over (partition by ${exactName('table_schema')}, ${exactName('table_name')}, index_name) as width
      from information_schema.statistics
     where ${ofTables()} and index_type = 'BTREE'
  ), ranked as (
    select part.*,
           concat(case when index_name = 'PRIMARY' then 0 when non_unique = 0 then 1 else 2 end,
                  case when visible = 1 then 0 else 1 end, index_name) as preference
      from part
  ), pair as (
    select spare.table_schema, spare.table_name, spare.index_name, spare.width, spare.non_unique,
           kept.index_name as kept_name, kept.width as kept_width, kept.preference
      from ranked spare
      join ranked kept
        on kept.table_schema = spare.table_schema and kept.table_name = spare.table_name
       and kept.place = spare.place and kept.column_name = spare.column_name
       and kept.sub_part <=> spare.sub_part and kept.direction <=> spare.direction
     where kept.index_name <> spare.index_name
       and kept.visible = 1
       and spare.visible = 1
       and spare.index_name <> 'PRIMARY'
       and (kept.width = spare.width and kept.preference < spare.preference
            or kept.width > spare.width and spare.non_unique = 1)
     group by spare.table_schema, spare.table_name, spare.index_name, spare.width, spare.non_unique,
              kept.index_name, kept.width, kept.preference
    having count(*) = spare.width
  )
  select table_schema, table_name, index_name, width, non_unique, kept_name, kept_width
    from (select pair.*,
                 row_number() over (partition by table_schema, table_name, index_name
                                    order by kept_width desc, preference) as choice
            from pair
         ) chosen
   where choice = 1`,
    'index_length',
    ofTables,
  );

// A unique index may be the primary key of a table that declares none, and that can't be invisible.
const canHide = (row: Row) => row['non_unique'] !== 0 || row['kept_name'] === 'PRIMARY';
const hasSameColumns = (row: Row) => row['width'] === row['kept_width'];
const matters = (row: Row, { minimum_bytes }: typeof largeTable) =>
  hasSameColumns(row) || numberIn(row, 'bytes') >= minimum_bytes;

/** MariaDB opens these; MySQL looks at every table if there are more. */
const [OPENED, SUSPECTS] = [3_000, 1_000];

/** Indexes whose columns are the same as, or the first ones of, another index, which serves their queries too. */
export const redundantIndex = tableCheck({
  id: 'MY_REDUNDANT_INDEX',
  title: 'Redundant index',
  category: 'indexes',
  maxSeverity: 'info',
  thresholds: largeTable,
  candidates,
  suspects: (version) =>
    isMariaDb(version)
      ? { limit: OPENED, sql: tablesWithSimilarIndexes(OPENED), everyEngine: true }
      : { limit: SUSPECTS, sql: tablesByIndexes(SUSPECTS), allIfMore: true },
  worstFirst: 'width = kept_width desc, bytes desc, table_schema, table_name, index_name',
  holdsBack: true,
  details: { of: matters },
  perSchema: { noun: 'indexes that others cover', advice: 'make them invisible, then drop them' },
  fault: (row, { thresholds }, _, details) => {
    if (!matters(row, thresholds)) return null;
    const table = tableOf(row);
    const index = quoted(textIn(row, 'index_name'));
    const kept = quoted(textIn(row, 'kept_name'));
    const how = hasSameColumns(row) ? 'has the same columns' : 'begins with its columns';
    const todo = canHide(row) ? `make ${index} invisible, then drop it` : `drop ${index}`;
    const statement = (of: TableDetails) =>
      canHide(row) ? hideIndex(of, index) : alterTable(of, `DROP INDEX ${index}`);
    return {
      severity: 'info',
      object: `${table}.${index}`,
      metricLine: `index ${index} of table ${table} (all its secondary indexes: ${size(numberIn(row, 'bytes'))}) is covered by ${kept}, which ${how}; keep ${kept}, ${todo}.`,
      remediation: details ? statement(details) : lookAtTable(row),
    };
  },
  // It names the widest of the indexes that cover this one, so the plan knows of no other.
  indexAdvice: (row) => ({
    action: 'drop',
    because: 'covered',
    index: `${tableOf(row)}.${quoted(textIn(row, 'index_name'))}`,
    purposes: [[`${tableOf(row)}.${quoted(textIn(row, 'kept_name'))}`]],
  }),
  passMessage: 'No index of a large table is covered by another.',
  countMetric: 'redundant_indexes_count',
});
