import type { Row } from './fault.ts';

/** The text in a column; throws if there is none. */
export function textIn(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string')
    throw new TypeError(`Column ${column} of the check's statement must be text.`);
  return value;
}

/** The text in a column, or undefined if it is null. */
export function textOrNone(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : textIn(row, column);
}

/** The texts in a column: an array of PostgreSQL; throws if there is none. */
export function listIn(row: Row, column: string): string[] {
  const value = row[column];
  if (!Array.isArray(value)) throw new TypeError(`Column ${column} of the check's statement must be a list.`);
  return value.map(String);
}

/** The number in a column (int4 or float8: the driver gives int8 and numeric as text); throws if there is none. */
export function numberIn(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') {
    throw new TypeError(`Column ${column} of the check's statement must be a number.`);
  }
  return value;
}

/** The only row of a statement that always gives one; throws when it gave none. */
export function onlyRow(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new TypeError("The check's statement must give a row.");
  return row;
}
