import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { areasPicture, PICTURE } from './areas-picture.ts';
import { WAYS } from './ways.ts';

test('docs/design/areas.svg shows the areas as they are; `npm run areas` writes it', () => {
  expect(readFileSync(PICTURE, 'utf8')).toBe(areasPicture());
});

test('each way of `npm run ways` starts in files that exist, in areas of its own', () => {
  for (const { name, starts, areas } of WAYS) {
    expect(
      starts.filter((path) => !existsSync(join(import.meta.dirname, '../..', path))),
      name,
    ).toEqual([]);
    expect(starts.filter((path) => !areas.includes(path.split('/')[1] ?? ''))).toEqual([]);
  }
});
