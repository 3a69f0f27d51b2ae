import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('each migration has the next number', () => {
  const names = readdirSync(join(import.meta.dirname, '../../migrations')).toSorted();
  expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, n) => n + 1));
});
