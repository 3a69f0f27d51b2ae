import { count } from '../platform/schema/fields.ts';
import { type Static, Type } from '../platform/schema/schema.ts';
import { wholeNumber } from './query-parameters.ts';

/** The specification's page size (section 8). */
const DEFAULT_PER_PAGE = 50;

/** The parameters of every paginated list. */
export const pagingParameters = {
  page: wholeNumber('page', 'Page of the list. After the last page the list is empty.', {
    minimum: 1,
    default: 1,
  }),
  per_page: wholeNumber('per_page', 'Maximum number of records per page.', {
    minimum: 1,
    maximum: 100,
    default: DEFAULT_PER_PAGE,
  }),
};

/** `meta` of every list (specification, section 2.1). */
export const Meta = Type.Object(
  {
    total: count('total number of records'),
    page: Type.Integer({ minimum: 1, description: 'current page' }),
    per_page: Type.Integer({ minimum: 1, description: 'page size used' }),
    has_more: Type.Boolean({ description: 'true if more pages follow' }),
  },
  { title: 'Meta', description: 'position of a page in its list' },
);

/** A requested page. */
export interface Page {
  page: number;
  perPage: number;
  /** How many records precede it. May exceed the list. */
  offset: number;
}

/** Returns the page that validated parameters request. */
export function readPage(query: { page?: number; per_page?: number }): Page {
  const { page = 1, per_page: perPage = DEFAULT_PER_PAGE } = query;
  return { page, perPage, offset: (page - 1) * perPage };
}

/** `meta` of a page of a list of `total` records. */
export function pageMeta({ page, perPage, offset }: Page, total: number): Static<typeof Meta> {
  return { total, page, per_page: perPage, has_more: offset + perPage < total };
}

/** `meta` of a list without pages. */
export function wholeMeta(total: number): Static<typeof Meta> {
  return { total, page: 1, per_page: Math.max(total, 1), has_more: false };
}

/**
 * The Link header (RFC 8288) of a page: absolute URLs `first`, `prev`, `next`, `last`. `url` is the request's own absolute
 * URL. `pin`, if given, replaces its `to`, so that later rows do not shift the pages.
 */
export function pageLinks(url: string, { page, perPage, offset }: Page, total: number, pin?: string): string {
  const lastPage = Math.max(Math.ceil(total / perPage), 1);
  const target = new URL(url);
  // A list of its own: the URL would be written again with each change.
  const parameters = new URLSearchParams(target.search);
  for (const name of [...parameters.keys()]) {
    if (name.startsWith('_')) parameters.delete(name);
  }
  if (pin !== undefined) parameters.set('to', pin);
  parameters.set('page', '0');
  parameters.set('per_page', String(perPage));
  target.search = parameters.toString();
  const { href } = target;
  const at = href.search(/[?&]page=0(?:[&#]|$)/) + '?page='.length;
  const link = (relation: string, to: number) =>
    `<${href.slice(0, at)}${to}${href.slice(at + 1)}>; rel="${relation}"`;
  return [
    link('first', 1),
    ...(page > 1 ? [link('prev', Math.min(page - 1, lastPage))] : []),
    ...(offset + perPage < total ? [link('next', page + 1)] : []),
    link('last', lastPage),
  ].join(', ');
}
