import { OwnWords } from '../../platform/text/own-words.ts';
import type { Row } from '../fault.ts';

/** The most rows of an own check. */
export const MOST_ROWS = 100;

/** The longest object of a row, in characters. */
const LONGEST_OBJECT = 200;

// The history has single precision, which ends at 3.4e38.
const LARGEST = 1e30;

/** The answer of a server to the statement of an own check, with all values as text. */
export interface OwnAnswer {
  columns: readonly { name: string; isNumber: boolean }[];
  rows: readonly (readonly (string | null)[])[];
}

/** The statement of an own check gave something else than numbers. The message is one sentence. */
export class WrongAnswer extends OwnWords {}

/** The rows of an own check: `object` (null if there is none) and `value`. Throws {@link WrongAnswer}. */
export function readRows({ columns, rows }: OwnAnswer): Row[] {
  const names = columns.map(({ name }) => name.toLowerCase());
  const valueAt = names.indexOf('value');
  const objectAt = names.indexOf('object');
  if (valueAt < 0) throw new WrongAnswer('it gives no column named value');
  if (new Set(names).size < names.length) throw new WrongAnswer('it gives two columns of one name');
  if (names.length > (objectAt < 0 ? 1 : 2))
    throw new WrongAnswer('it may give the columns value and object only: leave out the others');
  if (columns[valueAt]?.isNumber !== true) throw new WrongAnswer('its column value is not a number');
  if (rows.length > MOST_ROWS) throw new WrongAnswer(`it gives more than ${MOST_ROWS} rows`);
  if (objectAt < 0 && rows.length !== 1)
    throw new WrongAnswer(
      rows.length === 0
        ? 'it gives no row'
        : 'it gives several rows without the column object, which tells them apart',
    );
  const read = rows.map((row) => ({
    object: objectAt < 0 ? null : readObject(row[objectAt]),
    value: readValue(row[valueAt]),
  }));
  if (new Set(read.map(({ object }) => object)).size < read.length)
    throw new WrongAnswer('it gives two rows with the same object');
  return read;
}

function readObject(text: string | null | undefined): string {
  if (text === null || text === undefined || text === '')
    throw new WrongAnswer('it gives a row without an object');
  if (text.length > LONGEST_OBJECT)
    throw new WrongAnswer(`it gives an object that is longer than ${LONGEST_OBJECT} characters`);
  return text;
}

function readValue(text: string | null | undefined): number {
  if (text === null || text === undefined) throw new WrongAnswer('its value is NULL');
  const value = Number(text);
  if (!Number.isFinite(value)) throw new WrongAnswer('its value is not a finite number');
  if (Math.abs(value) > LARGEST) throw new WrongAnswer('its value is larger than 1e30');
  return value;
}
