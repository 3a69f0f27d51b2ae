import { escapedName, hexOf, isPrintable, UNPRINTABLE } from '../../platform/text/clean-text.ts';
import type { Row } from '../fault.ts';

// A server, or a proxy before it, may answer anything, and psql runs what follows a backslash outside of quotes on the
// machine of the person who pastes it. So a text from a server is exactly a name, a literal, or what its column must be.

const BARE = '[a-z_][a-z0-9_]*';
const NAME = `(?:${BARE}|(?:U&)?"(?:[^"]|"")*")`;
const NAMES = `${NAME}(?:[./]${NAME})*`;
// A backslash means the same whatever the server says of standard_conforming_strings.
const LITERAL = String.raw`(?:'(?:[^'\\]|'')*'|E'(?:[^'\\]|''|\\\\|\\u[0-9A-F]{4}|\\U[0-9A-F]{8})*')`;
const TYPE_WORDS = '(?: (?:varying|precision|with|without|time|zone|year|month|day|hour|minute|second|to))*';
// Each word can be read in one way only: with two, a list of types would take twice as long with each of them.
const TYPE = String.raw`${NAME}(?:\.${NAME})?${TYPE_WORDS}(?:\([\w, -]*\)${TYPE_WORDS})?(?:\[\])*`;
const NUMBER = '-?[0-9]+(?:[.][0-9]+)?(?:e[+-]?[0-9]+)?';
/** Log sequence numbers and names of WAL files. */
const WAL = '[0-9A-F]+(?:/[0-9A-F]+|[.][0-9A-Za-z.]+)?';
/** An application, and the address that it comes from. */
const STANDBY = `${NAME}/[0-9a-f.:]+`;

const list = (part: string, separator = ', ') => `(?:${part})(?:${separator}(?:${part}))*`;
const VERSION = String.raw`[0-9][\w.]*(?: \((?!.*--)[\w.+~: -]+\))?`;
const EXTENSION_VERSION = String.raw`(?!.*--)[\w.+~-]+`;
const EQUALS = `(?:= ${LITERAL}|= NULL|IS NULL)`;
const SESSIONS = `datname ${EQUALS} AND usename ${EQUALS} AND application_name ${EQUALS}`;
const RETYPE = `ALTER COLUMN ${NAME} TYPE (?:${TYPE})`;

/** What the statements of the checks say of rows that they could not see. */
const UNSEEN = [
  'a sequence was being changed[.]',
  'an index is being built on a table with an invalid one[.]',
  'an invalid index may be one under construction[.]',
  'more than [0-9]+ narrow sequences, each locked when read before PostgreSQL 18[.]',
  'reading all sequences takes more than [0-9.]+ s[.]',
  'row-level security hides the statistics of some tables[.]',
  'some tables were never analyzed[.] Run ANALYZE;',
  'the statistics of some tables are hidden[.]',
  'the values of some sequences are hidden[.]',
];

/** Column → what its text must be, if that is not a name, a literal or a number. */
const SHAPES: Readonly<Record<string, string>> = {
  unseen: `Not measured: (?:${UNSEEN.join('|')})`,
  needs: `GRANT (?:SELECT ON ALL (?:TABLES|SEQUENCES) IN SCHEMA ${list(NAME)}|pg_monitor) TO ${NAME};`,
  of_them: SESSIONS,
  handle: SESSIONS,
  condition: `conname = ${LITERAL} AND (?:conrelid|contypid) = ${LITERAL}::reg(?:class|type)`,
  enable: list(`ALTER TABLE ${NAMES} ENABLE TRIGGER ${NAME};`, ' '),
  widen: list(`ALTER TABLE ${NAMES} ALTER COLUMN ${NAME} TYPE (?:bigint|numeric[(][0-9]+,[0-9]+[)]);`, ' '),
  mend: list(`ALTER TABLE ${NAMES} ${list(RETYPE)};`, ' '),
  columns: `${list(NAME)}|${list(`${NAME} is (?:${TYPE}), ${NAME} is (?:${TYPE})`, '; ')}`,
  names: list(NAME),
  partition_columns: list(NAME),
  needed_first: list(NAMES),
  parameters: list(NAMES),
  libraries: list(LITERAL),
  routine: String.raw`${NAMES}\((?:${list(TYPE, ', ?')})?\)`,
  object: 'prepared transaction',
  constraint_name: 'a constraint',
  kind: 'TABLE|MATERIALIZED VIEW|session|prepared transaction|slot|logical slot|active slot|standby',
  name: String.raw`[A-Za-z_][\w.]*`, // of a setting
  slot: '[a-z0-9_]+',
  reason: '[a-z_]+',
  version: VERSION,
  recorded: EXTENSION_VERSION,
  actual: EXTENSION_VERSION,
  installed: EXTENSION_VERSION,
  current: EXTENSION_VERSION,
};

