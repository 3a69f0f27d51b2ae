import { expect, test } from 'vitest';
import { numberIn } from './number-in.ts';

test.each([
  ['', null],
  ['  ', null],
  [' 12 ', 12],
  ['1,000', 1_000],
  ['1,234,567', 1_234_567],
  ['-12,500.5', -12_500.5],
  ['0,5', 0.5],
  ['0,125', 0.125],
  ['1,5', 1.5],
  ['1000,250', 1_000.25],
  ['1e3', 1_000],
  ['1,000,5', undefined],
  ['1,2,3', undefined],
  ['12 h', undefined],
  ['55 %', undefined],
  ['Infinity', undefined],
])('the number in %j is %j', (text, number) => {
  expect(numberIn(text)).toBe(number);
});
