import { escapedName, hexOf, isPrintable, UNPRINTABLE } from '../../vocabulary/clean-text.ts';
import type { Row } from '../check.ts';

// A literal, or a quoted identifier, as quote_literal and quote_ident write them.
const QUOTED = /(E?)'((?:[^'\\]|''|\\.)*)'|"((?:[^"]|"")*)"/gsu;
const EACH = new RegExp(UNPRINTABLE, 'gu');

/**
 * A row whose names and literals can be shown, copied and pasted: one with a line break, say, is written with an
 * escape, as `U&"good\000Aone"` or `E'good\u000Aone'`. To PostgreSQL it is the same name. Other texts stay.
 */
export function printableRow(row: Row): Row {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, printableValue(value)]));
}

function printableValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(printableValue);
  return typeof value === 'string' && !isPrintable(value) ? printableSql(value) : value;
}

/** SQL, or part of it, with each unprintable character in a quoted name or literal escaped. */
function printableSql(sql: string): string {
  return sql.replace(QUOTED, (quoted, e: string, literal: string | undefined, name = '') => {
    if (!UNPRINTABLE.test(quoted)) return quoted;
    if (literal === undefined) return escapedName(name.replaceAll('""', '"'));
    const escaped = e === '' ? literal.replaceAll('\\', '\\\\') : literal;
    return `E'${escaped.replace(EACH, escapedInLiteral)}'`;
  });
}

function escapedInLiteral(character: string): string {
  const code = hexOf(character);
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code}`;
}