const whole = (pattern: string) => new RegExp(`^(?:${pattern})$`, 'su');
const ANY = whole(`(?:${NAMES}|${LITERAL}|${NUMBER}|${WAL}|${STANDBY})?`);
const OTHERS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries(SHAPES).map(([column, pattern]) => [column, whole(pattern)]),
);

// No name or statement is longer; the patterns are not made for megabytes.
const LONGEST = 20_000;

/**
 * Returns a row whose texts are safe to show, to copy and to put into a statement. Each is a name as `quote_ident` writes
 * it, a literal as `quote_literal` writes it, or what its column must be by {@link SHAPES}. Any other text becomes one quoted
 * name. What does not print is written with an escape, as `U&"good\000Aone"` or `E'good\u000Aone'`: to PostgreSQL it is the
 * same.
 */
export function trustedRow(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, trustedValue(column, value)]),
  );
}

/** A text of a column, as {@link trustedRow} has it. */
export function trustedText(column: string, text: string): string {
  if (text.length > LONGEST) return quotedName(text.slice(0, 200));
  const shown = isPrintable(text) ? text : printableSql(text);
  const isExpected = ANY.test(shown) || OTHERS.get(column)?.test(shown) === true;
  return isExpected ? shown : quotedName(text);
}

/** A name in quotes, whatever is in it. */
export function quotedName(name: string): string {
  return isPrintable(name) ? `"${name.replaceAll('"', '""')}"` : escapedName(name);
}

/** A text as a literal that is read alike with and without standard_conforming_strings. */
export function literal(text: string): string {
  const quoted = text.replaceAll("'", "''");
  return printableSql(text.includes('\\') ? `E'${quoted.replaceAll('\\', '\\\\')}'` : `'${quoted}'`);
}

function trustedValue(column: string, value: unknown): unknown {
  if (typeof value === 'string') return trustedText(column, value);
  if (Array.isArray(value)) return value.map((each) => trustedValue(column, each));
  // The server says of what type a column is: of JSON it could be anything.
  return typeof value === 'object' && !(value instanceof Date) ? null : value;
}

// A literal, or a quoted identifier, as quote_literal and quote_ident write them. A quote without an end takes the rest of the
// text, which would be read anew at each further quote.
const QUOTED = /(E?)'((?:[^'\\]|''|\\.)*)'|"((?:[^"]|"")*)"|['"].*/gsu;
const EACH = new RegExp(UNPRINTABLE, 'gu');

/** SQL, or part of it, with each unprintable character in a quoted name or literal escaped. */
export function printableSql(sql: string): string {
  return sql.replace(QUOTED, (quoted, e: string, text?: string, name?: string) => {
    if (!UNPRINTABLE.test(quoted)) return quoted;
    if (text === undefined) return name === undefined ? quoted : escapedName(name.replaceAll('""', '"'));
    const escaped = e === '' ? text.replaceAll('\\', '\\\\') : text;
    return `E'${escaped.replace(EACH, escapedInLiteral)}'`;
  });
}

function escapedInLiteral(character: string): string {
  const code = hexOf(character);
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code}`;
}
