/** The tables in a backup, each after the tables that it references. */
export const BACKED_UP: readonly string[] = [
  ...['account', 'login', 'passkey', 'member', 'onboarding'],
  ...['api_key', 'key_window', 'key_hour', 'key_day', 'key_counted'],
  ...['activity_head', 'activity_type_head', 'activity_floor', 'activity'],
  ...['seal_key', 'activity_seal', 'activity_leaves'],
  ...['connection', 'credential_key', 'connection_schedule', 'connection_tags'],
  ...['connection_trend', 'connection_version'],
  ...[
    'health_check',
    'counter_sample',
    'silence',
    'ticket',
    'ticket_comment',
    'ticket_triage',
    'ticket_tally',
    'ticket_week',
  ],
  ...[
    'measure_series',
    'measure_run',
    'measure_five_minutes',
    'measure_latest',
    'measure_hour',
    'measure_day',
    'measure_rolled',
    'measure_forecast',
  ],
  ...['connection_change', 'fact_snapshot', 'redaction_key'],
  ...['query_hour', 'query_state', 'query_text', 'saved_view', 'threshold'],
  ...['destination', 'destination_queue', 'destination_recipient', 'event'],
  ...['delivery', 'delivery_message', 'delivery_attempt', 'alert_rule', 'alert', 'maintenance'],
  ...['cell', 'directory_account', 'directory_key', 'account_move'],
];

/**
 * The tables that are not in a backup: those whose rows must not be restored because they may have been used or have ended
 * since, and those that belong to a single store.
 */
export const LEFT_OUT: readonly string[] = [
  ...['session', 'link', 'challenge', 'sign_in_failure'],
  ...['migration', 'last_backup'],
];
