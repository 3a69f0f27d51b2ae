import { expect, test } from 'vitest';
import { ENDPOINTS } from '../api/app.ts';
import { ENDPOINT_PATHS } from './endpoint-paths.ts';

test('the paths are those of the endpoints', () => {
  expect(ENDPOINTS.map(({ path }) => path)).toEqual(ENDPOINT_PATHS);
});
