import { cleanText } from '../platform/text/clean-text.ts';

/** The progress of a run. */
export interface Progress {
  /** The current database, counted from 1. */
  database: { name: string; number: number };
  databases: number;
  checks: { done: number; all: number };
}

/**
 * Counts the checks of a run and calls `show` after each. Call the returned function after a check, with its
 * database.
 */
export function countChecks(
  databases: readonly string[],
  { ofServer, ofDatabase }: { ofServer: number; ofDatabase: number },
  show: (progress: Progress) => void,
): (database: string) => void {
  const all = ofServer + ofDatabase * databases.length;
  let done = 0;
  return (database) => {
    done++;
    show({
      database: { name: cleanText(database, 60), number: Math.max(1, databases.indexOf(database) + 1) },
      databases: databases.length,
      checks: { done, all },
    });
  };
}
