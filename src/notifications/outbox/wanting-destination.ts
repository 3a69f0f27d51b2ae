import { type Channel, EVENTLESS_CHANNELS } from '../../vocabulary/channels.ts';
import { DIRECTED_KINDS, type EventKind, FOLLOWS } from '../../vocabulary/event-kinds.ts';
import { SEVERITIES, type Severity } from '../../vocabulary/severities.ts';
import { type ConnectionScope, includesConnection } from '../connection-scope.ts';
import type { NewEvent } from '../event.ts';
import type { QuietHours } from '../maintenance/quiet-hours.ts';

/** What decides whether a destination gets an event, and when. */
export interface WantingDestination extends ConnectionScope {
  destination_id: number;
  channel: Channel;
  kinds: EventKind[];
  minimum_severity: Severity | null;
  quiet_hours: QuietHours | null;
}

/** SQL: an array of {@link WantingDestination} of account $1, empty if it has none. Heartbeats and log streams get no events. */
export const wantingDestinations = `
  coalesce((select jsonb_agg(jsonb_build_object('destination_id', d.destination_id, 'channel', d.channel, 'kinds', d.kinds,
                     'minimum_severity', d.minimum_severity, 'connection_ids', d.connection_ids,
                     'connection_names', d.connection_names, 'quiet_hours', d.quiet_hours) order by d.destination_id)
              from destination d
             where d.account_id = $1 and d.removed_at is null and d.channel <> all ('{${EVENTLESS_CHANNELS}}')), '[]')`;

// The channels that people read. A program was told once, and that is enough.
const REMINDED: readonly Channel[] = ['slack', 'mattermost', 'teams', 'discord', 'email', 'pagerduty'];

// Whoever was told of a beginning is told of the end, also if it is less severe by then, or the connection has other tags: an incident
// would stay open for ever.
const ENDS: readonly EventKind[] = ['ops.ticket_resolved', 'alert.resolved'];

/** Whether a destination gets an event. The plan is judged before. `wasTold`: it got another one about the same ticket or alert. */
export function wants(destination: WantingDestination, event: NewEvent, wasTold = false): boolean {
  const { kind, severity, connection, destinationIds } = event;
  if (destinationIds && !destinationIds.includes(destination.destination_id)) return false;
  if (DIRECTED_KINDS.includes(kind)) return (destinationIds ?? null) !== null;
  const { kinds } = destination;
  const followed = FOLLOWS[kind];
  if (!kinds.includes(kind) && !(followed && kinds.includes(followed))) return false;
  if (event.details.is_reminder && !REMINDED.includes(destination.channel)) return false;
  if (wasTold && ENDS.includes(kind)) return true;
  if (connection !== null && !includesConnection(destination, connection)) return false;
  if (severity === null || destination.minimum_severity === null) return true;
  return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(destination.minimum_severity);
}
