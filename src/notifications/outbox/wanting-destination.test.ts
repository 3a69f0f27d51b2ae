import { expect, test } from 'vitest';
import { DEFAULT_KINDS } from '../../vocabulary/event-kinds.ts';
import type { NewEvent } from '../event.ts';
import { type WantingDestination, wants } from './wanting-destination.ts';

const destination: WantingDestination = {
  destination_id: 1,
  channel: 'slack',
  kinds: [...DEFAULT_KINDS],
  minimum_severity: null,
  quiet_hours: null,
  connection_ids: null,
  connection_names: null,
};

const event = (kind: NewEvent['kind'], severity: NewEvent['severity']) =>
  ({ kind, severity, connection: null, details: {} }) as NewEvent;

test.each(['ops.ticket_created', 'ops.ticket_reopened', 'ops.ticket_escalated'] as const)(
  'a destination that chose nothing gets %s, also with critical events only',
  (kind) => {
    expect(wants(destination, event(kind, 'warning'))).toBe(true);
    const criticalOnly = { ...destination, minimum_severity: 'critical' } as const;
    expect(wants(criticalOnly, event(kind, 'critical'))).toBe(true);
    expect(wants(criticalOnly, event(kind, 'warning'))).toBe(false);
  },
);
