import { numberIn, onlyRow, textIn, textOrNone } from '../columns.ts';
import type { Row } from '../fault.ts';
import { isMariaDb } from './flavour.ts';
import { quoted } from './quote.ts';
import { foreignKeyColumns } from './suspects.ts';

/** What a statement that alters a table must know of it. */
export interface TableDetails {
  schema: string;
  name: string;
  mariaDb: boolean;
  /** MariaDB: it keeps the history of its rows. */
  versioned: boolean;
  /** Such as `InnoDB`. */
  engine: string;
  /** Such as `Dynamic`. */
  rowFormat: string;
  /** Bytes of its rows and indexes. */
  bytes: number;
  /** Such as `partitioned` or `row_format=FIXED pack_keys=1`, in lower case. */
  options: string;
  collation: string;
  columns: Column[];
  /** The parts of its indexes. */
  parts: IndexPart[];
  /** Its columns that are on either side of a foreign key. Empty unless the check asked for them. */
  foreignKeyColumns: ReadonlySet<string>;
  /** `@@innodb_page_size`. */
  pageBytes: number;
  /** The server refuses tables without a primary key. */
  requiresPrimaryKey: boolean;
}

export interface Column {
  name: string;
  /** Such as `varchar`. */
  dataType: string;
  /** With length, sign and values: `int unsigned`, `enum('a','b')`. */
  type: string;
  nullable: boolean;
  /** As the server shows it: MySQL a value or an expression, MariaDB what follows DEFAULT. */
  defaultValue?: string | undefined;
  /** Such as `auto_increment`, in lower case. */
  extra: string;
  /** Of a text column, such as `utf8mb3_bin`. */
  collation?: string | undefined;
  /** The length of a text in characters; 0 if it is no text. */
  characters: number;
  comment: string;
  /** MariaDB: it has a CHECK of its own. */
  checked: boolean;
}

interface IndexPart {
  index: string;
  /** Such as BTREE. */
  kind: string;
  /** From 1. */
  place: number;
  /** Undefined if it is an expression. */
  column?: string | undefined;
  /** The length of a prefix in characters. */
  prefix?: number | undefined;
}

/** A table of which a check wants to know the details. */
type Named = Pick<TableDetails, 'schema' | 'name'>;

// MariaDB opens only the table that both equations name. Identifiers lie in the Basic Multilingual Plane.
const only = ({ schema, name }: Named, prefix = '') =>
  `${prefix}table_schema = ${identifier(schema)} and ${prefix}table_name = ${identifier(name)}`;
const identifier = (name: string) => `_utf8mb3 0x${Buffer.from(name).toString('hex')}`;

/**
 * The statements that read the details of tables. The foreign keys come from KEY_COLUMN_USAGE: InnoDB's dictionary has the
 * names of files, which can't be turned back for every name. But KEY_COLUMN_USAGE opens every table of MariaDB, so with
 * `manyTables` the dictionary has to do: MariaDB refuses a statement that a foreign key forbids.
 */
export function detailStatements(
  tables: readonly Named[],
  version: number,
  { foreignKeys = false, manyTables = false } = {},
): string[] {
  if (tables.length === 0) return [];
  const each = (select: (table: Named) => string) => tables.map(select).join('\n union all ');
  const mariaDb = isMariaDb(version);
  const required = mariaDb ? '@@innodb_force_primary_key' : '@@sql_require_primary_key';
  return [
    `select 'server' as detail, @@innodb_page_size + 0 as page_bytes, ${required} + 0 as requires_primary_key,
            ${mariaDb ? 1 : 0} as mariadb`,
    each(
      (table) => `
    select 'table' as detail, table_schema as of_schema, table_name as of_table, table_type as table_type,
           engine as engine, data_length + index_length + 0e0 as bytes, row_format as row_format, lower(create_options) as options,
           table_collation as collation
      from information_schema.tables where ${only(table)}`,
    ),
    each(
      (table) => `
    select 'column' as detail, table_schema as of_schema, table_name as of_table, column_name as name,
           ordinal_position + 0 as place, data_type as data_type, column_type as type, is_nullable as nullable,
           column_default as default_value, lower(extra) as extra, collation_name as collation,
           coalesce(if(collation_name is null, 0, character_maximum_length), 0) + 0e0 as characters,
           column_comment as comment
      from information_schema.columns where ${only(table)}`,
    ),
    each(
      (table) => `
    select 'part' as detail, table_schema as of_schema, table_name as of_table, index_name as name,
           index_type as kind, seq_in_index + 0 as place, column_name as column_name, sub_part + 0e0 as prefix
      from information_schema.statistics where ${only(table)}`,
    ),
    ...(mariaDb
      ? [
          each(
            (table) => `
    select 'check' as detail, constraint_schema as of_schema, table_name as of_table, constraint_name as column_name
      from information_schema.check_constraints
     where constraint_schema = ${identifier(table.schema)} and table_name = ${identifier(table.name)}
       and level = 'Column'`,
          ),
        ]
      : []),
    ...(foreignKeys && mariaDb && manyTables
      ? [
          `
    select 'reference' as detail, table_schema as of_schema, table_name as of_table, column_name as column_name,
           table_schema as other_schema, table_name as other_table, column_name as other_column
      from (${foreignKeyColumns(version)}) own
     where ${tables.map((table) => only(table)).join(' or ')}`,
        ]
      : foreignKeys
        ? [keyColumnReferences]
        : []),
  ];
}

