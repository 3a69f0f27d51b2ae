import { expect, test } from 'vitest';
import { printableRow } from './printable-names.ts';

const of = (text: unknown) => printableRow({ text })['text'];

test('a printable name or literal stays as it is', () => {
  for (const text of ['public."good one"', `E'a\\\\b'`, `it's`, '"a""b"', 'ünïcode', '"👨‍👩‍👧"', 7, null])
    expect(of(text)).toBe(text);
});

test('what does not print is escaped in quoted names', () => {
  expect(of('public."good\none"')).toBe(String.raw`public.U&"good\000Aone"`);
  expect(of('"a\\b\t""c""\u202e"."plain"')).toBe(String.raw`U&"a\\b\0009""c""\202E"."plain"`);
  expect(of('"\u{e0001}"')).toBe(String.raw`U&"\+0E0001"`);
  expect(of('"a\u00a0b"')).toBe(String.raw`U&"a\00A0b"`);
});

test('what does not print is escaped in literals', () => {
  expect(of(`datname = 'a\nb''c' AND "x"`)).toBe(String.raw`datname = E'a\u000Ab''c' AND "x"`);
  expect(of(`E'a\\\\\r'`)).toBe(String.raw`E'a\\\u000D'`);
  expect(of(`'public."a''b\n"'::regclass`)).toBe(String.raw`E'public."a''b\u000A"'::regclass`);
  expect(of(`'\u{e0001}'`)).toBe(String.raw`E'\U000E0001'`);
});

test('names in a list are escaped too', () => {
  expect(of(['"a\nb"', 'c'])).toEqual([String.raw`U&"a\000Ab"`, 'c']);
});
