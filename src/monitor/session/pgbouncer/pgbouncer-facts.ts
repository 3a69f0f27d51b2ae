import type { RunFacts } from '../engine-parts.ts';
import type { Session } from '../session.ts';
import { notConsole } from './pgbouncer-session.ts';

/** `show version` has rows since 1.12; before, it was a notice. */
const VERSION = /^PgBouncer (\d{1,2})\.(\d{1,2})(?:\.(\d{1,2}))?/;

/** Reads the version of PgBouncer: 12401 is 1.24.1. One session sees all pools. */
export async function factsOfPgbouncer(session: Session): Promise<RunFacts> {
  const [row] = await session.read('show version');
  const version = row?.['version'];
  const [, major, minor, patch = '0'] = (typeof version === 'string' && VERSION.exec(version)) || [];
  if (major === undefined || minor === undefined) throw notConsole();
  return {
    version: Number(major) * 10_000 + Number(minor) * 100 + Number(patch),
    databases: [],
    provider: null,
  };
}

/** Its server connections lead where they lead: no PgBouncer is preferred. */
export async function isPgbouncerPrimary(): Promise<boolean> {
  return true;
}
