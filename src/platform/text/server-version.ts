import { type Engine, type EngineFamily, familyOf } from '../../vocabulary/engines.ts';

/** A version as servers count it: 180004 → `18.4` of PostgreSQL; 80036 → `8.0.36` of MySQL; 101106 → `10.11.6` of MariaDB. */
export function serverVersion(engine: Engine, version: number): string {
  return partsOf(engine, version).join('.');
}

/** The series that a version belongs to and is supported with: `18` of PostgreSQL, `8.0` of MySQL, `10.11` of MariaDB. */
export function versionSeries(engine: Engine, version: number): string {
  return partsOf(engine, version).slice(0, -1).join('.');
}

function partsOf(engine: Engine, version: number): number[] {
  return PARTS[familyOf(engine)](Math.floor(version / 10_000), version % 10_000);
}

const PARTS: Readonly<Record<EngineFamily, (major: number, rest: number) => number[]>> = {
  postgres: (major, rest) => [major, rest],
  mysql: (major, rest) => [major, Math.floor(rest / 100), rest % 100],
  pgbouncer: (major, rest) => [major, Math.floor(rest / 100), rest % 100],
};

/** Whether a version is `wanted`, or begins with it: `18.4` is of `18`, and `18` is not of `1`. */
export function isOfVersion(version: string, wanted: string): boolean {
  return version === wanted || version.startsWith(`${wanted}.`);
}
