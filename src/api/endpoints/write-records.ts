import { isoTime } from '../../activity/write-entry.ts';
import type { TextRow } from '../../store/sql/records.sql.ts';

/** Writes a value as JSON. Null = null. */
export type WriteValue = (value: string | null) => string;

/** How to write each field of an item. Those of an object in it take the next columns. */
type Fields<Item> = {
  [Field in keyof Item]-?: Item[Field] extends readonly unknown[] | string | number | null
    ? WriteValue
    : WriteValue | Fields<Item[Field]>;
};

/** A whole number, or JSON, as PostgreSQL writes it. */
export const raw: WriteValue = (value) => value ?? 'null';
export const text: WriteValue = (value) => (value === null ? 'null' : JSON.stringify(value));
export const instant: WriteValue = (value) => (value === null ? 'null' : `"${isoTime(value)}"`);

/** A floating-point number as JavaScript writes it: PostgreSQL writes some with an exponent where JavaScript does not. */
export const number: WriteValue = (value) => {
  if (value === null) return 'null';
  if (value !== '-0' && /^[-.0-9]+$/.test(value)) return value;
  const parsed = Number(value);
  return Number.isFinite(parsed) ? `${parsed}` : 'null';
};

/** Writes items as JSON without making objects of them. The columns of a row are in the order of the fields. */
export function itemWriter<Item extends object>(fields: Fields<Item>): (row: TextRow) => string {
  const columns: { before: string; write: WriteValue }[] = [];
  let before = '';
  const add = (object: object) => {
    before += '{';
    for (const [n, [name, field]] of Object.entries(object).entries()) {
      before += `${n === 0 ? '' : ','}"${name}":`;
      if (typeof field === 'function') {
        columns.push({ before, write: field });
        before = '';
      } else {
        add(field);
      }
    }
    before += '}';
  };
  add(fields);
  return (row) => {
    let item = '';
    for (const [n, column] of columns.entries()) item += column.before + column.write(row[n] ?? null);
    return item + before;
  };
}

/** The body of a list, whose items are written. */
export function writeList(items: readonly string[], meta: object): string {
  return `{"data":[${items.join()}],"meta":${JSON.stringify(meta)}}`;
}
