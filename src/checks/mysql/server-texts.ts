import type { Row } from '../fault.ts';
import { quoted } from './quote.ts';

// Checks quote names themselves. These columns are shown as they are, so a server that is not what it seems could put
// a command of the client there.
const WORDS = String.raw`(?!.*(?:--|/\*|\*/))[\p{L}\p{N}_ ,.:@%/+*()=-]*`;
const STRINGS = String.raw`'(?:[^'\\]|''|\\[^'])*'(?:,'(?:[^'\\]|''|\\[^'])*')*`;
const MODIFIERS = String.raw`(?: (?:unsigned|signed|zerofill|(?:character set|collate) \w+))*`;
const TYPE = String.raw`[a-z]\w*${MODIFIERS}(?:\((?:[\d, ]*|${STRINGS})\)${MODIFIERS})?(?: /\*[^*]*\*/)?`;

const SHAPES: Readonly<Record<string, RegExp>> = Object.fromEntries(
  Object.entries({
    object: WORDS,
    holder: WORDS,
    oldest: WORDS,
    user_name: WORDS,
    db_name: WORDS,
    engine: WORDS,
    state: WORDS,
    charsets: WORDS,
    names: WORDS,
    host: WORDS,
    Value: WORDS,
    type: TYPE,
    column_type: TYPE,
    value: '[0-9]+',
  }).map(([column, shape]) => [column, new RegExp(`^(?:${shape})$`, 'siu')]),
);

/**
 * Returns a text from the server unchanged if it has the form of its column, else as one quoted name. A check must still quote
 * it in a statement.
 */
export function shownText(column: string, text: string): string {
  return text.length < 10_000 && SHAPES[column]?.test(text) === true ? text : quoted(text.slice(0, 1_000));
}

/** A row in which the columns that checks show as they are can be shown. `user_name` and `db_name` are names to compare with. */
export function shownRow(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => {
      const isShown = Object.hasOwn(SHAPES, column) && !['user_name', 'db_name', 'host'].includes(column);
      return [column, isShown && typeof value === 'string' ? shownText(column, value) : value];
    }),
  );
}
