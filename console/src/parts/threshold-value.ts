import type { ThresholdUnit } from '../../../src/vocabulary/threshold-units.ts';
import { valueText } from './chart/value-text.ts';
import { numberIn } from './number-in.ts';

const grouped = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 9 });

/** A threshold's value with its unit, such as `10 %` or `50 ms`. */
export function thresholdText(value: number, unit: ThresholdUnit): string {
  switch (unit) {
    case 'ratio':
      return `${grouped(value * 100)} %`;
    case 'bytes':
    case 'seconds':
      return valueText(value, unit);
    case 'gigabytes':
      return `${grouped(value)} GB`;
    case 'milliseconds':
      return `${grouped(value)} ms`;
    case 'hours':
    case 'days':
      return `${grouped(value)} ${value === 1 ? unit.slice(0, -1) : unit}`;
    case 'per_second':
    case 'per_minute':
    case 'per_day':
      return `${grouped(value)} a ${unit.slice(4)}`;
    case 'bytes_per_hour':
      return `${valueText(value, 'bytes')} an hour`;
    case 'count':
      return grouped(value);
  }
}

/** The unit of a threshold's field, as people say it, and its value. */
const FIELD_UNITS: Record<ThresholdUnit, readonly [unit: string, factor: number]> = {
  ratio: ['%', 0.01],
  count: ['', 1],
  bytes: ['MB', 1024 ** 2],
  gigabytes: ['GB', 1],
  milliseconds: ['ms', 1],
  seconds: ['s', 1],
  hours: ['hours', 1],
  days: ['days', 1],
  per_second: ['a second', 1],
  per_minute: ['a minute', 1],
  per_day: ['a day', 1],
  bytes_per_hour: ['MB an hour', 1024 ** 2],
};

/** Ends of a threshold's name that only tell its unit. */
const UNIT_ENDING = /_?(?:bytes_per_hour|per_(?:second|minute|day)|bytes|gb|ms|seconds|hours|days)$/;

/** A threshold's name in words, without its unit: `Warning at` for `warning_seconds`, `Minimum rows` for `minimum_rows`. */
export function thresholdWords(name: string): string {
  const [severity] = /^(?:info|warning|critical)(?=_|$)/.exec(name) ?? [];
  const words = severity ? `${severity} at` : name.replace(UNIT_ENDING, '').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The label of a threshold's field: its words and its unit, such as `Warning at (s)`. */
export function thresholdLabel(name: string, unit: ThresholdUnit): string {
  const counted = FIELD_UNITS[unit][0] || countedBy(name);
  return `${thresholdWords(name)}${counted && ` (${counted})`}`;
}

/** What a level without a unit counts: `transactions` of `warning_transactions`. */
function countedBy(name: string): string {
  return (/^(?:info|warning|critical)_(.+)/.exec(name)?.[1] ?? '').replaceAll('_', ' ');
}

/** A threshold with its value: `Warning at 20 %`, `Warning at 10,000,000 transactions`, `Minimum rows 10,000`. */
export function thresholdPhrase(name: string, value: number, unit: ThresholdUnit): string {
  const counted = unit === 'count' && countedBy(name);
  return `${thresholdWords(name)} ${thresholdText(value, unit)}${counted ? ` ${counted}` : ''}`;
}

// Without the last digits, which a division by 100 makes up.
const rounded = (value: number) => Number(value.toPrecision(14));

/** A threshold as the text of its field: 0.1 of a ratio is `10`. */
export function thresholdToField(value: number, unit: ThresholdUnit): string {
  return String(rounded(value / FIELD_UNITS[unit][1]));
}

/** The threshold in a field; null when empty, undefined when it is no number from 0 to 1e15. */
export function thresholdFromField(text: string, unit: ThresholdUnit): number | null | undefined {
  const number = numberIn(text);
  if (typeof number !== 'number') return number;
  const value = rounded(number * FIELD_UNITS[unit][1]);
  return value < 0 || value > 1e15 ? undefined : value;
}
