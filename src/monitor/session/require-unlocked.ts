import { OwnWords } from '../../platform/text/own-words.ts';
import type { RunFacts } from './engine-parts.ts';

/**
 * Throws if a login to the database would wait for a lock. It would stay on the server when its client leaves, so each run would
 * add one.
 */
export function requireUnlocked(
  { lockedDatabases }: Pick<RunFacts, 'lockedDatabases'>,
  database: string,
): void {
  if (lockedDatabases?.includes(database))
    throw new OwnWords(
      'a session locks its catalogue, so no session can log in; PG_BLOCKED_SESSIONS names it',
    );
}
