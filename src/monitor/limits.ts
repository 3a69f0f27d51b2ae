/** How long a run may take and how much it may read. */
export interface Limits {
  connectMs: number;
  /** For connecting to a target, including all hosts and tries. No further host is tried after that. */
  reachMs: number;
  /** After which the server cancels a statement. */
  statementMs: number;
  /** For one statement, including `begin` and `commit`. */
  answerMs: number;
  /** After which a server may end a session that sends nothing. */
  idleMs: number;
  databaseMs: number;
  runMs: number;
  runBytes: number;
  betweenTriesMs: number;
}

/**
 * The limits of every run; tests use shorter ones. The server cancels a statement after 5 s, so a server that is
 * silent for 7 s will not answer.
 */
export const LIMITS: Limits = {
  connectMs: 5_000,
  reachMs: 20_000,
  statementMs: 5_000,
  answerMs: 7_000,
  idleMs: 30_000,
  databaseMs: 60_000,
  runMs: 120_000,
  runBytes: 16 * 1024 * 1024,
  betweenTriesMs: 1_000,
};
