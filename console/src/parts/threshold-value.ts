import type { ThresholdUnit } from '../../../src/vocabulary/threshold-units.ts';
import { valueText } from './chart/value-text.ts';

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
