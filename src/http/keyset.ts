import { hash } from 'node:crypto';
import { invalidParameter } from '../platform/rejection.ts';
import { nullable } from '../platform/schema/nullable.ts';
import { type Static, Type } from '../platform/schema/schema.ts';
import { parseDate } from '../platform/text/date-range.ts';
import type { TextRow } from '../store/sql/records.sql.ts';
import { type Page, pagingParameters, readPage } from './paging.ts';
import { text } from './query-parameters.ts';

/** How many rows of a list are counted, and how many of them a page number reaches: so that no page costs more than another. */
export const COUNTED = 10_000;

/** The parameters of a list whose pages begin after a row. */
export const keysetParameters = {
  after: text(
    'after',
    'The cursor of the page before, as its `Link` header and `meta.next` have it: an opaque text. Pages that follow it neither repeat nor miss a row, whatever is added meanwhile, and cost the same at any depth.',
    'must be the cursor that the page before gave for this list.',
    { minLength: 1 },
    { minLength: 1 },
  ),
  ...pagingParameters,
};

/** `meta` of such a list: that of every list, and the cursor of the next page. */
export const KeysetMeta = Type.Object(
  {
    total: nullable(
      Type.Integer({
        minimum: 0,
        description: `total number of records; null if there are more than ${COUNTED}`,
      }),
    ),
    page: Type.Integer({ minimum: 1, description: 'current page' }),
    per_page: Type.Integer({ minimum: 1, description: 'page size used' }),
    has_more: Type.Boolean({ description: 'true if more pages follow' }),
    next: nullable(Type.String({ description: '`after` of the next page; null on the last' })),
  },
  { title: 'KeysetMeta', description: 'position of a page in a list that is read by cursor' },
);

/** A list: its name in cursors, what each part of a row's place must be, and the place of a row. */
export interface KeysetList {
  name: string;
  form: readonly ((part: string) => boolean)[];
  place(row: TextRow): readonly (string | number)[];
}

/** Whether a part of a place is an instant to the microsecond, as lists write it. */
export const isInstant = (part: string) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(part) && parseDate(part) !== null;
/** Whether a part of a place is a number, such as an identifier. */
export const isNumber = (part: string) => /^(?:0|[1-9]\d{0,14})$/.test(part);

interface Wanted {
  accountId: number;
  url: string;
  query: { after?: string; page?: number; per_page?: number };
}

/** Counts rows, to {@link COUNTED} + 1 at most, and reads some of them. */
export type ReadCounted<Row> = (limits: {
  offset: number;
  limit: number;
}) => Promise<readonly [counted: number, rows: Row[]]>;

/**
 * Reads a page of a list. `read` reads after a place, null = from the first. Throws a 400 for a cursor that is not of this list and
 * account, and for a page number that lies beyond what is counted.
 */
export async function readKeyset(
  list: KeysetList,
  { accountId, url, query }: Wanted,
  read: (
    place: readonly string[] | null,
    ...limits: Parameters<ReadCounted<TextRow>>
  ) => ReturnType<ReadCounted<TextRow>>,
): Promise<{ rows: TextRow[]; meta: Static<typeof KeysetMeta>; link: string }> {
  const page = readPage(query);
  const mark = cursorMark(list.name, accountId);
  const place = query.after === undefined ? null : readCursor(query.after, 'after', mark, list.form);
  const { counted, rows, hasMore } = await readCounted(
    { offset: place === null ? page.offset : 0, perPage: page.perPage },
    (limits) => read(place, limits),
  );
  const total = counted > COUNTED ? null : counted;
  const last = rows.at(-1);
  const next = hasMore && last ? writeCursor(mark, list.place(last)) : null;
  const meta = { total, page: page.page, per_page: page.perPage, has_more: next !== null, next };
  return { rows, meta, link: keysetLinks(url, page, next) };
}

/** Reads a page of rows that no tally counts. Throws a 400 for a page that lies beyond what is counted. */
export async function readCounted<Row>(
  { offset, perPage }: Pick<Page, 'offset' | 'perPage'>,
  read: ReadCounted<Row>,
): Promise<{ counted: number; rows: Row[]; hasMore: boolean }> {
  const isBeyond = offset >= COUNTED;
  const [counted, rows] = await read(isBeyond ? { offset: 0, limit: 0 } : { offset, limit: perPage + 1 });
  if (isBeyond && counted > COUNTED) throw tooDeep;
  return { counted, rows: rows.slice(0, perPage), hasMore: rows.length > perPage };
}

const tooDeep = invalidParameter(
  'page',
  `page reaches the first ${COUNTED} records: follow the Link header.`,
);

/** What tells the cursors of a list and account from others. It is no secret: a forged cursor only names a place. */
export function cursorMark(list: string, accountId: number): string {
  return hash('sha256', `${list} ${accountId}`, 'base64url').slice(0, 8);
}

export function writeCursor(mark: string, place: readonly (string | number)[]): string {
  return Buffer.from([mark, ...place].join(' ')).toString('base64url');
}

/** The place of a cursor. Throws a 400 that names the `parameter` if it is not of this mark and form. */
export function readCursor(
  cursor: string,
  parameter: string,
  mark: string,
  form: readonly ((part: string) => boolean)[],
): readonly string[] {
  const [given, ...place] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const fits = given === mark && place.length === form.length;
  if (!fits || form.some((fitsPart, n) => !fitsPart(place[n] ?? '')) || writeCursor(mark, place) !== cursor) {
    throw invalidParameter(
      parameter,
      `${parameter} must be the cursor that the page before gave for this list.`,
    );
  }
  return place;
}

function keysetLinks(url: string, { page, perPage }: Page, next: string | null): string {
  return writeLinks(url, perPage, [
    ['first', { page: 1, after: null }],
    ...(next === null ? [] : ([['next', { page: page + 1, after: next }]] as const)),
  ]);
}

/** The Link header: absolute URLs by their relation, each with its own parameters; null = without it. */
export function writeLinks(
  url: string,
  perPage: number,
  links: readonly (readonly [relation: string, own: Readonly<Record<string, string | number | null>>])[],
): string {
  const link = ([relation, own]: (typeof links)[number]) => {
    const target = new URL(url);
    const parameters = new URLSearchParams(target.search);
    for (const name of [...parameters.keys()]) if (name.startsWith('_')) parameters.delete(name);
    for (const [name, value] of Object.entries({ ...own, per_page: perPage })) {
      if (value === null) parameters.delete(name);
      else parameters.set(name, String(value));
    }
    target.search = parameters.toString();
    return `<${target.href}>; rel="${relation}"`;
  };
  return links.map(link).join(', ');
}
