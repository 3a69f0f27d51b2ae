import { isPrintable } from '../../platform/text/clean-text.ts';

/** A name as MySQL quotes it: `` `a``b` ``. Names are joined by a dot: `` `shop`.`orders` ``. */
export function quoted(...names: string[]): string {
  return names.map((name) => `\`${name.replaceAll('`', '``')}\``).join('.');
}

/**
 * A text as a binary literal. It equals only that text, while a plain string also matches `App` for `app`: such are
 * the collations of `information_schema`. It means the same under NO_BACKSLASH_ESCAPES and any character set.
 */
export function exactly(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) && !/['\\]/.test(text) ? `CAST('${text}' AS BINARY)` : hex(text);
}

/** A text as a string literal, for where the grammar accepts no other: `'a\\b'`, or `'a\b'` under NO_BACKSLASH_ESCAPES. */
export function stringLiteral(text: string, withoutEscapes = false): string {
  const escaped = withoutEscapes ? text : text.replaceAll('\\', '\\\\');
  return `'${escaped.replaceAll("'", "''")}'`;
}

/**
 * A part of a statement as an expression to build it from at run time, and what must come before that statement: a
 * string, or its bytes if it has a backslash or does not print.
 */
export function asExpression(part: string): { before: string; expression: string } {
  if (isPrintable(part) && !part.includes('\\')) return { before: '', expression: stringLiteral(part) };
  return { before: UTF8, expression: hex(part) };
}

/**
 * A statement that can be printed and pasted: as it is, or prepared from its bytes if a name in it has characters that
 * a terminal would not show or would change, such as a tab, a newline or U+202E.
 *
 * @param statement One statement with its semicolon. MySQL 9.7 can't prepare `USE`, `XA …`, `LOCK TABLES`,
 * `CHECK TABLE`, `ALTER DATABASE`, `PURGE BINARY LOGS` and `… GROUP_REPLICATION`; MariaDB can prepare all of them.
 * @param withoutEscapes The statement that means the same under NO_BACKSLASH_ESCAPES, if that differs.
 */
export function printable(statement: string, withoutEscapes = statement): string {
  if (statement === withoutEscapes && isPrintable(statement)) return statement;
  const source =
    statement === withoutEscapes
      ? hex(statement)
      : `IF(FIND_IN_SET('NO_BACKSLASH_ESCAPES', @@sql_mode), ${hex(withoutEscapes)}, ${hex(statement)})`;
  return `${UTF8}SET @dbvitals = ${source}; PREPARE dbvitals FROM @dbvitals; EXECUTE dbvitals; DEALLOCATE PREPARE dbvitals;`;
}

/** PREPARE reads bytes in the connection's character set: in latin1 they would name another object. */
const UTF8 = 'SET NAMES utf8mb4; ';

function hex(text: string): string {
  return `0x${Buffer.from(text).toString('hex')}`;
}
