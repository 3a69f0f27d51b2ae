import type { Channel } from '../../../../src/vocabulary/channels.ts';

export interface ChannelText {
  name: string;
  /** What it sends, in a few words. */
  words: string;
  /** Where the operator finds the address. */
  where: string;
  /** The label of its address. */
  address: string;
  placeholder: string;
}

/** How the console names the channels, in the order in which it offers them. */
export const CHANNEL_TEXTS: Record<Channel, ChannelText> = {
  slack: {
    name: 'Slack',
    words: 'Messages in a channel',
    where: 'At api.slack.com/apps: your app → Incoming Webhooks → Add New Webhook, then copy its URL.',
    address: 'Webhook URL',
    placeholder: 'https://hooks.slack.com/services/…',
  },
  teams: {
    name: 'Microsoft Teams',
    words: 'Cards in a channel',
    where: 'In Teams: channel → Workflows → “Send webhook alerts to a channel”, then copy the URL.',
    address: 'Workflow URL',
    placeholder: 'https://….powerautomate.com/…',
  },
  mattermost: {
    name: 'Mattermost',
    words: 'Messages in a channel',
    where: 'In Mattermost: Integrations → Incoming Webhooks → Add, then copy the URL.',
    address: 'Webhook URL',
    placeholder: 'https://mattermost.example.com/hooks/…',
  },
  discord: {
    name: 'Discord',
    words: 'Messages in a channel',
    where: 'In Discord: Edit Channel → Integrations → Webhooks → Copy Webhook URL.',
    address: 'Webhook URL',
    placeholder: 'https://discord.com/api/webhooks/…',
  },
  pagerduty: {
    name: 'PagerDuty',
    words: 'Incidents that resolve themselves',
    where: 'In PagerDuty: service → Integrations → Events API V2, then copy the integration key.',
    address: 'Integration key',
    placeholder: '32 letters and digits',
  },
  email: {
    name: 'E-mail',
    words: 'Messages, one thread per alert',
    where: 'Each recipient confirms by a link before the first message.',
    address: 'Recipients',
    placeholder: 'ops@example.com',
  },
  webhook: {
    name: 'Webhook',
    words: 'Signed JSON for your own service',
    where: 'Requests are signed by the Standard Webhooks specification.',
    address: 'URL',
    placeholder: 'https://example.com/hooks/dbvitals',
  },
  alertmanager: {
    name: 'Alertmanager',
    words: 'Alerts for your own routing',
    where: 'The address of Prometheus Alertmanager; alerts go to its API v2.',
    address: 'URL',
    placeholder: 'https://alertmanager.example.com',
  },
  heartbeat: {
    name: 'Heartbeat',
    words: 'Pinged while dbvitals works',
    where:
      'Create a check with a period of 1 minute at a service such as Healthchecks, then copy its ping URL.',
    address: 'Ping URL',
    placeholder: 'https://hc-ping.com/…',
  },
  log_http: {
    name: 'Log stream by HTTP',
    words: 'The activity log, signed, as JSON lines',
    where: 'Entries are sent in order, signed as webhooks are.',
    address: 'URL',
    placeholder: 'https://siem.example.com/dbvitals',
  },
  splunk_hec: {
    name: 'Splunk',
    words: 'The activity log for the HTTP Event Collector',
    where:
      'In Splunk: Settings → Data inputs → HTTP Event Collector → New Token. Enter the token as the Authorization header.',
    address: 'URL of the collector',
    placeholder: 'https://splunk.example.com:8088',
  },
  elastic: {
    name: 'Elasticsearch',
    words: 'The activity log in a data stream',
    where:
      'In Kibana: Stack Management → API keys → Create API key, with the privilege create_doc on the data stream. OpenSearch takes it too.',
    address: 'URL of the data stream',
    placeholder: 'https://elastic.example.com:9200/logs-dbvitals.activity-default',
  },
  sentinel: {
    name: 'Microsoft Sentinel',
    words: 'The activity log by a data collection rule',
    where:
      'An app registration of Entra ID with the role Monitoring Metrics Publisher on the data collection rule, whose JSON is in the documentation.',
    address: 'URL of the stream',
    placeholder:
      'https://….ingest.monitor.azure.com/dataCollectionRules/dcr-…/streams/Custom-DbvitalsActivity',
  },
  otlp_logs: {
    name: 'OpenTelemetry',
    words: 'The activity log as log records',
    where: 'The address of a collector that takes OTLP over HTTP.',
    address: 'URL',
    placeholder: 'https://otel.example.com:4318/v1/logs',
  },
  syslog: {
    name: 'Syslog',
    words: 'The activity log by RFC 5424 over TLS',
    where: 'A receiver of syslog over TLS, such as rsyslog or syslog-ng.',
    address: 'URL',
    placeholder: 'syslog+tls://logs.example.com:6514',
  },
  s3: {
    name: 'S3',
    words: 'The activity log as objects in a bucket',
    where:
      'A bucket of S3 or a compatible service, with a prefix if you like. Its access key needs only s3:PutObject.',
    address: 'URL of the bucket',
    placeholder: 'https://bucket.s3.eu-central-1.amazonaws.com/dbvitals',
  },
};

export const OFFERED = Object.keys(CHANNEL_TEXTS) as Channel[];

/** The channels whose URL is a password as a whole. */
export function hasSecretUrl(channel: Channel): boolean {
  return !['webhook', 'alertmanager', 'elastic', 's3', 'sentinel'].includes(channel);
}

/** A name that no destination has yet, such as `Slack 2`. */
export function newName(channel: Channel, taken: readonly string[]): string {
  const { name } = CHANNEL_TEXTS[channel];
  const names = [name, ...taken.map((_, place) => `${name} ${place + 2}`)];
  return names.find((one) => !taken.includes(one)) ?? name;
}
