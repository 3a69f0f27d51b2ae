// The figures of a service are registered in one place, in the order in which a scrape lists them.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type CellLabel, type WatchedStores, watchedGauges } from './watched-gauge.ts';

/** Why a client's connection failed: it was reset, its TLS handshake failed, its request came too slowly, or it was not HTTP. */
const CONNECTION_FAILURES = ['reset', 'handshake', 'slow', 'malformed'] as const;
export type ConnectionFailure = (typeof CONNECTION_FAILURES)[number];

/** Where an error escaped: from a request, from a connection without a request, or from the process's own work. */
export const ESCAPES = ['request', 'connection', 'process'] as const;

/** The metrics that {@link createMetrics} returns. */
export type Metrics = ReturnType<typeof createMetrics>;

/** The figures that the store reports about itself. */
export interface StoreFigures {
  sizeBytes: number;
  /** How many connections wait for a health check, and the longest wait in seconds. */
  due: number;
  late: number;
  /** When the last backup succeeded and failed, in Unix seconds; 0 = never. */
  backupSucceeded: number;
  backupFailed: number;
  /** Collectors that should measure: how many are silent, the longest silence in seconds, and the results that wait at all of them. */
  collectorsSilent: number;
  collectorsLongestSilence: number;
  collectorsBuffered: number;
}

/** The figures of a gate. */
interface WatchedGate {
  readonly waiting: number;
  readonly verdicts: Readonly<Record<string, number>>;
}

// Gauges with the suffix of counters, which "promtool check metrics" rejects.
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

// Reported as 0 from the start, so that the first one is an increase.
const OUTCOMES = ['done', 'failed', 'cancelled'];

/** Creates the metrics of a service of this build, named as Prometheus recommends (https://prometheus.io/docs/practices/naming/). */
export function createMetrics(build: string) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const registers = [registry];
  new Gauge({
    name: 'dbvitals_build_info',
    help: 'Always 1; the labels are the versions of dbvitals and Node',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: build, node: process.versions.node }, 1);
  return {
    registry,
    ...answerMetrics(registers),
    ...gateMetrics(registers),
    ...connectionMetrics(registers),
    ...runMetrics(registers),
    ...storeMetrics(registry),
  };
}

function answerMetrics(registers: Registry[]) {
  const seconds = new Histogram({
    name: 'dbvitals_request_duration_seconds',
    help: 'Time from a request to its answer, by route',
    labelNames: ['route'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2],
    registers,
  });
  const answers = new Counter({
    name: 'dbvitals_answers_total',
    help: 'Answers by route and status',
    labelNames: ['route', 'status'],
    registers,
  });
  const consoleSeconds = new Histogram({
    name: 'dbvitals_console_request_duration_seconds',
    help: "Time from a request of the console's pages to the end of its answer, by method and route; a stream lasts until it is closed",
    labelNames: ['method', 'route'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers,
  });
  const consoleAnswers = new Counter({
    name: 'dbvitals_console_answers_total',
    help: "Answers to the console's pages by method, route and status",
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  return {
    answered(route: string, status: number, took: number) {
      seconds.observe({ route }, took);
      answers.inc({ route, status });
    },
    answeredConsole(method: string, route: string, status: number, took: number) {
      consoleSeconds.observe({ method, route }, took);
      consoleAnswers.inc({ method, route, status });
    },
  };
}

function gateMetrics(registers: Registry[]) {
  const batchSize = new Histogram({
    name: 'dbvitals_gate_batch_requests',
    help: 'Requests that the gate admitted in one statement',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 500],
    registers,
  });
  const batchSeconds = new Histogram({
    name: 'dbvitals_gate_batch_duration_seconds',
    help: 'Time that the store took for a statement of the gate',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
    registers,
  });
  const gates = new Set<WatchedGateOfCell>();
  let watchesGates = false;
  return {
    batch(size: number, took: number) {
      batchSize.observe(size);
      batchSeconds.observe(took);
    },
    /** Reports a gate of this process until the result is called. `labels` name its cell if there are several. */
    watchGate(gate: WatchedGate, labels: CellLabel) {
      const watched = { gate, labels };
      gates.add(watched);
      const forget = () => void gates.delete(watched);
      if (watchesGates) return forget;
      watchesGates = true;
      registerGates(registers, Object.keys(labels), gates);
      return forget;
    },
  };
}

/** A gate, and the labels that name its cell if there are several. */
interface WatchedGateOfCell {
  gate: WatchedGate;
  labels: CellLabel;
}

function registerGates(
  registers: Registry[],
  labelNames: string[],
  gates: ReadonlySet<WatchedGateOfCell>,
): void {
  new Gauge({
    name: 'dbvitals_gate_queue_requests',
    help: 'Requests waiting for the next batch',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const of of gates) this.set(of.labels, of.gate.waiting);
    },
  });
  new Counter({
    name: 'dbvitals_gate_verdicts_total',
    help: 'Requests by verdict: admitted, limited, dead (no valid key), moved (retried), full, failed (no answer from the store), expired',
    labelNames: [...labelNames, 'verdict'],
    registers,
    collect() {
      this.reset();
      for (const of of gates) {
        for (const [verdict, count] of Object.entries(of.gate.verdicts))
          this.inc({ ...of.labels, verdict }, count);
      }
    },
  });
}

