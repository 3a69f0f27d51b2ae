import { Rejection } from '../platform/rejection.ts';
import { Type } from '../platform/schema/schema.ts';
import { parseDate } from '../platform/text/date-range.ts';

const PLACE = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z_[1-9][0-9]{0,14}$`;

const wrongPlace = (rows: string) => `before must be the next of a page of ${rows}.`;

/** The parameter of a list by time: the `next` of the page before. `rows` names what the list has, such as changes. */
export function beforeParameter(rows: string) {
  return Type.Optional(Type.String({ pattern: PLACE, description: wrongPlace(rows) }));
}

/** The row that a {@link beforeParameter} names, with its time to the microsecond; undefined on the first page. Throws 400. */
export function readPlace(before: string | undefined, rows: string): { at: string; id: number } | undefined {
  if (before === undefined) return undefined;
  const [at = '', id] = before.split('_');
  if (parseDate(at) === null) {
    throw new Rejection('invalid_parameter', wrongPlace(rows), { parameter: 'before' });
  }
  return { at, id: Number(id) };
}
