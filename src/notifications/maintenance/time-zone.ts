import { Rejection } from '../../platform/rejection.ts';
import { nearestWord } from '../../platform/text/nearest-word.ts';

/** A date and time of day as clocks of a time zone show it, in milliseconds since 1970 as if it were UTC. */
export type WallTime = number;

const DAY = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** The IANA name of a time zone, in the usual capitals; null if there is no such zone. */
export function timeZoneNamed(name: string): string | null {
  // `Intl` also takes offsets such as +02:00, which know no summer time, and names in any capitals.
  if (!/^[A-Za-z]/.test(name)) return null;
  const lower = name.toLowerCase();
  const known = timeZones().find((zone) => zone.toLowerCase() === lower);
  if (known !== undefined) return known;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

/** {@link timeZoneNamed} that throws a {@link Rejection} with the most similar name. */
export function requireTimeZone(name: string, parameter = 'time_zone'): string {
  const zone = timeZoneNamed(name);
  if (zone !== null) return zone;
  const lower = new Map(timeZones().map((known) => [known.toLowerCase(), known]));
  const near = lower.get(nearestWord(name.toLowerCase(), [...lower.keys()]) ?? '');
  throw new Rejection(
    'invalid_parameter',
    near === undefined
      ? 'There is no such time zone. Use a name such as Europe/Berlin or UTC.'
      : `There is no such time zone. Did you mean ${near}?`,
    { parameter },
  );
}

/** The wall time of an instant. */
export function wallTimeOf(zone: string, at: number): WallTime {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(at)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/**
 * The instant at which a zone's clocks show `wall`. A time that they show twice is the `first` or the `last` of the two;
 * one that they skip is the moment when they are put forward.
 */
export function instantOfWallTime(zone: string, wall: WallTime, which: 'first' | 'last'): number {
  const before = offsetAt(zone, wall - DAY);
  const after = offsetAt(zone, wall + DAY);
  const found = [wall - before, wall - after].filter((at) => wallTimeOf(zone, at) === wall);
  if (found.length > 0) return which === 'first' ? Math.min(...found) : Math.max(...found);
  let [low, high] = [wall - after, wall - before];
  while (high - low > 1_000) {
    const middle = Math.floor((low + high) / 2_000) * 1_000;
    if (offsetAt(zone, middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

function offsetAt(zone: string, at: number): number {
  return wallTimeOf(zone, at) - Math.floor(at / 1_000) * 1_000;
}

function timeZones(): string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}

// One format takes 50 µs to make.
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, made);
  return made;
}
