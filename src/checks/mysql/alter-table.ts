import { textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { printable, quoted, stringLiteral } from './quote.ts';
import type { Column, TableDetails } from './table-details.ts';

/** The clauses of ALTER TABLE, for both meanings of a backslash in a string (see `stringLiteral`). */
type Clauses = string | ((withoutEscapes: boolean) => string);

// A strict mode, but one that accepts the zero dates and invalid ones that the table may hold. Most ALTERs reject them.
const LENIENT = `'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ALLOW_INVALID_DATES'`;

/**
 * A statement that alters a table and can be pasted: any dates in its rows and defaults are accepted, and MariaDB also
 * alters the history of a system-versioned table.
 *
 * @param copies The server copies all rows, and so looks at their dates.
 */
export function alterTable(table: TableDetails, clauses: Clauses, { copies = false } = {}): string {
  const { schema, name, columns, engine, versioned } = table;
  const text = typeof clauses === 'string' ? () => clauses : clauses;
  if (isFrozen(table) && !/\bPRIMARY KEY\b/.test(text(false))) return keyFirst(table);
  const history = versioned ? 'SET STATEMENT system_versioning_alter_history = KEEP FOR ' : '';
  const statement = (withoutEscapes: boolean) =>
    `${history}ALTER TABLE ${quoted(schema, name)} ${text(withoutEscapes)};`;
  const alter = printable(statement(false), statement(true));
  const dates = columns.filter(({ dataType }) => ['date', 'datetime', 'timestamp'].includes(dataType));
  const looksAtDates =
    ((copies || engine !== 'InnoDB') && dates.length > 0) ||
    dates.some(({ defaultValue = '' }) => /^'?\d{4}-(?:00|\d\d-00)/.test(defaultValue));
  if (!looksAtDates) return alter;
  return `SET @dbvitals_mode = @@sql_mode, sql_mode = ${LENIENT}; ${alter} SET sql_mode = @dbvitals_mode;`;
}

/** With sql_require_primary_key, MySQL refuses every change of a table without a primary key. */
function isFrozen({ requiresPrimaryKey, parts, mariaDb }: TableDetails): boolean {
  return requiresPrimaryKey && !mariaDb && !parts.some(({ index }) => index === 'PRIMARY');
}

function keyFirst(table: TableDetails): string {
  return `${showTable(table)} -- then add a primary key first, because sql_require_primary_key keeps a table without one from being changed, and run the check again`;
}

/**
 * A statement that hides an index from queries, which is undone at once, and then what drops it. A hint that names the index
 * fails from then on, as after a DROP.
 */
export function hideIndex(table: TableDetails, index: string): string {
  const hidden = table.mariaDb ? 'IGNORED' : 'INVISIBLE';
  if (isFrozen(table)) return keyFirst(table);
  return `${alterTable(table, `ALTER INDEX ${index} ${hidden}`)} -- after a month in which nothing needed it, drop it`;
}

/** A read-only look at the table's definition. */
export function showTable({ schema, name }: Pick<TableDetails, 'schema' | 'name'>): string {
  return printable(`SHOW CREATE TABLE ${quoted(schema, name)};`);
}

/** The steps for a candidate whose table is gone, or changed its name, since the check found it. */
export function lookAtTable(row: Row): string {
  const table = { schema: textIn(row, 'table_schema'), name: textIn(row, 'table_name') };
  return `${showTable(table)} -- then wait for the next run: the table changed during this one`;
}

/** What changes in a column's definition. */
interface Change {
  /** Such as `bigint unsigned`. */
  type?: string;
  /** Such as `utf8mb4_bin`. */
  collation?: string;
}

/**
 * A column's definition after a change, with everything else as it is. Undefined if `information_schema` doesn't show
 * all of it: MODIFY would drop the rest.
 */
export function definitionOf(
  column: Column,
  { mariaDb }: TableDetails,
  { type = column.type, collation }: Change,
): ((withoutEscapes: boolean) => string) | undefined {
  const { extra, checked, comment } = column;
  const known = extra
    .replace(/auto_increment|invisible|without system versioning/g, '')
    .replaceAll(',', '')
    .trim();
  const fallback = defaultOf(column, mariaDb);
  if (known !== '' || checked || fallback === undefined || /\\|\/\*/.test(type)) return undefined;
  return (withoutEscapes) =>
    [
      quoted(column.name),
      type,
      collation === undefined ? '' : `CHARACTER SET utf8mb4 COLLATE ${collation}`,
      column.nullable ? 'NULL' : 'NOT NULL',
      fallback,
      extra.includes('auto_increment') ? 'AUTO_INCREMENT' : '',
      extra.includes('invisible') ? 'INVISIBLE' : '',
      comment === '' ? '' : `COMMENT ${stringLiteral(comment, withoutEscapes)}`,
      extra.includes('without system versioning') ? 'WITHOUT SYSTEM VERSIONING' : '',
    ]
      .filter((word) => word !== '')
      .join(' ');
}

/** `DEFAULT …`, empty if there is none. Undefined if the server shows it in another form than it reads. */
function defaultOf({ defaultValue, dataType }: Column, mariaDb: boolean): string | undefined {
  if (defaultValue === undefined || (mariaDb && defaultValue === 'NULL')) return '';
  if (defaultValue.includes('\\')) return undefined;
  if (mariaDb) return isOneExpression(defaultValue) ? `DEFAULT ${defaultValue}` : undefined;
  // Of other types an expression can't be told from a value.
  return /char|enum|set/.test(dataType) ? `DEFAULT ${stringLiteral(defaultValue)}` : undefined;
}

const UNIT = '(?:microsecond|second|minute|hour|day|week|month|quarter|year)';
const OPERAND = String.raw`\s*[-+!~]?\s*(?:interval\s+[\w.]+\s+${UNIT}\b|[\w.]+)`;
const OPERATOR = String.raw`\s*(?:\|\||&&|<<|>>|<=>|[<>!]=|<>|[-+*/%<>=&|^])`;
// The pattern is not made for more, and each level of parentheses is another pass.
const LONGEST_EXPRESSION = 1_000;
const EXPRESSION = new RegExp(`^${OPERAND}(?:${OPERATOR}${OPERAND})*\\s*$`, 'i');

/**
 * Whether a text is an expression and nothing behind it: no comment, no further clause of the column, no end of the statement.
 * Outside of parentheses an operator stands between two words.
 */
function isOneExpression(text: string): boolean {
  if (text.length > LONGEST_EXPRESSION) return false;
  let plain = text.replace(/'(?:[^']|'')*'|`(?:[^`]|``)*`/g, 'x');
  for (let inner = ''; inner !== plain; ) {
    inner = plain;
    plain = plain.replace(/\([\w\s,.+*/%<>=!&|^~-]*\)/g, 'x');
  }
  return EXPRESSION.test(plain) && !/--|\/\*/.test(text.replace(/'(?:[^']|'')*'/g, ''));
}

const LONG_COLUMN = 40;

/**
 * The longest row, with each text column at `bytes` a character: what MySQL counts (at most 65,535), and what InnoDB
 * keeps on the page (at most 8,126 with pages of 16 kB). Both are upper bounds.
 */
export function rowBytes(
  { columns, rowFormat }: TableDetails,
  bytesOf: (column: Column) => number,
): { row: number; page: number } {
  // The older formats keep 768 bytes of a long column on the page, and 20 for the way to the rest.
  const inline = /^(?:dynamic|compressed)$/i.test(rowFormat) ? LONG_COLUMN : 788;
  let [row, page] = [0, 0];
  for (const column of columns) {
    const { dataType, type } = column;
    const [, length] = /^(?:var)?binary\((\d+)\)/.exec(type) ?? [];
    const long = /text|blob|json|geometry|point|linestring|polygon/.test(dataType);
    const bytes = long
      ? 0
      : Math.max(column.characters * bytesOf(column), Number(length ?? 0), dataType === 'decimal' ? 30 : 8);
    row += long ? 12 : bytes + 2;
    page += long ? inline : dataType === 'char' && inline === LONG_COLUMN ? bytes : Math.min(bytes, inline);
  }
  return { row, page };
}
