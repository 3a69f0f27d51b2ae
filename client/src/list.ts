import type { Answer } from './ask.ts';
import { DbvitalsError } from './error.ts';
import type { Meta } from './records.ts';

/** A page of a list, as the API answers it. */
export interface Page<Item, PageMeta = Meta> {
  data: Item[];
  meta: PageMeta;
}

/**
 * A list of the API. Nothing is asked until it is read; each reading asks afresh, a page at a time. `AsyncIterable` takes one
 * type argument here: with three, which TypeScript knows from 5.6 on, older versions can't iterate over a list.
 */
export interface List<Item, PageMeta = Meta> extends AsyncIterable<Item> {
  /** The pages, one request each. */
  pages(): AsyncGenerator<Page<Item, PageMeta>, void, undefined>;
}

/** Where the next page begins. `to` pins the list, and `after` is a cursor, so that what comes meanwhile moves nothing. */
interface Place {
  page?: number;
  to?: string;
  after?: string;
}

/** A list by how a page of it is read. */
export function list<Item, PageMeta extends { has_more: boolean } = Meta>(
  read: (place: Place) => Promise<Answer<Page<Item, PageMeta>>>,
): List<Item, PageMeta> {
  async function* pages() {
    for (let place: Place | null = {}; place !== null; ) {
      const { body, response }: Answer<Page<Item, PageMeta>> = await read(place);
      yield body;
      place = body.meta.has_more ? nextPlace(response) : null;
    }
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { data } of pages()) yield* data;
    },
  };
}

/** Of the link only the place is taken, never the host: behind a proxy it may be another, and the key stays here. */
function nextPlace({ headers, status }: Response): Place {
  const [, link = ''] = /<([^>]*)>; *rel="?next"?/.exec(headers.get('link') ?? '') ?? [];
  const next = URL.canParse(link) ? new URL(link).searchParams : null;
  const page = Number(next?.get('page'));
  if (next === null || !Number.isSafeInteger(page) || page < 2) {
    throw new DbvitalsError(
      'not_dbvitals',
      'The answer has no Link header though more pages follow: let the proxy pass it.',
      { status, requestId: headers.get('x-request-id') },
    );
  }
  const [to, after] = [next.get('to'), next.get('after')];
  return { page, ...(to === null ? {} : { to }), ...(after === null ? {} : { after }) };
}