const keyColumnReferences = `
    select 'reference' as detail, k.table_schema as of_schema, k.table_name as of_table, k.column_name as column_name,
           k.referenced_table_schema as other_schema, k.referenced_table_name as other_table,
           k.referenced_column_name as other_column
      from information_schema.key_column_usage k
     where k.referenced_table_name is not null`;

/** The details of each table that the statements of {@link detailStatements} read, by its quoted name. */
export function tableDetails(rows: readonly Row[]): ReadonlyMap<string, TableDetails> {
  const kind = (name: string) => rows.filter((row) => row['detail'] === name);
  const tables = kind('table');
  if (tables.length === 0) return new Map();
  const server = onlyRow(kind('server'));
  const [columns, parts, checks] = [byTable(kind('column')), byTable(kind('part')), byTable(kind('check'))];
  const referring = new Map<string, Set<string>>();
  const refer = (table: string, column: string) =>
    referring.set(table, (referring.get(table) ?? new Set()).add(column));
  for (const row of kind('reference')) {
    refer(tableOf(row), textIn(row, 'column_name'));
    refer(quoted(textIn(row, 'other_schema'), textIn(row, 'other_table')), textIn(row, 'other_column'));
  }
  return new Map(
    tables.map((row): [string, TableDetails] => {
      const table = tableOf(row);
      const checked = new Set((checks.get(table) ?? []).map((check) => textIn(check, 'column_name')));
      return [
        table,
        {
          schema: textIn(row, 'of_schema'),
          name: textIn(row, 'of_table'),
          mariaDb: numberIn(server, 'mariadb') === 1,
          versioned: textIn(row, 'table_type') === 'SYSTEM VERSIONED',
          engine: textOrNone(row, 'engine') ?? '',
          bytes: row['bytes'] === null ? 0 : numberIn(row, 'bytes'),
          rowFormat: textOrNone(row, 'row_format') ?? '',
          options: textOrNone(row, 'options') ?? '',
          collation: textOrNone(row, 'collation') ?? '',
          columns: (columns.get(table) ?? [])
            .sort((one, other) => numberIn(one, 'place') - numberIn(other, 'place'))
            .map((column) => columnOf(column, checked)),
          parts: (parts.get(table) ?? []).map((part) => ({
            index: textIn(part, 'name'),
            kind: textIn(part, 'kind'),
            place: numberIn(part, 'place'),
            column: textOrNone(part, 'column_name'),
            prefix: part['prefix'] === null ? undefined : numberIn(part, 'prefix'),
          })),
          foreignKeyColumns: referring.get(table) ?? new Set(),
          pageBytes: numberIn(server, 'page_bytes'),
          requiresPrimaryKey: numberIn(server, 'requires_primary_key') === 1,
        },
      ];
    }),
  );
}

function columnOf(row: Row, checked: ReadonlySet<string>): Column {
  const name = textIn(row, 'name');
  return {
    name,
    dataType: textIn(row, 'data_type'),
    type: textIn(row, 'type'),
    nullable: textIn(row, 'nullable') === 'YES',
    defaultValue: textOrNone(row, 'default_value'),
    extra: textOrNone(row, 'extra') ?? '',
    collation: textOrNone(row, 'collation'),
    characters: numberIn(row, 'characters'),
    comment: textIn(row, 'comment'),
    checked: checked.has(name),
  };
}

function byTable(rows: Row[]): Map<string, Row[]> {
  return Map.groupBy(rows, tableOf);
}

function tableOf(row: Row): string {
  return quoted(textIn(row, 'of_schema'), textIn(row, 'of_table'));
}
