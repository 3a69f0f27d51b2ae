import { expect, test } from 'vitest';
import { completed, completions, typedMention } from './mention-completion.ts';

test.each([
  ['@', { at: 0, part: '' }],
  ['see @ad', { at: 4, part: 'ad' }],
  ['see @Ada Lo', { at: 4, part: 'Ada Lo' }],
  ['(@ad', { at: 1, part: 'ad' }],
  ['ada@example', null],
  ['@ ad', null],
  ['@Ada\n', null],
  ['nobody', null],
  [`@${'x'.repeat(61)}`, null],
])('before the caret of %j stands %j', (text, typed) => {
  expect(typedMention(text, text.length)).toEqual(typed);
});

test('only what stands before the caret is a part of the name', () => {
  expect(typedMention('@Ada, look', 3)).toEqual({ at: 0, part: 'Ad' });
});

test('names that begin with the part come first', () => {
  const names = ['Grace Adams', 'Ada Lovelace', 'Bo', 'Ada Lovelace'];
  expect(completions(names, 'AD')).toEqual(['Ada Lovelace', 'Grace Adams']);
  expect(completions(names, '')).toEqual(['Grace Adams', 'Ada Lovelace', 'Bo']);
  expect(completions(names, 'Ada Lovelace ')).toEqual([]);
});

test('a choice replaces the part, and leaves one space after the name', () => {
  expect(completed('see @ad now', { at: 4, part: 'ad' }, 'Ada Lovelace')).toEqual({
    text: 'see @Ada Lovelace now',
    caret: 'see @Ada Lovelace '.length,
  });
});
