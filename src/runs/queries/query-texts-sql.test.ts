import { expect, test } from 'vitest';
import { textsIn } from './query-texts-sql.ts';

test.each([
  'alter role hunter password $1',
  '/* app */ alter role hunter password $1',
  '-- hunter\n create user hunter identified by $1',
  'set app.password = hunter',
])('the text of a statement that sets a password is not stored: %j', (text) => {
  expect(textsIn('postgres', [{ query: '1', text }], new Set(['1']))).toEqual([]);
});

test('texts are stored without values, and only those that were asked for', () => {
  const rows = [
    { query: '1', text: "select 'hunter2' -- hunter" },
    { query: '2', text: 'select 2' },
    { query: 1, text: 'select 1' },
    { query: '1', text: null },
  ];
  expect(textsIn('postgres', rows, new Set(['1']))).toEqual([['1', 'select ?']]);
});
