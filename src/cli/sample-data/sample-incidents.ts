import type { ListedCheck } from '../command.ts';
import type { SampleConnection, SampleFleet } from './sample-connection.ts';
import { type Curve, noise, type Span } from './sample-curves.ts';
import { type History, runInstant } from './sample-fleet.ts';
import { findingOf, runsOf, type SampleTicket } from './sample-tickets.ts';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** A fault begins before the run that finds it, and ends before the run that no longer does. */
const BEGINS_BEFORE_S = 40 * 60;
const ENDS_BEFORE_S = HOUR_S;

/** A ticket with its finding, and the time that the fault lasts. */
export interface Incident extends Span {
  ticket: SampleTicket;
  /** Unix seconds: of the runs that open and resolve the ticket. */
  opened: number;
  /** Null if it is still open. */
  resolved: number | null;
  /** The runs that find it. */
  runs: number[];
  finding: ReturnType<typeof findingOf>;
}

/** All incidents of a connection, in order of time. */
export function incidentsOf(
  connection: SampleConnection,
  fleet: SampleFleet,
  history: History,
  checks: ReadonlyMap<string, ListedCheck>,
): Incident[] {
  const instant = (run: number) => runInstant(connection, run, fleet.runs, history) / 1e6;
  return [...runsOf(connection, fleet)].flatMap(({ opened }) =>
    opened.map((ticket) => {
      const first = instant(ticket.first);
      const resolved = ticket.end === null ? null : instant(ticket.end);
      const runs = range(ticket.first, ticket.end ?? fleet.runs).map(instant);
      return {
        ticket,
        runs,
        opened: first,
        resolved,
        finding: findingOf(ticket, checks),
        from: first - BEGINS_BEFORE_S,
        to: resolved === null ? Infinity : Math.max(first + 60, resolved - ENDS_BEFORE_S),
      };
    }),
  );
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, n) => from + n);
}

/** The curve of the number that an incident's finding comes from; null before and after it. Every run measures `value`. */
export function incidentCurve({ ticket, from, to, opened, runs, finding }: Incident, end: number): Curve {
  const { fault } = ticket;
  const value = finding.measured?.value ?? 0;
  if (fault.measured?.grows) {
    // It crossed the threshold when the ticket opened, and has the ticket's value in the last run.
    const { critical, warning } = fault.measured;
    const threshold = critical !== null && value >= critical ? critical : warning;
    const perSecond = Math.max((value - threshold) / Math.max(DAY_S, end - opened), 1e-10);
    return (at) => (at < to ? Math.max(0, value - perSecond * Math.max(0, Math.min(end, to) - at)) : null);
  }
  const isAge = fault.measured?.metric.endsWith('_seconds');
  return (at) => {
    if (at < from || at >= to) return null;
    // A query or transaction is this old when a run finds it, and the next one begins later.
    const next = runs.find((run) => run >= at);
    if (isAge) return next === undefined ? null : Math.max(0, value - (next - at)) || null;
    const away = Math.min(1, Math.min(...runs.map((run) => Math.abs(run - at))) / HOUR_S);
    return value * (1 - 0.06 * away * (1 + noise(opened, at)));
  };
}
