import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeFont } from '../write-font.ts';

test('the font of the first paint is made from the package that is installed', async () => {
  const file = readFileSync(new URL('inter-basic.woff2', import.meta.url));
  expect((await makeFont()).equals(file), 'run node console/write-font.ts').toBe(true);
});
