import { numberIn, textIn } from '../columns.ts';
import { size } from '../wording.ts';
import { printable, quoted } from './quote.ts';
import { PROCESS } from './session-check.ts';
import { LARGEST, largestTables, NEAR } from './suspects.ts';
import { tableCheck } from './table-check.ts';
import type { TableCondition } from './table-condition.ts';

const thresholds = { minimum_bytes: 100 * 1024 * 1024 };

const candidates = (_version: number, ofTables: TableCondition) => `
  select t.table_schema as table_schema, t.table_name as table_name,
         t.index_length + 0e0 as index_bytes, t.data_length + 0e0 as data_bytes
    from information_schema.tables t
   where ${ofTables('t.')}
     and t.table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
     and t.index_length > t.data_length`;

/** Tables whose secondary indexes are larger than their rows. */
export const indexGtData = tableCheck({
  id: 'MY_INDEX_GT_DATA',
  title: 'Indexes larger than data',
  category: 'indexes',
  maxSeverity: 'info',
  thresholds,
  candidates,
  suspects: (version) => ({
    ...largestTables(version, LARGEST),
    isLarge: ({ bytes }, { minimum_bytes }) => bytes >= NEAR * minimum_bytes,
  }),
  privilege: PROCESS,
  worstFirst: 'index_bytes desc',
  perSchema: {
    noun: 'tables with indexes larger than their rows',
    advice: 'review which indexes are needed',
  },
  countMetric: 'tables_with_large_indexes_count',
  measure: (row, { thresholds }) => ({
    metric: 'secondary_indexes_bytes',
    object: quoted(textIn(row, 'table_schema'), textIn(row, 'table_name')),
    value: numberIn(row, 'index_bytes'),
    operator: '>=',
    warning: thresholds.minimum_bytes,
    critical: null,
  }),
  fault: (row, facts) => {
    const { minimum_bytes } = facts.thresholds;
    const bytes = numberIn(row, 'index_bytes');
    if (bytes < minimum_bytes) return null;
    const schema = textIn(row, 'table_schema');
    const name = textIn(row, 'table_name');
    const table = quoted(schema, name);
    return {
      severity: 'info',
      object: table,
      metricLine: `the secondary indexes of table ${table} take ${size(bytes)}, its rows ${size(numberIn(row, 'data_bytes'))}; review which are needed.`,
      remediation: `${printable(`SHOW INDEX FROM ${table};`)} -- then drop those that nothing needs: MY_UNUSED_INDEX and MY_REDUNDANT_INDEX name some`,
    };
  },
  passMessage: 'No large table has indexes larger than its rows.',
});
