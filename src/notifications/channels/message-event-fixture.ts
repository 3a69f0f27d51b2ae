import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import type { EventDetails } from '../event.ts';
import type { MessageContext, MessageEvent, OpenDestination } from './channel.ts';

/** The service of the examples. */
export const CONTEXT: MessageContext = { consoleUrl: 'https://dbvitals.example.com', account: 'Acme' };

type Changed = Partial<Omit<MessageEvent, 'details'>> & { details?: Partial<EventDetails> };

/** A ticket of the frozen examples that was opened; `changed` makes it another event. */
export function exampleEvent({ details, ...changed }: Changed = {}): MessageEvent {
  return {
    event_id: 'evt_Gk1x0OqXl9',
    kind: 'ops.ticket_created',
    occurred_at: new Date('2026-03-02T10:15:00Z'),
    severity: 'warning',
    connection_id: 2,
    ticket_id: 31,
    alert_id: null,
    body: '{}',
    changes: ['Setting work_mem: 4MB → 64MB'],
    ...changed,
    details: {
      connection: { id: 2, name: 'orders', host: 'db-2.example.com', port: 5432, connection_type: 'direct' },
      title: 'A table holds many dead rows',
      check_id: 'PG_DEAD_TUPLES',
      database: 'shop',
      object: 'public.orders',
      metric_line: '31 % of the rows of public.orders are dead',
      measured: { metric: 'dead_row_ratio', operator: '>=', threshold: 0.2, value: 0.31 },
      since: '2026-03-02T10:15:00.000Z',
      remediation: 'VACUUM (ANALYZE) public.orders;',
      resolution: null,
      page: PAGE_LINKS.ticket(31),
      ...details,
    },
  };
}

/** An alert of the frozen examples, triggered or resolved. */
export function exampleAlert({ details, ...changed }: Changed = {}): MessageEvent {
  return exampleEvent({
    kind: 'alert.triggered',
    severity: 'critical',
    ticket_id: null,
    alert_id: 7,
    ...changed,
    details: {
      title: 'Score below 50',
      check_id: null,
      database: '',
      object: null,
      metric_line: null,
      measured: { metric: 'score', operator: '<', threshold: 50, value: 41 },
      remediation: null,
      page: PAGE_LINKS.alert(7),
      ...details,
    },
  });
}

/** The same alert three quarters of an hour later. */
export const RESOLVED_ALERT = exampleAlert({
  event_id: 'evt_resolved',
  kind: 'alert.resolved',
  occurred_at: new Date('2026-03-02T11:00:00Z'),
});

/** What the test button sends. */
export const TEST_EVENT = exampleEvent({
  event_id: 'evt_test',
  kind: 'test',
  severity: null,
  connection_id: null,
  ticket_id: null,
  changes: [],
  details: {
    connection: null,
    title: 'Destination “ops”',
    check_id: null,
    database: '',
    object: null,
    metric_line: null,
    measured: null,
    since: null,
    remediation: null,
    page: PAGE_LINKS.destination(4),
  },
});

/** A destination with what a test gives it. */
export function exampleDestination(changed: Partial<OpenDestination>): OpenDestination {
  return {
    accountId: 1,
    destinationId: 4,
    name: 'ops',
    channel: 'webhook',
    settings: {},
    secrets: {},
    recipients: [],
    ...changed,
  };
}
