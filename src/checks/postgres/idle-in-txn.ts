import { textIn } from '../columns.ts';
import { sessionCheck } from './session-check.ts';

/** Sessions that hold a transaction open and do nothing: they keep locks, and keep vacuum from removing dead rows. */
export const idleInTxn = sessionCheck({
  id: 'PG_IDLE_IN_TXN',
  title: 'Session idle in transaction',
  since: 'state_change',
  states: ['idle in transaction', 'idle in transaction (aborted)'],
  doing: 'idle in transaction',
  metric: 'longest_idle_in_transaction_seconds',
  advice: 'end the transaction, and set a timeout for future ones',
  remediation: (sessions, row) =>
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${sessions}; ALTER ROLE ${textIn(row, 'role')} IN DATABASE ${textIn(row, 'database')} SET idle_in_transaction_session_timeout = '10min';`,
  passMessage: 'No session has been idle in a transaction for long.',
});
