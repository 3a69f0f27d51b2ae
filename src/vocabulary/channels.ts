/** The formats that a destination speaks. */
export const CHANNELS = [
  'webhook',
  'slack',
  'mattermost',
  'teams',
  'discord',
  'pagerduty',
  'alertmanager',
  'email',
  'heartbeat',
  'log_http',
  'splunk_hec',
  'elastic',
  'sentinel',
  'otlp_logs',
  'syslog',
  's3',
] as const;

export type Channel = (typeof CHANNELS)[number];

/** The channels of log streams: they get the entries of the account's log instead of events. */
export const LOG_CHANNELS: readonly Channel[] = [
  'log_http',
  'splunk_hec',
  'elastic',
  'sentinel',
  'otlp_logs',
  'syslog',
  's3',
];

/** The channels that get no events: a heartbeat gets requests without one. */
export const EVENTLESS_CHANNELS: readonly Channel[] = ['heartbeat', ...LOG_CHANNELS];

/** The channels whose requests are signed. */
export const SIGNED_CHANNELS: readonly Channel[] = ['webhook', 'log_http'];

/** The channels that take the value of an `Authorization` header; s3 makes it from an access key. */
export const AUTHORIZED_CHANNELS: readonly Channel[] = [
  'webhook',
  'alertmanager',
  'heartbeat',
  'log_http',
  'splunk_hec',
  'elastic',
  'sentinel',
  'otlp_logs',
  's3',
];

/** The channels that people read: they put the events of 30 seconds into one message, and can get digests. */
export const GROUPING_CHANNELS: readonly Channel[] = ['slack', 'mattermost', 'teams', 'discord', 'email'];
