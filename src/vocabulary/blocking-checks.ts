/** The checks whose findings are sessions that wait for others: their tickets have blocking episodes. */
export const BLOCKING_CHECKS: readonly string[] = ['PG_BLOCKED_SESSIONS', 'MY_LOCK_WAITS', 'MY_MDL_WAIT'];
