import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instant, itemWriter, number, raw, text, writeList } from './write-records.ts';

test('an item is written as JSON.stringify writes the object, with the columns of an object in it', () => {
  const write = itemWriter<{
    id: number;
    of: { name: string; port: number };
    tags: string[];
    at: string | null;
    value: number | null;
  }>({
    id: raw,
    of: { name: text, port: raw },
    tags: raw,
    at: instant,
    value: number,
  });
  const row = ['7', 'a "quoted" name\n', '5432', '["x"]', '2026-05-01 10:00:00.12+00', '1e-05'];
  const item = {
    id: 7,
    of: { name: 'a "quoted" name\n', port: 5432 },
    tags: ['x'],
    at: '2026-05-01T10:00:00.120Z',
    value: 0.00001,
  };
  expect(write(row)).toBe(JSON.stringify(item));
  expect(JSON.parse(write(['7', '', '1', '[]', null, null]))).toMatchObject({ at: null, value: null });
  expect(writeList([write(row)], { total: 1 })).toBe(JSON.stringify({ data: [item], meta: { total: 1 } }));
});

test.each(['-0', '0', '1e+15', '1e+06', '1e-07', '1.5e-300', '1e+23', '123456.79', '-4.35'])(
  '%s is written as JavaScript writes it',
  (value) => expect(number(value)).toBe(JSON.stringify(Number(value))),
);

test('no number is JSON that is none', () => {
  for (const value of ['NaN', 'Infinity', '-Infinity', null]) expect(number(value)).toBe('null');
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(number(String(value))).toBe(JSON.stringify(value));
    }),
  );
});
