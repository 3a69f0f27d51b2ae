import type { Unit } from '../../../../src/vocabulary/units.ts';
import { counted } from '../figure.ts';
import { valueText } from './value-text.ts';

/** The forecast of a value that only grows. */
export interface Forecast {
  /** Growth in a day, with its interval. */
  per_day: number;
  per_day_low: number;
  per_day_high: number;
  /** RFC 3339; null if it has no limit. */
  full_at: string | null;
  full_earliest: string | null;
  /** Null if it may never be full. */
  full_latest: string | null;
}

const DAY_MS = 86_400_000;

/** The numbers that a value is compared with. */
interface Limits {
  warning: number | null;
  critical: number | null;
  limit: number | null;
}

/** What a value is called at its limit. The limit of an own check is its last level. */
export function nameLimit({ warning, critical, limit }: Limits): 'full' | 'critical' | 'warning' {
  if (limit !== null && limit === critical) return 'critical';
  return limit !== null && limit === warning ? 'warning' : 'full';
}

/** `Full in about 41 days (26 to 77)`, or `Grows by 1.2 GB a day (0.9 GB to 1.5 GB)`; `now` in milliseconds. */
export function forecastText(
  { unit, ...limits }: Limits & { unit: Unit },
  forecast: Forecast,
  now: number,
): string {
  const { per_day, per_day_low, per_day_high, full_at, full_earliest, full_latest } = forecast;
  if (full_at === null) {
    const [low, high] = [per_day_low, per_day_high].map((value) => valueText(value, unit));
    return `Grows by ${valueText(per_day, unit)} a day (${low} to ${high})`;
  }
  const end = { full: 'Full', critical: 'Critical', warning: 'Warning' }[nameLimit(limits)];
  const days = (at: string) => Math.max(0, Math.round((Date.parse(at) - now) / DAY_MS));
  const about = days(full_at);
  const earliest = days(full_earliest ?? full_at);
  const interval =
    full_latest === null ? `${earliest} at the earliest` : `${earliest} to ${days(full_latest)}`;
  return about === 0 ? `${end} within a day` : `${end} in about ${counted(about, 'day')} (${interval})`;
}
