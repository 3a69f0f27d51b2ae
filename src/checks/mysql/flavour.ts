/**
 * Whether a version, such as 80036 or 101106, is one of MariaDB: it counts from 10.0 on. MySQL went to 9.7, and from
 * 26.7 on counts by year and month.
 */
export function isMariaDb(version: number): boolean {
  return version >= 100_000 && version < 260_000;
}

/** `10.11.6-MariaDB-0+deb12u1` → 101106, `8.0.36-28` → 80036; null if it is neither. */
export function versionNumber(text: string): number | null {
  // MariaDB before 11 puts 5.5.5- in front for old replicas.
  const [, major, minor, patch] = /^(?:5\.5\.5-)?(\d{1,2})\.(\d{1,2})\.(\d{1,2})(?:\D|$)/.exec(text) ?? [];
  if (major === undefined) return null;
  const version = Number(major) * 10_000 + Number(minor) * 100 + Number(patch);
  return isMariaDb(version) === /mariadb/i.test(text) ? version : null;
}
