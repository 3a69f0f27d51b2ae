const MEGABYTE = 1024 * 1024;

// Made at first use: the first formatter of a process takes 7 MB, which a collector that waits for work has no use for.
let digits: Intl.NumberFormat | undefined;
let twoDigits: Intl.NumberFormat | undefined;

/** `1234567.8` → `1,234,568`. */
export function grouped(count: number): string {
  digits ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
  return digits.format(count);
}

/** `counted(1, 'session')` → `1 session`, `counted(2, 'index', 'indexes')` → `2 indexes`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** A share of 1 in whole per cent, rounded down so that it never shows a threshold that is not reached: `47 %`. */
export function percent(share: number): string {
  return `${Math.floor(share * 100 + 1e-9)} %`;
}

/** Seconds in readable units: `40 s`, `45 min`, `3 h 5 min`, `2 d 4 h`. */
export function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes === 0) return `${Math.floor(seconds)} s`;
  if (hours === 0) return `${minutes} min`;
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Bytes in the unit that reads best: `640 kB`, `12 MB`, `3.4 GB`. */
export function size(bytes: number): string {
  if (bytes < MEGABYTE) return `${Math.ceil(bytes / 1024)} kB`;
  if (bytes < 1024 * MEGABYTE) return `${Math.floor(bytes / MEGABYTE)} MB`;
  return `${(bytes / MEGABYTE / 1024).toFixed(1)} GB`;
}

/** A rate with two digits, or in whole numbers from 100 on: `0.0031 a second`, `2.5 a second`, `1,230 a second`. */
export function rate(perSecond: number): string {
  twoDigits ??= new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 });
  return `${perSecond < 100 ? twoDigits.format(perSecond) : grouped(perSecond)} a second`;
}
