import type pg from 'pg';
import type { Change } from '../../activity/record-entry.ts';
import type { Finding, Outcome } from '../../checks/check.ts';
import type { SeriesValue } from '../../checks/measure.ts';
import type { PreviousRun } from '../../runs/record-check.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { fleetStatus } from '../../vocabulary/score-bands.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { evaluateRules } from '../alerts/evaluate-rules.ts';
import type { EventConnection, NewEvent } from '../event.ts';
import { queueEvents } from '../outbox/queue-events.ts';
import {
  type ChangedTicketFacts,
  changedFacts,
  type TicketEntry,
  ticketEvent,
  ticketEvents,
} from '../outbox/ticket-events.ts';
import type { RunWatch } from './run-watch.ts';

/** A stored run with everything that rules and destinations want to know. */
interface RunNews {
  run: { id: number; score: number; summaryText: string; findings: readonly Finding[] };
  /** The score without silences. */
  unsilencedScore: number;
  /** With silences. */
  outcomes: readonly Outcome[];
  /** Without silences. */
  measured: readonly Outcome[];
  measures: readonly SeriesValue[];
  /** Databases that exist, but that no check looked into. */
  leftOut: ReadonlySet<string>;
  tickets: readonly TicketEntry[];
  previous: PreviousRun;
}

/**
 * Evaluates the alert rules of a run, and queues the events of the run, its tickets and alerts. In a maintenance window
 * only the end of what was sent before it is queued. The first run after the window makes up for what is still open.
 */
export async function notifyOfRun(
  { client, accountId, at, record }: Change,
  watch: RunWatch,
  news: RunNews,
): Promise<void> {
  const scope = { accountId, connectionId: watch.connection.id, at };
  const { isInMaintenance, destinations } = watch;
  const alerts = await evaluateRules(
    client,
    scope,
    { score: news.run.score, ...news },
    { ...watch, canAnnounce: destinations.length > 0 },
  );
  for (const entry of alerts.entries) record(entry.actionType, entry.pagePath, entry.properties);
  if (destinations.length === 0) return;
  const eventsOf = (tickets: readonly TicketEntry[]) => ticketEvents(tickets, watch.connection, watch.at);
  const events = isInMaintenance
    ? eventsOf(await openedBeforeMaintenance(client, scope, news.tickets))
    : [
        runEvent(news.run, watch.connection),
        ...(news.previous.in_maintenance ? await openedInMaintenance(client, scope, watch) : []),
        ...eventsOf(news.tickets),
      ];
  await queueEvents(client, scope, [...events, ...alerts.events], watch);
}

/** The event of a stored run. `findings` are the worst first. Without a fault its severity is `info`. */
function runEvent(
  run: { id: number; score: number; summaryText: string; findings: readonly Finding[] },
  connection: EventConnection,
): NewEvent {
  const [worst] = run.findings;
  const top = worst && worst.status !== 'ok' && worst.status !== 'skipped' ? worst : null;
  const fault = top && SEVERITIES.some((severity) => severity === top.status) ? top : null;
  return {
    kind: 'health_check.completed',
    severity: fault?.severity ?? 'info',
    connection,
    data: {
      connection_id: connection.id,
      health_check_id: run.id,
      score: run.score,
      status: fleetStatus(run.score),
      top_finding: top && shown(top),
    },
    details: {
      connection,
      title: `Score ${run.score}: ${run.summaryText}`,
      check_id: top?.check_id ?? null,
      database: top?.database ?? '',
      object: top?.object ?? null,
      metric_line: top?.metric_line ?? null,
      measured: top?.measured ?? null,
      since: null,
      remediation: top?.remediation || null,
      resolution: null,
      page: PAGE_LINKS.connection(connection.id),
    },
  };
}

function shown({ check_id, category, status, title, metric_line, remediation, severity }: Finding): object {
  return { check_id, category, status, title, metric_line, remediation, severity };
}

// The runs of the window are the newest ones. Before them is one that was not in it, unless none is left.
const lastRunOutside = `
  coalesce((select h.created_at from health_check h
             where h.account_id = $1 and h.connection_id = $2 and not h.in_maintenance and h.created_at < $3
             order by h.created_at desc, h.health_check_id desc limit 1), '-infinity')`;

const selectOpened = `
  select ${changedFacts}
    from ticket t
   where t.account_id = $1 and t.connection_id = $2 and t.status = 'open' and t.first_seen_at < $3
     and t.first_seen_at > ${lastRunOutside}
   order by t.ticket_id`;

/**
 * The events of tickets that were opened in the maintenance window that has just ended, and are still open. Call it in
 * the first run after the window, before that run's own tickets are sent.
 */
export async function openedInMaintenance(
  client: pg.ClientBase,
  { accountId, connectionId, at }: { accountId: number; connectionId: number; at: string },
  watch: RunWatch,
): Promise<NewEvent[]> {
  const values = [accountId, connectionId, at];
  const { rows } = await client.query<ChangedTicketFacts>(selectOpened, values);
  return rows.map((ticket) => ticketEvent('ops.ticket_created', ticket, watch.connection, watch.at));
}

const selectKnown = `
  select ticket_id
    from ticket
   where account_id = $1 and connection_id = $2 and ticket_id = any ($4::bigint[]) and first_seen_at <= ${lastRunOutside}`;

/**
 * Of tickets that were resolved in a maintenance window, those that were opened before it: their receivers wait for the
 * end.
 */
async function openedBeforeMaintenance(
  client: pg.ClientBase,
  { accountId, connectionId, at }: { accountId: number; connectionId: number; at: string },
  entries: readonly TicketEntry[],
): Promise<TicketEntry[]> {
  const resolved = entries.filter(({ actionType }) => actionType === 'ticket_resolved');
  if (resolved.length === 0) return [];
  const ids = resolved.map(({ ticket }) => ticket.ticket_id);
  const { rows } = await client.query<{ ticket_id: number }>(selectKnown, [accountId, connectionId, at, ids]);
  const known = new Set(rows.map(({ ticket_id }) => ticket_id));
  return resolved.filter(({ ticket }) => known.has(ticket.ticket_id));
}
