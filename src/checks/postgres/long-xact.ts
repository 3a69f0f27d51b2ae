import { sessionCheck } from './session-check.ts';

/** Client transactions that stay open too long, busy or idle: 1 and 4 h, dbvitals' own values. */
export const longXact = sessionCheck({
  id: 'PG_LONG_XACT',
  title: 'Long-running transaction',
  since: 'xact_start',
  states: ['active', 'fastpath function call', 'idle in transaction', 'idle in transaction (aborted)'],
  thresholds: { warning_seconds: 3600, critical_seconds: 4 * 3600 },
  doing: 'in one transaction',
  metric: 'longest_transaction_seconds',
  advice: 'commit it or end it',
  remediation: (sessions) => `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${sessions};`,
  passMessage: 'No transaction has been open for long.',
});
