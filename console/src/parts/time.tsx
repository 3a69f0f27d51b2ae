import { useSyncExternalStore } from 'react';

const LOCAL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const LOCAL_SECONDS = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const LOCAL_TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const LOCAL_DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });

const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const AHEAD = new Intl.RelativeTimeFormat('en');

/** The service's clock less the browser's, in milliseconds: what is counted down ends by the service's. */
let skew = 0;

/** Sets the page's clock by an answer of the service. Less than two seconds may be the way that it took. */
export function setClock(serverTime: string): void {
  const ahead = new Date(serverTime).getTime() - Date.now();
  skew = Math.abs(ahead) < 2_000 ? 0 : ahead;
}

function clockNow(): number {
  return Date.now() + skew;
}

/** `2026-11-21 18:20:03 UTC`. */
export function utc(at: string | Date): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** In the viewer's zone, `21 Nov 2026, 18:20`. */
export function local(at: string | Date, { seconds = false } = {}): string {
  return (seconds ? LOCAL_SECONDS : LOCAL).format(new Date(at));
}

/** The viewer's day, `21 Nov 2026`. */
export function localDay(at: string | Date): string {
  return LOCAL_DAY.format(new Date(at));
}

/** The time of day in the viewer's zone, `18:20`; with the day where that is not today. `at` in milliseconds. */
export function clockTime(at: number): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return isToday ? LOCAL_TIME.format(at) : LOCAL.format(at);
}

/**
 * `3 minutes ago`, `in 2 days`, `just now` within the minute. `now` in milliseconds. What lies ahead is rounded to the nearest
 * unit, so that a link good for seven days says so a moment after it was made.
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

/** A length of time in two units at most: `1 h 5 min`, `42 s`. Negative is nothing: `0 s`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3_600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** All that tell the time on a page share one timer a step. */
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

/** The time in milliseconds since 1970, renewed every `step` milliseconds (a minute unless told). */
export function useNow(step = 60_000): number {
  const { subscribe, now } = clock(step);
  return useSyncExternalStore(subscribe, now);
}

interface TimeProps {
  at: string | Date;
  /** `ago` says how long ago, with the instant as its title; `full` says the instant in the viewer's zone, UTC beside. */
  as?: 'ago' | 'local' | 'full';
  seconds?: boolean;
}

/** An instant: in the viewer's zone, with UTC as title, or written beside it. */
export function Time({ at, as = 'ago', seconds = false }: TimeProps) {
  const here = local(at, { seconds });
  return (
    <time dateTime={new Date(at).toISOString()} {...(as !== 'full' && { title: `${here} (${utc(at)})` })}>
      {as === 'ago' ? <Ago at={at} /> : here}
      {as === 'full' && (
        <>
          {' '}
          <span className="utc">({utc(at)})</span>
        </>
      )}
    </time>
  );
}

/** Apart, so that only what ages is drawn anew as time goes on. */
function Ago({ at }: { at: string | Date }) {
  useNow();
  return ago(at);
}

/** How long it is until an instant, counted down every second; `over` is said after it. */
export function Countdown({ to, over = 'now' }: { to: string | Date; over?: string }) {
  const left = (new Date(to).getTime() - useNow(1_000)) / 1000;
  return (
    <time dateTime={new Date(to).toISOString()} title={`${local(to)} (${utc(to)})`}>
      {left > 0 ? duration(left) : over}
    </time>
  );
}
