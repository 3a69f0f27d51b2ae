import { numberIn } from '../columns.ts';
import { size } from '../wording.ts';
import { alterTable, lookAtTable, rowBytes, showTable } from './alter-table.ts';
import { largeTable, withBytes } from './candidate-bytes.ts';
import { exactName } from './exact-name.ts';
import type { Figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';
import { printable, quoted } from './quote.ts';
import { dictionaryPrivilege, tablesByIndexes, tablesWithoutKey } from './suspects.ts';
import { tableCheck, tableOf } from './table-check.ts';
import type { TableCondition } from './table-condition.ts';
import type { Column, TableDetails } from './table-details.ts';

// A unique key over whole NOT NULL columns counts: InnoDB and group replication take it for the primary key. A key with
// an expression has a column without a name. Gathered by a union, because MariaDB would compare all pairs in a join.
const candidates = (_version: number, ofTables: TableCondition) =>
  withBytes(
    `
  select table_schema, table_name
    from (select ${exactName('table_schema')} as table_schema, ${exactName('table_name')} as table_name,
                 1 as is_table, 0 as has_key
            from information_schema.tables
           where ${ofTables()}
             and table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
             and engine = 'InnoDB'
           union all
          select ${exactName('table_schema')}, ${exactName('table_name')}, 0,
                 count(*) = sum(nullable <> 'YES' and sub_part is null and column_name is not null)
            from information_schema.statistics
           where ${ofTables()} and non_unique = 0 and index_type = 'BTREE'
           group by ${exactName('table_schema')}, ${exactName('table_name')}, index_name
         ) fact
   group by table_schema, table_name
  having max(is_table) = 1 and max(has_key) = 0`,
    'data_length',
    ofTables,
  );

const SUSPECTS = 1_000;

/** InnoDB tables without a row identity: a replica scans the whole table for each changed row. */
export const noPrimaryKey = tableCheck({
  id: 'MY_NO_PRIMARY_KEY',
  title: 'Table without primary key',
  category: 'schema',
  maxSeverity: 'warning',
  thresholds: largeTable,
  candidates,
  suspects: (version) =>
    isMariaDb(version)
      ? { limit: SUSPECTS, sql: tablesWithoutKey(SUSPECTS), everyEngine: true }
      : { limit: SUSPECTS, sql: tablesByIndexes(SUSPECTS), allIfMore: true },
  privilege: dictionaryPrivilege,
  needs: { variables: ['log_bin', 'wsrep_on', 'group_replication_group_name'] },
  worstFirst: 'bytes desc, table_schema, table_name',
  holdsBack: true,
  details: {},
  perSchema: { noun: 'tables without a primary key', advice: 'add primary keys' },
  fault: (row, { version, thresholds }, server, details) => {
    const bytes = numberIn(row, 'bytes');
    const clustered = isClustered(server);
    const large = bytes >= thresholds.minimum_bytes;
    if (!large && !clustered) return null;
    const replicated = clustered || server.on('log_bin');
    const table = tableOf(row);
    const harm = clustered
      ? 'a cluster applies its changes slowly or not at all'
      : replicated
        ? 'a replica reads the whole table for each changed row'
        : 'nothing identifies a row';
    return {
      severity: large && replicated ? 'warning' : 'info',
      object: table,
      metricLine: `table ${table} (${size(bytes)}) has no primary key, and no unique key over NOT NULL columns: ${harm}; add one.`,
      remediation: details ? addKey(details, version) : lookAtTable(row),
    };
  },
  passMessage: 'Every large InnoDB table has a primary key or a unique key over NOT NULL columns.',
  countMetric: 'tables_without_primary_key_count',
});

/** Whether the server is a member of a Galera cluster or a replication group. */
function isClustered(server: Figures): boolean {
  const group = 'group_replication_group_name';
  return (
    (server.has('wsrep_on') && server.on('wsrep_on')) || (server.has(group) && server.text(group) !== '')
  );
}

/** What InnoDB allows. */
const MOST_COLUMNS = 1_017;
const LONGEST_ROW = 65_535;

/** From this version on MySQL has INVISIBLE columns, MariaDB in every supported one. */
const INVISIBLE_SINCE = 80_023;

function addKey(table: TableDetails, version: number): string {
  const { columns, options, versioned } = table;
  if (options.includes('partitioned'))
    return `${showTable(table)} -- then add a primary key that contains every column after PARTITION BY`;
  if (versioned)
    return `${showTable(table)} -- then copy the rows to a new table with a primary key: MariaDB can't add one to the history of a system-versioned table`;

  const counter = columns.find(({ extra }) => extra.includes('auto_increment'));
  const id = columns.find((column) => column.name.toLowerCase() === 'id' && canBeKey(column));
  const key = counter ?? id;
  const column = newColumn(table, version);
  if (!key) return column ?? `${showTable(table)} -- then add a primary key over columns that identify a row`;

  const name = quoted(key.name);
  const look = `SELECT ${name}, count(*) FROM ${quoted(table.schema, table.name)} GROUP BY ${name} HAVING count(*) > 1 LIMIT 1;`;
  const otherwise = counter || !column ? 'renumber those rows first' : column;
  const add = alterTable(table, `ADD PRIMARY KEY (${name})`);
  return `${printable(look)} -- then, if it returns no row: ${add} Otherwise: ${otherwise}`;
}

/** An invisible column as the key: statements without a list of columns go on as before. Undefined if there is no room. */
function newColumn(table: TableDetails, version: number): string | undefined {
  const { columns } = table;
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()));
  const name = ['id', 'row_id', 'dbvitals_row_id'].find((each) => !taken.has(each));
  const { row, page } = rowBytes(table, () => 4);
  if (name === undefined || columns.length >= MOST_COLUMNS || row + 10 > LONGEST_ROW || page > 8_000)
    return undefined;
  const hidden = version >= INVISIBLE_SINCE ? ' INVISIBLE' : '';
  return alterTable(
    table,
    `ADD COLUMN ${quoted(name)} bigint unsigned NOT NULL AUTO_INCREMENT${hidden} PRIMARY KEY`,
  );
}

/** Never NULL, stored, and short enough for an index of any row format. */
function canBeKey({ nullable, extra, dataType, characters }: Column): boolean {
  const whole =
    /int$|^decimal$|^uuid$|^binary$/.test(dataType) || (/char$/.test(dataType) && characters <= 191);
  return !nullable && !extra.includes('virtual') && whole;
}
