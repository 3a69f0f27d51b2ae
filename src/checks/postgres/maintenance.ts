// VACUUM, ANALYZE, CLUSTER, CREATE INDEX and REINDEX take hours on a large table, and are no queries to make faster.

const RUNNING = ['vacuum', 'analyze', 'cluster', 'create_index']
  .map((what) => `SELECT pid FROM pg_stat_progress_${what}`)
  .join(' UNION ALL ');

/** Condition, also of a statement that is pasted: a session does maintenance that somebody asked for. */
export const IS_MAINTENANCE = `pid IN (${RUNNING})`;

/** The contrary. */
export const IS_NO_MAINTENANCE = `pid NOT IN (${RUNNING})`;
