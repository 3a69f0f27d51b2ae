import { textIn } from '../columns.ts';
import { quoted } from './quote.ts';
import { ofCustomers, tableCheck } from './table-check.ts';

// Engines that store rows without transactions. Left out are those that store them elsewhere (MERGE,
// FEDERATED, CONNECT, BLACKHOLE) and other transactional ones (RocksDB, NDB).
const candidates = `
  select t.table_schema as table_schema, t.table_name as table_name, t.engine as engine
    from information_schema.tables t
   where ${ofCustomers('t.')}
     and t.table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
     and t.engine in ('MyISAM', 'Aria', 'MEMORY', 'ARCHIVE', 'CSV')`;

/** Tables of an engine without transactions: a crash may damage them, and a backup of them is not consistent. */
export const nonInnodb = tableCheck({
  id: 'MY_NON_INNODB',
  title: 'Non-transactional table',
  category: 'schema',
  maxSeverity: 'warning',
  candidates: () => candidates,
  fault: (row) => {
    const table = quoted(textIn(row, 'table_schema'), textIn(row, 'table_name'));
    return {
      severity: 'warning',
      object: table,
      metricLine: `table ${table} uses the engine ${textIn(row, 'engine')}, which has no transactions; convert it to InnoDB.`,
      remediation: `ALTER TABLE ${table} ENGINE = InnoDB;`,
    };
  },
  passMessage: 'Every table is transactional.',
  countMetric: 'non_transactional_tables_count',
});