function connectionMetrics(registers: Registry[]) {
  const connectionFailures = new Counter({
    name: 'dbvitals_connection_failures_total',
    help: 'Failed client connections, by reason: reset by the client, TLS handshake, slow request, or malformed HTTP',
    labelNames: ['reason'],
    registers,
  });
  const escapes = new Counter({
    name: 'dbvitals_escaped_errors_total',
    help: 'Unhandled errors: of a request or a connection, which was closed, or of the process, which stops',
    labelNames: ['from'],
    registers,
  });
  for (const reason of CONNECTION_FAILURES) connectionFailures.inc({ reason }, 0);
  for (const from of ESCAPES) escapes.inc({ from }, 0);
  return {
    connectionFailed(reason: ConnectionFailure) {
      connectionFailures.inc({ reason });
    },
    escaped(from: (typeof ESCAPES)[number]) {
      escapes.inc({ from });
    },
    /** Reports when the served certificate expires. */
    watchCertificate(until: () => Date) {
      new Gauge({
        name: 'dbvitals_tls_certificate_expiry_timestamp_seconds',
        help: 'When the served certificate expires',
        registers,
        collect() {
          this.set(until().getTime() / 1_000);
        },
      });
    },
  };
}

function runMetrics(registers: Registry[]) {
  const runs = new Counter({
    name: 'dbvitals_health_checks_total',
    help: 'Ended health checks, by outcome: done, failed (could not be stored) or cancelled',
    labelNames: ['outcome'],
    registers,
  });
  const lateness = new Histogram({
    name: 'dbvitals_health_check_delay_seconds',
    help: 'How late a health check started after it was due',
    buckets: [1, 5, 15, 30, 60, 300, 900],
    registers,
  });
  const runSeconds = new Histogram({
    name: 'dbvitals_health_check_duration_seconds',
    help: 'How long a health check took, from its claim until it was stored',
    buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120],
    registers,
  });
  for (const outcome of OUTCOMES) runs.inc({ outcome }, 0);
  return {
    checked(outcome: string, late: number, took: number) {
      runs.inc({ outcome });
      lateness.observe(late);
      runSeconds.observe(took);
    },
    watchMonitor: monitorGauges(registers),
  };
}

/** Reports what the monitors of this process do: there is one for each cell. Returns a function to call with each. */
function monitorGauges(registers: Registry[]): (monitor: { running(): number; pulsed(): number }) => void {
  const monitors: { running(): number; pulsed(): number }[] = [];
  const gauge = (name: string, help: string, figure: 'running' | 'pulsed') =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(monitors.reduce((sum, monitor) => sum + monitor[figure](), 0));
      },
    });
  gauge(
    'dbvitals_health_checks_running',
    'Health checks that the monitor of this service is running; 0 if it has no monitor',
    'running',
  );
  gauge('dbvitals_pulsed_connections', 'Connections whose pulse this service takes', 'pulsed');
  return (monitor) => {
    monitors.push(monitor);
  };
}

function storeMetrics(registry: Registry) {
  return {
    /**
     * Reports the figures of each store. While a store does not answer (`ask` returns null), reports that and the last figures.
     * The labels name the cells if there are several.
     */
    watchStores(stores: WatchedStores<StoreFigures>) {
      const gauge = watchedGauges(registry, stores);
      gauge(
        'dbvitals_store_size_bytes',
        "Size of the store's database on disk, without the server's write-ahead log",
        ({ sizeBytes }) => sizeBytes,
      );
      gauge(
        'dbvitals_health_checks_due',
        'Connections in the whole store that are due and that no monitor is checking',
        ({ due }) => due,
      );
      gauge(
        'dbvitals_health_checks_longest_delay_seconds',
        'How long the longest waiting of them has been due',
        ({ late }) => late,
      );
      gauge(
        'dbvitals_backup_last_success_timestamp_seconds',
        'When the store was last backed up by "dbvitals backup"; 0 = never',
        ({ backupSucceeded }) => backupSucceeded,
      );
      gauge(
        'dbvitals_backup_last_failure_timestamp_seconds',
        'When a backup of the store last failed; 0 = never',
        ({ backupFailed }) => backupFailed,
      );
      gauge(
        'dbvitals_collectors_silent',
        'Collectors that measure connections and were not heard of for a minute',
        ({ collectorsSilent }) => collectorsSilent,
      );
      gauge(
        'dbvitals_collectors_longest_silence_seconds',
        'How long ago the collector that was heard of longest ago was heard of; 0 = there is none',
        ({ collectorsLongestSilence }) => collectorsLongestSilence,
      );
      gauge(
        'dbvitals_collectors_buffered_results',
        'Results that wait for delivery at all collectors, as they said last',
        ({ collectorsBuffered }) => collectorsBuffered,
      );
      registerUp(registry, stores);
    },
  };
}

function registerUp(registry: Registry, stores: WatchedStores<StoreFigures>): void {
  new Gauge({
    name: 'dbvitals_store_up',
    help: 'Whether the store answered this scrape: 1 or 0',
    labelNames: Object.keys(stores()[0]?.labels ?? {}),
    registers: [registry],
    async collect() {
      const answers = await Promise.all(
        stores().map(async ({ ask, labels }) => ({ labels, up: (await ask()) !== null })),
      );
      this.reset();
      for (const { labels, up } of answers) this.set(labels, up ? 1 : 0);
    },
  });
}
