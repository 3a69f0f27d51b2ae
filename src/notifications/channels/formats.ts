import type { Channel } from '../../vocabulary/channels.ts';
import { alertmanager } from './alertmanager.ts';
import type { ChannelFormat } from './channel.ts';
import { discord } from './discord.ts';
import { heartbeat } from './heartbeat.ts';
import { elastic } from './log/elastic.ts';
import { logHttp } from './log/log-http.ts';
import { otlpLogs } from './log/otlp-logs.ts';
import { s3 } from './log/s3.ts';
import { sentinel } from './log/sentinel.ts';
import { splunkHec } from './log/splunk-hec.ts';
import { syslog } from './log/syslog.ts';
import { email } from './mail/email-format.ts';
import { mattermost } from './mattermost.ts';
import { pagerduty } from './pagerduty.ts';
import { slack } from './slack.ts';
import { teams } from './teams.ts';
import { webhook } from './webhook.ts';

/** How each channel forms its messages and requests. */
export const FORMATS: Readonly<Record<Channel, ChannelFormat>> = {
  webhook,
  slack,
  mattermost,
  teams,
  discord,
  pagerduty,
  alertmanager,
  email,
  heartbeat,
  log_http: logHttp,
  splunk_hec: splunkHec,
  elastic,
  sentinel,
  otlp_logs: otlpLogs,
  syslog,
  s3,
};
