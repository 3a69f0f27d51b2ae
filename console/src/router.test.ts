import { expect, test } from 'vitest';
import { PAGE_PATHS, servedPaths } from '../../src/vocabulary/page-paths.ts';
import { router } from './router.tsx';

test('the router has exactly the pages of PAGE_PATHS', () => {
  expect(Object.keys(router.routesByPath).sort()).toEqual(Object.values(PAGE_PATHS).sort());
});

test('the server serves each of them', () => {
  expect(servedPaths()).toContain('/connections/*');
  expect(servedPaths()).toHaveLength(Object.keys(PAGE_PATHS).length);
});
