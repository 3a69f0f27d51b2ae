import { expect, test } from 'vitest';
import { PAGE_LINKS, PAGE_PATHS, servedPaths } from '../../src/vocabulary/page-paths.ts';
import { router } from './router.tsx';

test('the router has exactly the pages of PAGE_PATHS', () => {
  expect(Object.keys(router.routesByPath).sort()).toEqual(Object.values(PAGE_PATHS).sort());
});

test('the server serves each of them', () => {
  expect(servedPaths()).toContain('/connections/*');
  expect(servedPaths()).toHaveLength(Object.keys(PAGE_PATHS).length);
});

test.each(Object.entries(PAGE_LINKS))(
  'the link to a single thing (%s) opens a page that knows its parameters',
  (_, make) => {
    const { pathname, searchParams } = new URL(make(7), 'http://127.0.0.1');
    const search = Object.fromEntries(searchParams);
    const page = router.matchRoutes(pathname, search).at(-1);
    expect(page?.status).not.toBe('notFound');
    expect(Object.values<string>(PAGE_PATHS)).toContain(page?.fullPath);
    expect(page?.search).toEqual(search);
  },
);
