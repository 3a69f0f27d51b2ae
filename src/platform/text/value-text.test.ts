import { expect, test } from 'vitest';
import type { Unit } from '../../vocabulary/units.ts';
import { valueText } from './value-text.ts';

test.each<[number, Unit, string]>([
  [0.642, 'ratio', '64.2 %'],
  [0.99974, 'ratio', '99.97 %'],
  [0.999999, 'ratio', '99.99 %'],
  [1, 'ratio', '100 %'],
  [0.8, 'ratio', '80 %'],
  [0.0004, 'ratio', '0.04 %'],
  [4.66e-10, 'ratio', '< 0.001 %'],
  [0, 'ratio', '0 %'],
  [512, 'bytes', '512 B'],
  [1024, 'bytes', '1 kB'],
  [3.42 * 1024 ** 3, 'bytes', '3.42 GB'],
  [-2048, 'bytes', '-2 kB'],
  [5e30, 'bytes', '4,440,892,098,500,626 PB'],
  [0.35, 'seconds', '350 ms'],
  [12, 'seconds', '12 s'],
  [3_900, 'seconds', '1 h 5 min'],
  [1_234_567, 'count', '1,234,567'],
  [1.5, 'count', '1.5'],
  [830.4, 'per_second', '830/s'],
  [0.012345, 'per_second', '0.0123/s'],
  [1_258_291, 'bytes_per_second', '1.2 MB/s'],
  [100, 'count', '100'],
  [10.04, 'per_second', '10/s'],
])('%d as %s is %s', (value, unit, text) => expect(valueText(value, unit)).toBe(text));
