import { useSyncExternalStore } from 'react';
import { duration } from '../../../src/platform/text/duration-text.ts';
import { fieldDay, formatter, isUtc, useTimeZone } from '../time-zone.ts';

export { duration };

const MINUTE = formatter({ dateStyle: 'medium', timeStyle: 'short' });
const SECOND = formatter({ dateStyle: 'medium', timeStyle: 'medium' });
const TIME_OF_DAY = formatter({ timeStyle: 'short' });
const DAY = formatter({ dateStyle: 'medium' });
const DEVICE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const AHEAD = new Intl.RelativeTimeFormat('en');

/** The service's clock minus the browser's, in milliseconds: countdowns follow the service's clock. */
let skew = 0;

/**
 * Sets the page's clock from an answer of the service. A difference under two seconds may be network time and is ignored.
 */
export function setClock(serverTime: string): void {
  const ahead = new Date(serverTime).getTime() - Date.now();
  skew = Math.abs(ahead) < 2_000 ? 0 : ahead;
}

/** The service's time in milliseconds since 1970. */
export function clockNow(): number {
  return Date.now() + skew;
}

/** `2026-11-21 18:20:03 UTC`. */
export function utc(at: string | Date): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** UTC is named. The device's time zone goes without saying. */
function named(text: string): string {
  return isUtc() ? `${text} UTC` : text;
}

/** In the chosen time zone, `21 Nov 2026, 18:20`, or `21 Nov 2026, 17:20 UTC`. */
export function local(at: string | Date, { seconds = false } = {}): string {
  return named((seconds ? SECOND : MINUTE)(new Date(at)));
}

/** An instant in both time zones, the chosen one first: `21 Nov 2026, 18:20 (2026-11-21 17:20:03 UTC)`. */
export function inBothZones(at: string | Date, { seconds = false } = {}): string {
  return `${local(at, { seconds })} (${inOtherZone(at)})`;
}

/** An instant in the time zone that is not chosen: UTC, or the device's. */
function inOtherZone(at: string | Date): string {
  return isUtc() ? `${DEVICE.format(new Date(at))} local time` : utc(at);
}

/** The day in the chosen time zone, `21 Nov 2026`. */
export function localDay(at: string | Date): string {
  return named(DAY(new Date(at)));
}

/** The time of day in the chosen time zone, `18:20`; with the date unless it is today. `at` in milliseconds. */
export function clockTime(at: number): string {
  const isToday = fieldDay(at) === fieldDay(Date.now());
  return named((isToday ? TIME_OF_DAY : MINUTE)(at));
}

/**
 * `3 minutes ago`, `in 2 days`, or `just now` within a minute. `now` in milliseconds. Future times are rounded to the
 * nearest unit, so that a link valid for seven days still says so a moment later.
 */
export function ago(at: string | Date, now = clockNow()): string {
  const seconds = (new Date(at).getTime() - now) / 1000;
  return seconds > 0 ? ahead(seconds) : behind(-seconds);
}

function ahead(seconds: number): string {
  // Rounded to the next finer unit first: 23 h 59 min are a day.
  const found = UNITS.find(([, size], place) => {
    const finer = UNITS[place + 1]?.[1] ?? 1;
    return Math.round(seconds / finer) * finer >= size;
  });
  if (!found) return 'in a moment';
  const [unit, size] = found;
  return AHEAD.format(Math.round(seconds / size), unit);
}

function behind(seconds: number): string {
  const [unit, size] = UNITS.find(([, least]) => seconds >= least) ?? [];
  return unit && size ? AGO.format(-Math.floor(seconds / size), unit) : 'just now';
}

/** All clocks of a page with the same step share one timer. */
const clocks = new Map<number, { subscribe: (listener: () => void) => () => void; now: () => number }>();

function clock(step: number) {
  const known = clocks.get(step);
  if (known) return known;
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const made = {
    now: () => Math.floor(clockNow() / step) * step,
    subscribe(listener: () => void) {
      listeners.add(listener);
      timer ??= setInterval(() => {
        for (const told of listeners) told();
      }, step);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
  clocks.set(step, made);
  return made;
}

/** The time in milliseconds since 1970, updated every `step` milliseconds; a minute by default. */
export function useNow(step = 60_000): number {
  const { subscribe, now } = clock(step);
  return useSyncExternalStore(subscribe, now);
}

interface TimeProps {
  at: string | Date;
  /** `ago` shows how long ago, with the instant as tooltip; `full` shows both time zones. */
  as?: 'ago' | 'local' | 'full';
  seconds?: boolean;
}

/** An instant in the chosen time zone, with the other one as tooltip or beside it. */
export function Time({ at, as = 'ago', seconds = false }: TimeProps) {
  useTimeZone();
  const here = local(at, { seconds });
  return (
    <time
      dateTime={new Date(at).toISOString()}
      {...(as !== 'full' && { title: inBothZones(at, { seconds }) })}
    >
      {as === 'ago' ? <Ago at={at} /> : here}
      {as === 'full' && (
        <>
          {' '}
          <span className="other-zone">({inOtherZone(at)})</span>
        </>
      )}
    </time>
  );
}

/** A separate component, so that only relative times render again every minute. */
function Ago({ at }: { at: string | Date }) {
  useNow();
  return ago(at);
}

/** Counts down to an instant every second; shows `over` afterwards. */
export function Countdown({ to, over = 'now' }: { to: string | Date; over?: string }) {
  useTimeZone();
  const left = (new Date(to).getTime() - useNow(1_000)) / 1000;
  return (
    <time dateTime={new Date(to).toISOString()} title={inBothZones(to)}>
      {left > 0 ? duration(left) : over}
    </time>
  );
}
