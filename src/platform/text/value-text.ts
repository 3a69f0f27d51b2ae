import type { Unit } from '../../vocabulary/units.ts';
import { duration } from './duration-text.ts';
import { figure } from './figure.ts';

// As in findings: 1 kB is 1,024 bytes.
const SIZES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;
const UNCOUNTABLE = /(?:\.0+|(\.\d*?)0+)$/;

/** At most `digits` decimals, without trailing zeros. */
function decimals(value: number, digits: number): string {
  const [whole = '', ...rest] = value.toFixed(digits).replace(UNCOUNTABLE, '$1').split('.');
  return [figure(Number(whole)).replace(/^0$/, whole), ...rest].join('.');
}

/** Three significant digits, whole from 100 on. */
function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || size === 0) return decimals(value, 0);
  if (size >= 10) return decimals(value, 1);
  if (size >= 1) return decimals(value, 2);
  // Not `4.66e-8`.
  if (size < 0.001) return value < 0 ? '> -0.001' : '< 0.001';
  return String(Number(value.toPrecision(3)));
}

function sizeText(bytes: number): string {
  // From half a byte below on: 1,023.9 B would read `1,024 B`.
  const size = Math.max(1, Math.abs(bytes) * (1 + 0.5 / 1024));
  const power = Math.min(Math.floor(Math.log2(size) / 10), SIZES.length - 1);
  return `${short(bytes / 1024 ** power)} ${SIZES[power]}`;
}

function percentText(ratio: number): string {
  const percent = ratio * 100;
  // 99.97 % must not read as 100 %.
  return `${percent >= 90 && percent < 100 ? decimals(Math.floor(percent * 100 + 1e-7) / 100, 2) : short(percent)} %`;
}

function secondsText(seconds: number): string {
  const size = Math.abs(seconds);
  // What would read `1,000 ms` or `60 s` has the next unit.
  if (size !== 0 && size < 0.9995) return `${short(seconds * 1_000)} ms`;
  return size < 59.95 ? `${short(seconds)} s` : duration(seconds);
}

const FORMATS: Record<Unit, (value: number) => string> = {
  ratio: percentText,
  bytes: sizeText,
  seconds: secondsText,
  count: (value) => (Number.isInteger(value) ? figure(value) : short(value)),
  per_second: (value) => `${short(value)}/s`,
  bytes_per_second: (value) => `${sizeText(value)}/s`,
};

/** A value with its unit: `64.2 %`, `3.4 GB`, `1 h 5 min`, `12`, `830/s`, `1.2 MB/s`. */
export function valueText(value: number, unit: Unit): string {
  return FORMATS[unit](value);
}
