import fc from 'fast-check';
import { expect, test } from 'vitest';
import { documented, oneOf, someOf, wholeNumber } from './query-parameters.ts';

test.each([
  { minimum: 1 },
  { minimum: 0 },
  { minimum: 1, maximum: 100 },
  { minimum: 0, maximum: 1000 },
  { minimum: 1, maximum: 42 },
  { minimum: 0, maximum: 1905 },
] as const)(
  'the pattern of %j accepts only whole numbers within its bounds, without sign or leading zeros',
  (bounds) => {
    const parameter = wholeNumber('n', 'A number.', bounds) as unknown as { pattern: string };
    const pattern = new RegExp(parameter.pattern);
    const { minimum, maximum = Number.MAX_SAFE_INTEGER } = { maximum: undefined, ...bounds };
    const plain = (text: string) => /^\d+$/.test(text) && String(BigInt(text)) === text;
    const near = fc.integer({ min: -20, max: 2_000 }).map(String);
    const limit = BigInt(maximum);
    const atLimit = fc.bigInt(limit - 2_000n, limit + 2_000n).map(String);
    fc.assert(
      fc.property(
        fc.oneof(
          near,
          atLimit,
          fc.string(),
          fc.bigInt().map(String),
          near.map((n) => `0${n}`),
        ),
        (text) => {
          expect(pattern.test(text)).toBe(plain(text) && BigInt(text) >= minimum && BigInt(text) <= limit);
        },
      ),
      { numRuns: 3_000 },
    );
  },
);

test('the document has a number with bounds, while the validator checks text', () => {
  const parameter = wholeNumber('per_page', 'Size.', { minimum: 1, maximum: 100, default: 50 });
  expect(documented(parameter)).toEqual({
    description: 'Size.',
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
  });
  expect(JSON.parse(JSON.stringify(parameter))).toEqual({
    type: 'string',
    pattern: '^(?:[1-9][0-9]{0,1}|100)$',
    description: 'per_page must be a whole number, 1 to 100.',
  });
  expect(documented(oneOf('order', 'Order.', ['desc', 'asc'], 'desc')).schema).toEqual({
    type: 'string',
    enum: ['desc', 'asc'],
    default: 'desc',
  });
});

test('some of the values: each once, in any order, and no more than there are', () => {
  const { pattern = '' } = someOf('include', 'Adds.', ['tags', 'url', 'tags_of']) as { pattern?: string };
  const fits = (text: string) => new RegExp(pattern, 'u').test(text);
  for (const text of ['tags', 'url,tags', 'tags,tags_of,url', 'tags_of,tags'])
    expect(fits(text), text).toBe(true);
  for (const text of [
    '',
    'tag',
    'tags,',
    ',tags',
    'tags,tags',
    'url,tags,url',
    'tags,url,tags_of,tags',
    'tags url',
  ])
    expect(fits(text), text).toBe(false);
});
