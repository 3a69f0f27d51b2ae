import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pageLinks, readPage } from './paging.ts';

const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'page',
    'p%61ge',
    'per_page',
    'to',
    '_x',
    'page=0',
    '&page=0',
    '?page=0',
    '#&page=0',
    '+',
    '%',
  ),
);
const query = fc
  .array(fc.tuple(text, text).map((pair) => pair.join('=')))
  .map((parameters) => parameters.join('&'));

/** The links by relation. */
function parsed(links: string): Map<string, URL> {
  const found = [...links.matchAll(/<([^>]*)>; rel="(\w+)"/g)];
  return new Map(found.map(([, url = '', relation = '']) => [relation, new URL(url)]));
}

test('every link has its page and the other parameters of the request, whatever they contain', () => {
  fc.assert(
    fc.property(query, fc.option(text, { nil: undefined }), (written, pin) => {
      const url = `https://[::1]:8080/base/api/v1/activity?${written}`;
      const page = readPage({ page: 3, per_page: 10 });
      const links = parsed(pageLinks(url, page, 55, pin));
      const pages = new Map(
        [...links].map(([relation, { searchParams }]) => [relation, searchParams.getAll('page')]),
      );
      expect([...pages]).toEqual([
        ['first', ['1']],
        ['prev', ['2']],
        ['next', ['4']],
        ['last', ['6']],
      ]);
      const others = (of: URL) =>
        [...of.searchParams]
          .filter(([name]) => !/^(?:page|per_page|_.*)$/s.test(name) && (pin === undefined || name !== 'to'))
          .sort();
      for (const link of links.values()) {
        expect(others(link)).toEqual(others(new URL(url)));
        expect(link.searchParams.getAll('per_page')).toEqual(['10']);
        if (pin !== undefined) expect(link.searchParams.getAll('to')).toEqual([pin.toWellFormed()]);
        expect([...link.searchParams.keys()].some((name) => name.startsWith('_'))).toBe(false);
      }
    }),
  );
});
