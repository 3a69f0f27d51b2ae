import { expect, test } from 'vitest';
import { csvOf } from './chart-csv.ts';

const at = [0, 60];

test('a series is a column, and a missing value an empty cell', () => {
  const csv = csvOf([
    { label: 'active', points: { at, last: [1, null] } },
    { label: 'idle', points: { at: [60], last: [0.8399999737739563] } },
  ]);
  expect(csv).toBe('time,"active","idle"\n1970-01-01T00:00:00.000Z,1,\n1970-01-01T00:01:00.000Z,,0.84\n');
});

test('hours have their minimum, maximum and mean', () => {
  const points = { at: [0], last: [1], minimum: [2], maximum: [3], mean: [4] };
  const [header, line] = csvOf([{ label: 'x', points }]).split('\n');
  expect(header).toBe('time,"x last","x minimum","x maximum","x mean"');
  expect(line).toBe('1970-01-01T00:00:00.000Z,1,2,3,4');
});

test('a hostile name is neither a formula nor a second cell', () => {
  const [header] = csvOf([{ label: '=cmd|"x",1', points: { at, last: [1, 2] } }]).split('\n');
  expect(header).toBe(`time,"'=cmd|""x"",1"`);
  // Where the comma is the decimal sign, a spreadsheet splits at semicolons.
  expect(csvOf([{ label: 'x;=1+1', points: { at: [], last: [] } }])).toBe('time,"x;=1+1"\n');
});
