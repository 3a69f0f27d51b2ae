import { sessionCheck } from './session-check.ts';

/** Client transactions that stay open too long, busy or idle: 1 h, dbvitals' own value. */
export const longXact = sessionCheck({
  id: 'PG_LONG_XACT',
  title: 'Long-running transaction',
  since: 'xact_start',
  states: ['active', 'fastpath function call', 'idle in transaction', 'idle in transaction (aborted)'],
  thresholds: { warning_seconds: 3600 },
  doing: 'in one transaction',
  metric: 'longest_transaction_seconds',
  advice: 'commit it or end it',
  remediation: (sessions) => `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${sessions};`,
  ofBackups: {
    advice:
      'it is a backup by pg_dump: let it end, and take long ones from a standby, because vacuum removes no row that died since it began',
    remediation: (sessions) =>
      `SELECT pid, state, xact_start FROM pg_stat_activity WHERE ${sessions}; -- then wait until the backup ends; if it hangs, end it with SELECT pg_terminate_backend(…), and take it again`,
  },
  passMessage: 'No transaction has been open for long.',
});
