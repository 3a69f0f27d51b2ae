import { escapedName, isPrintable } from '../../platform/text/clean-text.ts';
import { numberIn, textIn } from '../columns.ts';
import { counted } from '../wording.ts';
import { alterTable, definitionOf, lookAtTable, rowBytes, showTable } from './alter-table.ts';
import { exactName } from './exact-name.ts';
import { printable, quoted } from './quote.ts';
import { collationsOfSchemas } from './suspects.ts';
import { tableCheck, tableOf } from './table-check.ts';
import type { TableCondition } from './table-condition.ts';
import type { Column, TableDetails } from './table-details.ts';

/** Character sets with all of Unicode, and those of codes and bytes. */
const MODERN = ['utf8mb4', 'utf16', 'utf16le', 'utf32', 'gb18030', 'ascii', 'binary'];

// Columns that hold codes: nothing is lost where no other characters come. By type: a short CHAR, ENUM and SET of ASCII,
// a short text that is compared by its bytes. By name: what programs write and people don't.
const code = `(
             data_type = 'char' and character_maximum_length <= 64
             or data_type in ('enum', 'set') and column_type not regexp '[^ -~]'
             or data_type = 'varchar' and character_maximum_length <= 64 and right(collation_name, 4) = '_bin'
             or data_type = 'varchar' and lower(column_name) regexp
                '(^|_)(id|uid|uuid|guid|code|key|hash|md5|sha1|sha256|token|checksum|digest|etag|ip|locale|lang|currency|mime|type|status|version)$'
           )`;

// Gathered by a union, because MariaDB would compare all pairs in a join.
const candidates = (_version: number, ofTables: TableCondition) => `
  select table_schema, table_name, sum(legacy) as columns,
         group_concat(distinct charset order by charset separator ', ') as charsets
    from (select ${exactName('table_schema')} as table_schema, ${exactName('table_name')} as table_name,
                 character_set_name as charset, 1 as legacy, not ${code} as in_words, 0 as is_table
            from information_schema.columns
           where ${ofTables()}
             and character_set_name not in (${MODERN.map((name) => `'${name}'`).join(', ')})
           union all
          select ${exactName('table_schema')}, ${exactName('table_name')}, null, 0, 0, 1
            from information_schema.tables
           where ${ofTables()} and table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
         ) fact
   group by table_schema, table_name
  having max(in_words) = 1 and max(is_table) = 1`;

/** Tables with text in a character set that lacks most characters: others are rejected or become `?`. */
export const charsetLegacy = tableCheck({
  id: 'MY_CHARSET_LEGACY',
  title: 'Legacy character set',
  category: 'schema',
  maxSeverity: 'info',
  candidates,
  suspects: () => ({ ...collationsOfSchemas, of: (row) => isLegacy(textIn(row, 'collation')) }),
  worstFirst: 'columns desc, table_schema, table_name',
  perSchema: { noun: "tables with text that can't store every character", advice: 'convert them to utf8mb4' },
  details: { foreignKeys: true },
  fault: (row, _, __, details) => {
    const table = tableOf(row);
    const columns = counted(numberIn(row, 'columns'), 'column');
    return {
      severity: 'info',
      object: table,
      metricLine: `table ${table} has ${columns} in ${textIn(row, 'charsets')}, which can't store every character; convert it to utf8mb4.`,
      remediation: details ? convert(details) : lookAtTable(row),
    };
  },
  passMessage: 'Every text column can store every character.',
  countMetric: 'legacy_charset_tables_count',
});

function convert(table: TableDetails): string {
  const legacy = table.columns.filter(({ collation }) => isLegacy(collation));
  const other = legacy.find(({ collation }) => wide(collation) === undefined);
  if (other) return lookAtCharacters(table, other);
  const problem = problemOf(table, legacy);
  const clauses = problem === undefined ? toClauses(table, legacy) : undefined;
  return clauses
    ? alterTable(table, clauses, { copies: true })
    : `${showTable(table)} -- then ${problem ?? 'give each of its text columns the same kind of collation of utf8mb4 with MODIFY, and repeat the rest of its definition'}`;
}

function isLegacy(collation: string | undefined): boolean {
  return collation !== undefined && !MODERN.includes(toCharset(collation));
}

/** `utf8mb3_bin` → `utf8mb3`. */
function toCharset(collation: string): string {
  return collation.split('_')[0] ?? '';
}

/** The collation of utf8mb4 that compares the same: `utf8mb3_bin` → `utf8mb4_bin`. Undefined for other character sets. */
function wide(collation: string | undefined): string | undefined {
  const [, rest] = /^utf8(?:mb3)?_(\w+)$/.exec(collation ?? '') ?? [];
  return rest === undefined || rest.includes('mysql500') || rest === 'tolower_ci'
    ? undefined
    : `utf8mb4_${rest}`;
}

