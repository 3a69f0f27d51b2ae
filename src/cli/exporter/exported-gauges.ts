import { Counter, Gauge, Registry } from 'prom-client';
import type { Connection, Fleet, Ticket, TicketStatistics } from '../../../client/src/index.ts';
import { FLEET_STATUSES } from '../../vocabulary/score-bands.ts';

/** The metrics of `exporter`. The help texts are the reference. */
export function createGauges() {
  const registry = new Registry();
  const gauge: MakeGauge = (name, help, ...labelNames) => {
    const made = new Gauge({ name: `dbvitals_${name}`, help, labelNames, registers: [registry] });
    made.reset();
    // The library starts a gauge without labels at 0. Remove it, so that it appears only after the first answer.
    if (labelNames.length === 0) made.remove();
    return made;
  };
  return {
    registry,
    ...answerGauges(gauge, registry),
    ...fleetGauges(gauge),
    ...ticketGauges(gauge),
  };
}

type MakeGauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) => Gauge<Label>;

/** What the answers themselves say: whether the API can be reached, and the state of the key's window. */
function answerGauges(gauge: MakeGauge, registry: Registry) {
  const up = gauge('up', 'Whether the latest request to the API succeeded; a 429 does not change it');
  const requests = new Counter({
    name: 'dbvitals_api_requests_total',
    help: 'Requests that this exporter made, by the status of the answer',
    labelNames: ['status'],
    registers: [registry],
  });
  const limit = gauge('limit_requests', 'Requests per minute that the key may make');
  const remaining = gauge(
    'limit_remaining_requests',
    'Requests left in the current window, as of the latest answer',
  );
  const reset = gauge('limit_reset_timestamp_seconds', 'When that window ends');
  const dataTime = gauge(
    'data_timestamp_seconds',
    'When each part of these metrics was last updated',
    'part',
  );
  return {
    /** Counts an answer and records the state of the rate limit window. */
    answered({ status, headers }: Response) {
      requests.inc({ status });
      const figures = [limit, remaining, reset];
      for (const [at, name] of ['limit', 'remaining', 'reset'].entries()) {
        const text = headers.get(`x-ratelimit-${name}`);
        if (text !== null && /^\d+$/.test(text)) figures[at]?.set(Number(text));
      }
    },
    up: (well: boolean) => up.set(well ? 1 : 0),
    renewed: (part: string) => dataTime.set({ part }, Date.now() / 1_000),
  };
}

function fleetGauges(gauge: MakeGauge) {
  const connections = gauge('connections', 'Connections by fleet status', 'status');
  const score = gauge(
    'connection_score',
    'Latest health score, 0 to 100; none before the first check',
    'connection_id',
    'connection',
  );
  const status = gauge(
    'connection_status',
    '1 for the fleet status that the connection has',
    'connection_id',
    'connection',
    'status',
  );
  const lastCheck = gauge(
    'connection_last_check_timestamp_seconds',
    'Time of the latest health check; none before the first',
    'connection_id',
    'connection',
  );
  return {
    fleet({ data, summary }: Fleet) {
      for (const name of FLEET_STATUSES) {
        connections.set({ status: name }, summary[name]);
      }
      score.reset();
      status.reset();
      for (const entry of data) {
        const labels = { connection_id: entry.id, connection: entry.name };
        if (entry.score !== null) score.set(labels, entry.score);
        status.set({ ...labels, status: entry.status }, 1);
      }
    },
    connections(all: Connection[]) {
      lastCheck.reset();
      for (const { id, name, last_checked_at: at } of all) {
        if (at !== null) lastCheck.set({ connection_id: id, connection: name }, Date.parse(at) / 1_000);
      }
    },
  };
}

function ticketGauges(gauge: MakeGauge) {
  const ofConnection = gauge(
    'connection_open_tickets',
    'Open tickets of a connection that has any, by severity',
    'connection_id',
    'connection',
    'severity',
  );
  const open = gauge('open_tickets', 'Open tickets by severity', 'severity');
  const resolvedThisWeek = gauge('tickets_resolved_this_week', 'Tickets resolved since Monday 00:00 UTC');
  const resolution = gauge(
    'ticket_resolution_average_seconds',
    'Average time to resolution; none before the first',
  );
  return {
    openTickets(all: Ticket[]) {
      ofConnection.reset();
      for (const { connection_id, connection_name: connection, severity } of all) {
        ofConnection.inc({ connection_id, connection, severity });
      }
    },
    statistics(figures: TicketStatistics) {
      const { open_count, critical_open, warning_open, resolved_this_week, avg_resolution_hours } = figures;
      open.set({ severity: 'critical' }, critical_open);
      open.set({ severity: 'warning' }, warning_open);
      open.set({ severity: 'info' }, open_count - critical_open - warning_open);
      resolvedThisWeek.set(resolved_this_week);
      resolution.remove();
      if (avg_resolution_hours !== null) resolution.set(avg_resolution_hours * 3_600);
    },
  };
}
