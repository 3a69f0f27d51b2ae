import type { EventKind } from '../vocabulary/event-kinds.ts';
import type { PageLink } from '../vocabulary/page-paths.ts';
import type { Severity } from '../vocabulary/severities.ts';
import type { ScopedConnection } from './connection-scope.ts';

/** A connection as the payload of an alert names it. */
export interface EventConnection {
  id: number;
  name: string;
  host: string;
  port: number;
  connection_type: string;
  /** Decide who gets the event; not in the payload. */
  tags: readonly string[];
}

/** A digest as plain text: what it comes to, then its parts; none for a fleet without problems. It holds texts of strangers. */
export interface DigestText {
  title: string;
  summary: string[];
  parts: {
    heading: string;
    lines: {
      text: string;
      /** The console's page. */
      path: PageLink;
    }[];
  }[];
}

/** What messages say beyond the payload, which is frozen. Stored as `event.details`. */
export interface EventDetails {
  connection: Omit<EventConnection, 'tags'> | null;
  /** The finding's title or the rule's name. */
  title: string;
  check_id: string | null;
  /** '' = the whole server. */
  database: string;
  object: string | null;
  metric_line: string | null;
  measured: { metric: string; operator: string; threshold: number; value: number } | null;
  /** RFC 3339. */
  since: string | null;
  remediation: string | null;
  /** Why a ticket or alert was resolved, in a clause. */
  resolution: string | null;
  /** The console's page, such as `/alerts?alert=7`. */
  page: PageLink;
  /** An open alert is said again. Only people are told: no webhook, Alertmanager or heartbeat gets it. */
  is_reminder?: true;
  /** Of a digest. */
  digest?: DigestText;
}

/** Something that happened, before it is queued for destinations. */
export interface NewEvent {
  kind: EventKind;
  /** Null passes every minimum severity. */
  severity: Severity | null;
  /** Null passes every filter of connections. */
  connection: ScopedConnection | null;
  ticketId?: number;
  alertId?: number;
  /** The ids of the destinations that a rule names; null = all that want it. */
  destinationIds?: readonly number[] | null;
  /** A member asked for it: it waits neither for other events nor for the end of quiet hours. */
  isAsked?: true;
  /** `data` of the envelope. */
  data: Readonly<Record<string, unknown>>;
  details: EventDetails;
}

/** A stored event. */
export interface StoredEvent {
  event_id: string;
  kind: EventKind;
  occurred_at: Date;
  severity: Severity | null;
  connection_id: number | null;
  ticket_id: number | null;
  alert_id: number | null;
  /** The envelope, as it is sent. */
  body: string;
  details: EventDetails;
}
