import type { EventKind } from '../../vocabulary/event-kinds.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import type { ChannelFormat, MessageContext, MessageEvent } from './channel.ts';
import { post, urlOf } from './http-request.ts';
import { cutText, plainLine } from './plain-text.ts';
import { CHANGES, isOver, REMEDIATION, reportOf } from './report/report.ts';
import { threadOf } from './thread.ts';

// https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
const PATH = '/api/v2/alerts';
const ANNOTATION = 4_000;
const LABEL = 200;
const DAY = 86_400_000;
/** Alertmanager ends an alert after five minutes, unless it is told when it ends. dbvitals says so when it ends. */
const OPEN_DAYS = 365;
const TEST_MINUTES = 5;

/**
 * Alertmanager's API v2. Alertmanager groups, repeats and inhibits by itself, so events are not grouped before. The labels
 * of an alert never change while it is open, or its end would be the end of another one.
 */
export const alertmanager: ChannelFormat = {
  makeMessage: (events, context) => ({
    contentType: 'application/json',
    body: JSON.stringify(events.flatMap((event) => alertsOf(event, context))),
  }),
  mostEvents: 1,
  request(destination, { body, contentType }) {
    const base = urlOf(destination).replace(/\/+$/, '');
    return post(destination.secrets, { url: base.endsWith(PATH) ? base : base + PATH, body, contentType });
  },
};

/**
 * After these the severity may be another one than before. The severity is a label, because routes need it: so what had
 * another severity is another alert, which ends. Alertmanager names it in its notification, even if it never was.
 */
const MAY_CHANGE_SEVERITY: readonly EventKind[] = [
  'ops.ticket_escalated',
  'ops.ticket_resolved',
  'health_check.completed',
];

function alertsOf(event: MessageEvent, context: MessageContext): object[] {
  const severity = event.severity ?? 'info';
  const alert = alertOf(event, context, severity, endsAt(event));
  if (!MAY_CHANGE_SEVERITY.includes(event.kind)) return [alert];
  const others = SEVERITIES.filter((each) => each !== severity);
  const ended = event.occurred_at.toISOString();
  return [alert, ...others.map((each) => alertOf(event, context, each, ended))];
}

/** Events that nothing resolves. */
const MOMENTARY: readonly EventKind[] = ['test', 'destination.disabled', 'api_key.expiring'];

function endsAt({ kind, severity, occurred_at }: MessageEvent): string {
  if (isOver(kind) || (kind === 'health_check.completed' && severity === 'info'))
    return occurred_at.toISOString();
  const open = MOMENTARY.includes(kind) ? TEST_MINUTES * 60_000 : OPEN_DAYS * DAY;
  return new Date(occurred_at.getTime() + open).toISOString();
}

function alertOf(event: MessageEvent, context: MessageContext, severity: string, endsAt: string): object {
  const { kind, connection_id, details, occurred_at } = event;
  const { heading, note, facts, changes, remediation, url } = reportOf(event, context);
  // Alertmanager refuses an alert that ends before it starts.
  const startsAt = new Date(
    Math.min(Date.parse(details.since ?? '') || occurred_at.getTime(), Date.parse(endsAt)),
  );
  const texts: Record<string, string> = {
    summary: heading,
    description: [
      ...(note === null ? [] : [note]),
      ...facts.map(({ name, text }) => `${name}: ${text}`),
    ].join('\n'),
    account: plainLine(context.account),
    connection: plainLine(details.connection?.name ?? ''),
    ...(changes.length > 0 && { changes: `${CHANGES}:\n${changes.join('\n')}` }),
    ...(remediation !== null && { remediation: `${REMEDIATION}:\n${remediation}` }),
  };
  return {
    labels: {
      alertname: alertName(event),
      job: 'dbvitals',
      kind: kind.startsWith('ops.') ? 'ticket' : kind.replace(/\..*/, ''),
      severity,
      dbvitals_id: threadOf(event, context),
      ...(connection_id !== null && { connection_id: String(connection_id) }),
    },
    annotations: Object.fromEntries(
      Object.entries(texts)
        .filter(([, text]) => text !== '')
        .map(([name, text]) => [name, cutText(text, ANNOTATION)]),
    ),
    startsAt: startsAt.toISOString(),
    endsAt,
    generatorURL: url,
  };
}

/** Of a ticket its check, such as `PG_DEAD_TUPLES`; of an alert `dbvitals_` and its metric. */
function alertName({ kind, alert_id, details }: MessageEvent): string {
  if (alert_id !== null && details.measured)
    return `dbvitals_${cutText(plainLine(details.measured.metric), LABEL)}`;
  const check = kind.startsWith('ops.') ? cutText(plainLine(details.check_id ?? ''), LABEL) : '';
  return check || `dbvitals_${kind.replaceAll('.', '_')}`;
}
