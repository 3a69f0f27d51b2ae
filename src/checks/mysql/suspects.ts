import { numberIn, textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { exactName } from './exact-name.ts';
import { fileOfTable, schemaOfFile, tableOfFile } from './file-names.ts';
import { isMariaDb } from './flavour.ts';
import { exactly } from './quote.ts';
import { ofCustomers } from './table-condition.ts';

// A server opens a table for its sizes, which takes 0.05 ms on MySQL and 0.2 ms on MariaDB; MariaDB also for its
// AUTO_INCREMENT and the types of its indexes. These statements find the tables that are worth it without opening any. They
// take no lock on a table either: MySQL's INNODB_TABLES, INNODB_INDEXES and INNODB_TABLESTATS do, and wait behind ALTER TABLE.

/** What the views of InnoDB require, where a check reads them only on MariaDB. */
export const dictionaryPrivilege = (version: number): string[] =>
  isMariaDb(version) ? ['PROCESS ON *.*'] : [];

// What InnoDB makes for itself has names too: `#sql` while a table is altered, `FTS_0000000000000012_CONFIG` for a full-text index.
const OF_CUSTOMERS = `name like '%/%' and name not like '%/#sql%' and name not like 'mysql/%' and name not like 'sys/%'
     and (name not like '%/FTS%' or name not regexp '/FTS_[0-9a-f]{16}_')`;

/**
 * The columns of foreign keys, on either side; or only the first one of each. InnoDB's views are cheap, KEY_COLUMN_USAGE opens
 * every table of MariaDB. Gathered by a union, because MariaDB would compare all pairs in a join.
 */
export const foreignKeyColumns = (version: number, { onlyFirst = false } = {}) => {
  const mariaDb = isMariaDb(version);
  const prefix = mariaDb ? 'innodb_sys_' : 'innodb_';
  const facts = `
                   (select ${exactName('id')} as id, for_name, ref_name, null as for_column, null as ref_column
                      from information_schema.${prefix}foreign
                     union all
                    select ${exactName('id')}, null, null, for_col_name, ref_col_name
                      from information_schema.${prefix}foreign_cols${onlyFirst ? ` where pos = ${mariaDb ? 0 : 1}` : ''}
                   ) fact`;
  // Of one column each, a group takes less time than a window.
  const pairs = onlyFirst
    ? `select max(for_name) as for_name, max(ref_name) as ref_name,
                         max(for_column) as for_column, max(ref_column) as ref_column
                    from${facts}
                   group by id`
    : `select max(for_name) over (partition by id) as for_name,
                         max(ref_name) over (partition by id) as ref_name, for_column, ref_column
                    from${facts}`;
  return `
  select ${mariaDb ? schemaOfFile('name') : `substring_index(name, '/', 1)`} as table_schema,
         ${mariaDb ? tableOfFile('name') : `substring_index(name, '/', -1)`} as table_name, column_name
    from (select if(side.refers, for_name, ref_name) as name, if(side.refers, for_column, ref_column) as column_name
            from (${pairs}) foreign_key
           cross join (select 1 as refers union all select 0) side
           where for_column is not null
         ) own`;
};

/** MySQL: the bytes of each table's files. It names a table as it is, and a partition `shop/orders#p#p0`. */
export const sizesOfFiles = `
  select ${exactName(`substring_index(substring_index(name, '#P#', 1), '#p#', 1)`)} as name, sum(file_size) as bytes
    from information_schema.innodb_tablespaces
   where name like '%/%' and name not like 'sys/%'
   group by 1`;

/** How many of the largest tables the checks of large indexes look at. */
export const LARGEST = 500;

/** From this share of their threshold on, these checks look at a table, so that its measures show how it grows. */
export const NEAR = 0.9;

/** More than any file has. */
const UNKNOWN = '1e18';

/** In a run, MariaDB reads so many files at most, for 0.2 ms of its processor time each. */
export const UNREAD = 4_000;

/**
 * The largest tables, by their files. First those of unknown size: without a file of their own, or with one that MariaDB has
 * not read since it started.
 */
export const largestTables = (version: number, limit: number) =>
  isMariaDb(version)
    ? {
        limit,
        before: unreadOfSchemas,
        sql: (rows: readonly Row[]) => largestFiles(limit, leftUnread(rows)),
        leavesOut: (rows: readonly Row[]) => leftUnread(rows).length > 0,
      }
    : { limit, sql: largestOfMysql(limit) };

const files = `(select name, file_size as bytes, -1 as unread from information_schema.innodb_sys_tablespaces
                   union all
                  select name, null, space <> 0 from information_schema.innodb_sys_tables) file
           where ${OF_CUSTOMERS}`;

// MariaDB reads a table's file when the table is first used, together with those of all tables that foreign keys link to it.
// Those lie in the same schema. So a run reads the files of some schemas, and leaves out those of others, until they are used.
const unreadOfSchemas = `
  select ${exactName(`substring_index(name, '/', 1)`)} as unread_schema, sum(unread) + 0e0 as unread_files
    from ${files}
   group by 1
  having sum(unread) > 0
   order by 2, 1`;

/** The schemas whose unread files are too many for this run, as in the files' names. */
function leftUnread(rows: readonly Row[]): string[] {
  let read = 0;
  const left: string[] = [];
  for (const row of rows) {
    if (!('unread_schema' in row)) continue;
    read += numberIn(row, 'unread_files');
    if (read > UNREAD) left.push(textIn(row, 'unread_schema'));
  }
  return left;
}

const largestFiles = (limit: number, left: readonly string[]) => `
  select ${schemaOfFile('name')} as suspect_schema, ${tableOfFile('name')} as suspect_table,
         coalesce(bytes, ${UNKNOWN}) + 0e0 as suspect_bytes
    from (select ${fileOfTable('name')} as name, sum(bytes) as bytes
            from ${files}
           group by 1${
             left.length > 0
               ? `
          having sum(bytes) is not null or max(unread) = 0 or substring_index(name, '/', 1) not in (${left.map(exactly).join(', ')})`
               : ''
           }
         ) own
   order by suspect_bytes desc
   limit ${limit + 1}`;

const largestOfMysql = (limit: number) => `
  select own.table_schema as suspect_schema, own.table_name as suspect_table,
         coalesce(file.bytes, ${UNKNOWN}) + 0e0 as suspect_bytes
    from (select table_schema, table_name, ${exactName(`concat(table_schema, '/', table_name)`)} as name
            from information_schema.tables
           where ${ofCustomers()} and table_type = 'BASE TABLE') own
    left join (${sizesOfFiles}) file on file.name = own.name
   order by suspect_bytes desc
   limit ${limit + 1}`;

/** MariaDB: tables without a primary key or a unique key over columns that are not null, so that InnoDB made its own (type 1). */
export const tablesWithoutKey = (limit: number) => `
  select distinct ${schemaOfFile('name')} as suspect_schema, ${tableOfFile('name')} as suspect_table, 0e0 as suspect_bytes
    from (select t.name
            from information_schema.innodb_sys_indexes i
            join information_schema.innodb_sys_tables t on t.table_id = i.table_id
           where i.type = 1) file
   where ${OF_CUSTOMERS}
   limit ${limit + 1}`;

/** MariaDB: tables with two indexes that begin with the same column. These columns of the view open only definitions. */
export const tablesWithSimilarIndexes = (limit: number) => `
  select table_schema as suspect_schema, table_name as suspect_table, 0e0 as suspect_bytes
    from (select ${exactName('table_schema')} as table_schema, ${exactName('table_name')} as table_name, column_name
            from information_schema.statistics
           where ${ofCustomers()} and seq_in_index = 1
         ) leading_column
   group by table_schema, table_name
  having count(column_name) > count(distinct column_name)
   limit ${limit + 1}`;

/** MySQL: tables without a primary key, and those with two indexes that begin with the same column. */
export const tablesByIndexes = (limit: number) => `
  select table_schema as suspect_schema, table_name as suspect_table, 0e0 as suspect_bytes
    from (select ${exactName('table_schema')} as table_schema, ${exactName('table_name')} as table_name,
                 1 as is_table, 0 as is_primary, null as leading_column
            from information_schema.tables
           where ${ofCustomers()} and table_type = 'BASE TABLE'
           union all
          select ${exactName('table_schema')}, ${exactName('table_name')},
                 0, index_name = 'PRIMARY', if(seq_in_index = 1, column_name, null)
            from information_schema.statistics
           where ${ofCustomers()}
         ) fact
   group by table_schema, table_name
  having max(is_table) = 1
     and (max(is_primary) = 0 or count(leading_column) > count(distinct leading_column))
   limit ${limit + 1}`;

const COLLATIONS = 1_000;

/** The collations of each schema's columns. Two checks read them by this one statement. */
export const collationsOfSchemas = {
  limit: COLLATIONS,
  everyEngine: true,
  allIfMore: true,
  sql: `
  select ${exactName('table_schema')} as suspect_schema, '' as suspect_table, 0e0 as suspect_bytes,
         collation_name as collation
    from information_schema.columns
   where ${ofCustomers()} and collation_name is not null
   group by 1, 2, 3, 4
   limit ${COLLATIONS + 1}`,
} as const;
