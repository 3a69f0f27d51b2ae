const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** The seconds of a duration such as 90s or 7d; undefined if the text is not a duration. */
export function secondsOf(text: string): number | undefined {
  const [, count, unit] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? [];
  return unit === 's' || unit === 'm' || unit === 'h' || unit === 'd'
    ? Number(count) * SECONDS[unit]
    : undefined;
}
