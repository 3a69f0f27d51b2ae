import { Type } from '../platform/schema/schema.ts';

const PAGE = 50;

/** The parameter of a list: how many rows a page has at most, 1 to 200. */
export const limitParameter = Type.Optional(
  Type.String({
    pattern: '^(?:[1-9][0-9]?|1[0-9][0-9]|200)$',
    description: 'limit must be a whole number, 1 to 200.',
  }),
);

/** The number of rows that a validated {@link limitParameter} requests. */
export function readLimit(limit: string | undefined): number {
  return limit === undefined ? PAGE : Number(limit);
}
