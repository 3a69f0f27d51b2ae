import type { Change } from '../activity/record-entry.ts';
import type { Finding, Outcome } from '../checks/check.ts';
import type { SeriesValue } from '../checks/measure.ts';
import type { PreviousRun } from '../health/record-check.ts';
import { evaluateRules } from '../notifications/alerts/evaluate-rules.ts';
import { openedBeforeMaintenance, openedInMaintenance } from '../notifications/outbox/around-maintenance.ts';
import { queueEvents } from '../notifications/outbox/queue-events.ts';
import { runEvent } from '../notifications/outbox/run-event.ts';
import type { RunWatch } from '../notifications/outbox/run-watch.ts';
import { ticketEvents } from '../notifications/outbox/ticket-events.ts';
import type { TicketEntry } from '../ops/record-findings.ts';

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
