import { expect, test } from 'vitest';
import { measuredSentence } from './measured-sentence.ts';

test('our words begin a sentence', () => {
  expect(measuredSentence('the IO thread is stopped, so nothing new arrives; start it.')).toMatch(
    /^The IO thread/,
  );
  expect(measuredSentence('in schema shop, columns differ.')).toBe('In schema shop, columns differ.');
  expect(measuredSentence('table public.orders has no primary key; add one.')).toMatch(
    /^Table public\.orders/,
  );
});

test.each(['jit is off.', 'innodb_doublewrite is OFF', 'index_a of t', 'the_table is large', '3 tables'])(
  'a name of the server stays as it is: %s',
  (line) => {
    expect(measuredSentence(line)).toBe(line);
  },
);
