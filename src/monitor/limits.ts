/** How long a run may take and how much it may read. */
export interface Limits {
  connectMs: number;
  /** For reaching a target, with all its hosts and tries; a host is not begun with after that. */
  reachMs: number;
  /** For one statement, with what frames it. */
  answerMs: number;
  databaseMs: number;
  runMs: number;
  runBytes: number;
  betweenTriesMs: number;
}

/**
 * The limits that every run of the monitor has; tests shorten them. A statement is cancelled by the server after 5 s,
 * so what has not answered after 7 s is not going to.
 */
export const LIMITS: Limits = {
  connectMs: 5_000,
  reachMs: 20_000,
  answerMs: 7_000,
  databaseMs: 60_000,
  runMs: 120_000,
  runBytes: 16 * 1024 * 1024,
  betweenTriesMs: 1_000,
};
