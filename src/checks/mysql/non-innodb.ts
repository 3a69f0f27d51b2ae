import { textIn } from '../columns.ts';
import { alterTable, lookAtTable, rowBytes, showTable } from './alter-table.ts';
import { largeTable, withBytes } from './candidate-bytes.ts';
import { exactName } from './exact-name.ts';
import { isMariaDb } from './flavour.ts';
import { tableCheck, tableOf } from './table-check.ts';
import type { TableCondition } from './table-condition.ts';
import type { TableDetails } from './table-details.ts';

// Engines that store rows without transactions. Left out are those that store them elsewhere (MERGE,
// FEDERATED, CONNECT, BLACKHOLE) and other transactional ones (RocksDB, NDB).
const candidates = (_version: number, ofTables: TableCondition, ofTooMany: boolean) => {
  const own = `
  select table_schema, table_name, engine, in_merge
    from (select ${exactName('t.table_schema')} as table_schema, ${exactName('t.table_name')} as table_name,
                 t.engine as engine, max(t.engine = 'MRG_MyISAM') over () as in_merge
            from information_schema.tables t
           where ${ofTables('t.')}
             and t.table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
             and t.engine in ('MyISAM', 'Aria', 'MEMORY', 'ARCHIVE', 'CSV', 'MRG_MyISAM')
         ) own
   where engine <> 'MRG_MyISAM'`;
  return ofTooMany ? `select own.*, 0e0 as bytes from (${own}) own` : withBytes(own, 'both', ofTables);
};

/** Tables of an engine without transactions: a crash may damage them, and a backup of them is not consistent. */
export const nonInnodb = tableCheck({
  id: 'MY_NON_INNODB',
  title: 'Non-transactional table',
  category: 'schema',
  maxSeverity: 'warning',
  candidates,
  suspects: (version) => (isMariaDb(version) ? { limit: 0, allIfMore: true } : undefined),
  thresholds: largeTable,
  needs: { variables: ['log_bin'] },
  worstFirst: "engine = 'MEMORY', bytes desc, table_schema, table_name",
  holdsBack: true,
  details: {},
  perSchema: { noun: 'tables without transactions', advice: 'convert them to InnoDB' },
  fault: (row, { thresholds }, server, details) => {
    const table = tableOf(row);
    const engine = textIn(row, 'engine');
    const inMemory = engine === 'MEMORY';
    // MEMORY is chosen for what a restart may empty. Only replicas do not expect it.
    if (inMemory && !server.on('log_bin')) return null;
    const harm = inMemory
      ? ': a replica that restarts loses its rows, and replication then stops'
      : ', which has no transactions';
    return {
      severity: inMemory || (details && details.bytes < thresholds.minimum_bytes) ? 'info' : 'warning',
      object: table,
      metricLine: `table ${table} uses the engine ${engine}${harm}; convert it to InnoDB.`,
      remediation: details
        ? convert(details, engine === 'MyISAM' && Number(row['in_merge']) === 1)
        : lookAtTable(row),
    };
  },
  passMessage: 'Every table is transactional.',
  countMetric: 'non_transactional_tables_count',
});

/** Options that InnoDB accepts or ignores; ROW_FORMAT and KEY_BLOCK_SIZE are replaced. */
const OPTIONS =
  /(?:^| )(?:row_format|pack_keys|delay_key_write|checksum|max_rows|min_rows|avg_row_length|key_block_size|stats_\w+|transactional|page_checksum)=\S+|(?:^| )partitioned/g;

function convert(table: TableDetails, inMerge: boolean): string {
  const problem = problemOf(table, inMerge);
  if (problem !== undefined) return `${showTable(table)} -- then ${problem}`;
  const size = table.options.includes('key_block_size') ? ', KEY_BLOCK_SIZE = 0' : '';
  return alterTable(table, `ENGINE = InnoDB, ROW_FORMAT = DYNAMIC${size}`, { copies: true });
}

/** What must be done before InnoDB accepts the table; undefined if it does. */
function problemOf(table: TableDetails, inMerge: boolean): string | undefined {
  const { columns, parts, options, pageBytes, requiresPrimaryKey } = table;
  if (inMerge)
    return 'convert it to InnoDB only if no MERGE table reads it: a MERGE table can read only MyISAM';
  const counter = columns.find(({ extra }) => extra.includes('auto_increment'));
  if (counter && !leads(table, counter.name))
    return 'add an index that begins with its AUTO_INCREMENT column, and convert it to InnoDB: numbers will no longer start again in each group';
  const fullText = parts.some(({ kind }) => kind === 'FULLTEXT');
  if (fullText && columns.some(({ name }) => name.toUpperCase() === 'FTS_DOC_ID'))
    return 'rename its column FTS_DOC_ID, which InnoDB reserves, and convert it to InnoDB';
  if (requiresPrimaryKey && !parts.some(({ index }) => index === 'PRIMARY'))
    return 'add a primary key, which this server requires of InnoDB, and convert it to InnoDB';
  if (options.replace(OPTIONS, '').trim() !== '')
    return 'remove the options that only its engine has, and convert it to InnoDB';
  const { page } = rowBytes({ ...table, rowFormat: 'Dynamic' }, () => 4);
  if (columns.length > 1_017 || page > 8_000 || pageBytes < 16_384)
    return 'convert it to InnoDB if its rows fit on half a page; split it first if they do not';
  return undefined;
}

/** Whether an index begins with the column. */
function leads({ parts }: TableDetails, name: string): boolean {
  return parts.some((part) => part.column === name && part.place === 1);
}
