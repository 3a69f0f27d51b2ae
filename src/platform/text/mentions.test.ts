import { expect, test } from 'vitest';
import { splitMentions } from './mentions.ts';

const NAMES = ['Ada', 'Ada Lovelace', 'Zoë', 'Ben', '李雷', 'a.b*(c'];
const found = (text: string, names = NAMES) =>
  splitMentions(text, names).flatMap(({ name }) => (name === null ? [] : [name]));

test.each([
  ['@Ada, look', ['Ada']],
  ['@ada lovelace and @BEN.', ['Ada Lovelace', 'Ben']],
  ['(@Zoë)@Ben', ['Zoë', 'Ben']],
  ['@李雷：看', ['李雷']],
  ['@a.b*(c) is a name, not a pattern', ['a.b*(c']],
  // Neither the start of a longer word, nor an address.
  ['@Adam @Ben_2 @Zoës', []],
  ['ben@ben.example 𝒜@Ben', []],
  ['@@Ben', ['Ben']],
  ['@', []],
  ['', []],
])('%j mentions %j', (text, names) => {
  expect(found(text)).toEqual(names);
  // Nothing is lost or changed.
  expect(
    splitMentions(text, NAMES)
      .map((part) => part.text)
      .join(''),
  ).toBe(text);
});

test('the longest hostile text with a thousand names is split quickly', () => {
  const names = Array.from({ length: 1_000 }, (_, n) => `member ${n} ${'x'.repeat(100)}`);
  const start = performance.now();
  expect(found('@'.repeat(4_000), names)).toEqual([]);
  expect(found(`@${'member 1 '.repeat(400)}`, names)).toEqual([]);
  expect(performance.now() - start).toBeLessThan(5_000);
});
