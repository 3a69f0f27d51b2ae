import type { MessageContext, MessageEvent } from './channel.ts';

/**
 * The id of what an event is about, the same for its begin and its end, in any store: `dbvitals.example.com/alert/7`. A
 * health check is about its connection, an event of a collector about that; other events are about themselves.
 */
export function threadOf(event: MessageEvent, { consoleUrl }: MessageContext): string {
  const store = consoleUrl.replace(/^https?:\/\//, '');
  const { alert_id, ticket_id, connection_id, kind, event_id } = event;
  if (alert_id !== null) return `${store}/alert/${alert_id}`;
  if (ticket_id !== null) return `${store}/ticket/${ticket_id}`;
  if (kind === 'health_check.completed') return `${store}/connection/${connection_id}`;
  if (kind.startsWith('collector.')) return `${store}${event.details.page}`;
  return `${store}/event/${event_id}`;
}
