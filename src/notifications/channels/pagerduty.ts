import type { ChannelFormat, MessageContext, MessageEvent } from './channel.ts';
import { post } from './http-request.ts';
import { cutText, plainLine } from './plain-text.ts';
import { CHANGES, isOver, OPEN, REMEDIATION, reportOf } from './report/report.ts';
import { threadOf } from './thread.ts';

// https://developer.pagerduty.com/docs/events-api-v2/trigger-events/
const URL_US = 'https://events.pagerduty.com/v2/enqueue';
const SUMMARY = 1_024;
const DEDUP_KEY = 255;
/** A request has at most 512 kB; a person reads less. */
const DETAIL = 4_000;

/** What `request` adds the routing key to: it is secret, and the stored message holds none. */
type Body = Readonly<Record<string, unknown>>;

/**
 * PagerDuty's Events API v2. An event of an alert or ticket triggers an incident or resolves it, by the same `dedup_key`. So
 * events are not grouped: each is a request.
 */
export const pagerduty: ChannelFormat = {
  makeMessage([event, ...others], context) {
    if (event === undefined || others.length > 0) throw new Error('A request to PagerDuty holds one event.');
    return { contentType: 'application/json', body: JSON.stringify(bodyOf(event, context)) };
  },
  mostEvents: 1,
  request({ name, secrets }, { body, contentType }) {
    if (secrets.routingKey === undefined) throw new Error(`Destination “${name}” has no integration key.`);
    const message: Body = JSON.parse(body);
    return post(secrets, {
      url: secrets.url ?? URL_US,
      body: JSON.stringify({ routing_key: secrets.routingKey, ...message }),
      contentType,
    });
  },
};

function bodyOf(event: MessageEvent, context: MessageContext): Body {
  const { heading, note, facts, changes, remediation, url } = reportOf(event, context);
  const { connection, database, object, check_id, since } = event.details;
  const key = { event_action: resolves(event) ? 'resolve' : 'trigger', dedup_key: dedupKey(event, context) };
  const component = [database, object ?? ''].map(plainLine).filter(Boolean).join(': ');
  const details = [
    ...(note === null ? [] : [{ name: 'Note', text: note }]),
    ...facts,
    ...(changes.length > 0 ? [{ name: CHANGES, text: changes.join('\n') }] : []),
    ...(remediation === null ? [] : [{ name: REMEDIATION, text: remediation }]),
  ];
  const classes = [check_id ?? '', event.details.measured?.metric ?? ''];
  return {
    ...key,
    client: 'dbvitals',
    client_url: url,
    links: [{ href: url, text: OPEN }],
    payload: {
      summary: cutText(heading, SUMMARY),
      source: cutText(plainLine(connection?.name ?? context.account) || 'dbvitals', DEDUP_KEY),
      severity: event.severity ?? 'info',
      timestamp: since === null ? event.occurred_at.toISOString() : new Date(since).toISOString(),
      ...(component && { component: cutText(component, DEDUP_KEY) }),
      group: cutText(plainLine(context.account), DEDUP_KEY),
      class: cutText(classes.map(plainLine).find(Boolean) ?? event.kind, DEDUP_KEY),
      custom_details: Object.fromEntries(details.map(({ name, text }) => [name, cutText(text, DETAIL)])),
    },
  };
}

/** A health check without a warning ends the incident of one with a warning. */
function resolves({ kind, severity }: MessageEvent): boolean {
  return isOver(kind) || (kind === 'health_check.completed' && severity === 'info');
}

function dedupKey(event: MessageEvent, context: MessageContext): string {
  const key = threadOf(event, context);
  // The end of the key tells events apart.
  return key.length <= DEDUP_KEY ? key : key.slice(-DEDUP_KEY);
}
