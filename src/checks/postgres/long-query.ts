import { sessionCheck } from './session-check.ts';

/** Client statements that run too long: they hold a snapshot and locks, and use the machine. */
export const longQuery = sessionCheck({
  id: 'PG_LONG_QUERY',
  title: 'Long-running query',
  since: 'query_start',
  states: ['active', 'fastpath function call'],
  doing: 'running one query',
  metric: 'longest_query_seconds',
  advice: 'cancel it or make it faster',
  remediation: (sessions) => `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE ${sessions};`,
  passMessage: 'No query has been running for long.',
});
