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
] as const;

export type Channel = (typeof CHANNELS)[number];

/** The channels that put the events of 30 seconds into one message. */
export const GROUPING_CHANNELS: readonly Channel[] = ['slack', 'mattermost', 'teams', 'discord', 'email'];
