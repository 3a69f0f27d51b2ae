/** The tables that a backup holds, each after those that it refers to. */
export const BACKED_UP: readonly string[] = [
  ...['account', 'login', 'passkey', 'member'],
  ...['api_key', 'key_window', 'key_hour', 'key_counted'],
  ...['activity_head', 'activity_type_head', 'activity_floor', 'activity'],
  ...['seal_key', 'activity_seal', 'activity_leaves'],
  ...['connection', 'credential_key', 'connection_schedule', 'connection_trend'],
  ...['health_check', 'counter_sample', 'silence', 'ticket', 'ticket_tally', 'ticket_week'],
];

/**
 * Those that it does not hold: what a restore must not bring back to life, for it may have been used or ended since, and
 * what a store has of its own.
 */
export const LEFT_OUT: readonly string[] = [
  ...['session', 'link', 'challenge', 'sign_in_failure'],
  ...['migration', 'last_backup'],
];