/** Why the server would refuse the conversion, as what to do instead; undefined if it accepts it. */
function problemOf(table: TableDetails, legacy: Column[]): string | undefined {
  const { columns, parts, foreignKeyColumns, options, engine, rowFormat, pageBytes } = table;
  if (legacy.some(({ name }) => foreignKeyColumns.has(name)))
    return 'drop the foreign keys of its text columns, convert the tables of both sides to utf8mb4, and add the keys again';
  if (
    columns.some(({ extra }) => /virtual|stored|persistent/.test(extra)) ||
    parts.some(({ column }) => column === undefined)
  )
    return 'convert its text columns to utf8mb4 with MODIFY, and mind the expressions that read them';
  if (options.includes('partitioned'))
    return 'convert its text columns to utf8mb4 with MODIFY: a row may move to another partition';
  const bytesOf = ({ collation }: Column) => (collation === undefined ? 0 : 4);
  const { row, page } = rowBytes(table, bytesOf);
  if (row > 65_535 || page > 8_000)
    return 'shorten its columns or make long ones TEXT, and convert it to utf8mb4: its rows would be too long';
  const dynamic = /^(?:dynamic|compressed)$/i.test(rowFormat);
  const [wholeLimit, partLimit] =
    engine === 'InnoDB' ? [(3_072 * pageBytes) / 16_384, dynamic ? 3_072 : 767] : [1_000, 1_000];
  const lengths = new Map<string, number>();
  for (const { index, column: name, prefix, kind } of parts) {
    if (kind === 'FULLTEXT' || kind === 'SPATIAL') continue;
    const column = columns.find((each) => each.name === name);
    const bytes = 2 + (column?.characters ? (prefix ?? column.characters) * 4 : (prefix ?? 30));
    if (bytes - 2 > partLimit) return tooLong(index);
    lengths.set(index, (lengths.get(index) ?? 0) + bytes);
  }
  const [longest] = [...lengths].find(([, bytes]) => bytes - 2 > wholeLimit) ?? [];
  return longest === undefined ? undefined : tooLong(longest);
}

function tooLong(index: string): string {
  return `make its index ${shown(index)} shorter, by a prefix or in ROW_FORMAT = DYNAMIC, and convert it to utf8mb4: the index would be too long`;
}

/** A name in the words of the steps. */
function shown(name: string): string {
  return isPrintable(name) ? quoted(name) : escapedName(quoted(name));
}

/** Undefined if the definition of a column is not known whole. */
function toClauses(table: TableDetails, legacy: Column[]): ((withoutEscapes: boolean) => string) | undefined {
  const texts = table.columns.filter(({ collation }) => collation !== undefined);
  const [collation, ...others] = new Set([...texts.map((column) => column.collation), table.collation]);
  // CONVERT TO keeps everything else of the columns, but makes TEXT longer and gives all of them the same collation.
  const simple =
    others.length === 0 && !texts.some(({ dataType }) => /^(?:tiny|medium)?text$/.test(dataType));
  if (simple) return () => `CONVERT TO CHARACTER SET utf8mb4 COLLATE ${wide(collation)}`;
  const definitions = legacy.map((column) => {
    const collation = wide(column.collation);
    return collation === undefined ? undefined : definitionOf(column, table, { collation });
  });
  const known = definitions.filter((definition) => definition !== undefined);
  if (known.length < definitions.length) return undefined;
  const ofTable = wide(table.collation);
  return (withoutEscapes) =>
    [
      ...known.map((definition) => `MODIFY ${definition(withoutEscapes)}`),
      ...(ofTable === undefined ? [] : [`DEFAULT CHARACTER SET utf8mb4 COLLATE ${ofTable}`]),
    ].join(', ');
}

/** Text in latin1 and the like may be UTF-8 that was stored byte by byte: only its look tells. */
function lookAtCharacters(table: TableDetails, { name, collation = '' }: Column): string {
  const column = quoted(name);
  const look = `SELECT DISTINCT ${column} FROM ${quoted(table.schema, table.name)} WHERE ${column} <> CONVERT(${column} USING ascii) LIMIT 20;`;
  const kind = collation.endsWith('_bin')
    ? 'utf8mb4_bin'
    : collation.endsWith('_cs')
      ? 'a collation of utf8mb4 that ends in _cs'
      : 'a collation of utf8mb4 that ends in _ci';
  return `${printable(look)} -- then, if these read well: convert the text columns to utf8mb4 with MODIFY, each to its kind of collation (this one: ${kind}), and repeat the rest of its definition. If they are garbled, their bytes are UTF-8 already: make the column binary first, then utf8mb4`;
}
