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
  ofMaintenance: {
    advice: 'it is maintenance, such as VACUUM or CREATE INDEX: let it end',
    remediation: (sessions) =>
      `SELECT pid, query_start, query FROM pg_stat_activity WHERE ${sessions}; -- then wait until it ends: pg_stat_progress_vacuum and the like show how far it is. If it must end now, SELECT pg_cancel_backend(…): its work is lost, and CREATE INDEX CONCURRENTLY leaves an invalid index behind`,
  },
  passMessage: 'No query has been running for long.',
});
