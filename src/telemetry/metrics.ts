import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { version } from '../config/package-root.ts';

/** Why a client's connection failed: it was reset, its TLS handshake failed, a request took too long to come, or it was no HTTP. */
const CONNECTION_FAILURES = ['reset', 'handshake', 'slow', 'malformed'] as const;
export type ConnectionFailure = (typeof CONNECTION_FAILURES)[number];

/** Where an error escaped: from what a request asked for, from a connection without a request, or from the process's own work. */
export const ESCAPES = ['request', 'connection', 'process'] as const;

/** What {@link createMetrics} gives. */
export type Metrics = ReturnType<typeof createMetrics>;

/** What the store says of itself when it is asked. */
export interface StoreFigures {
  sizeBytes: number;
  /** Connections that wait for a health check, and for how many seconds the longest of them. */
  due: number;
  late: number;
  /** When the last backup succeeded and failed, in Unix seconds; 0 = never. */
  backupSucceeded: number;
  backupFailed: number;
}

// Gauges whose names end as only a counter's may (promtool check metrics).
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

// Told as 0 from the start, or the first one would be no increase.
const OUTCOMES = ['done', 'failed', 'cancelled'];
const KEPT = ['entries', 'findings', 'counters', 'sign_ins'];
const UNRETAINED = ['seals', 'seal_file', 'key_hours', ...KEPT];

/** The service's own figures, named as Prometheus asks (https://prometheus.io/docs/practices/naming/). */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const registers = [registry];
  new Gauge({
    name: 'dbvitals_build_info',
    help: 'Always 1: the version of dbvitals and of Node that runs',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.versions.node }, 1);
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
    help: "Time from a request of the console's pages to the end of its answer, by method and route; a stream lasts as long as it is followed",
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
  const batchSize = new Histogram({
    name: 'dbvitals_gate_batch_requests',
    help: 'Requests that the gate admitted in one statement',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 500],
    registers,
  });
  const batchSeconds = new Histogram({
    name: 'dbvitals_gate_batch_duration_seconds',
    help: 'Time that the store took for one such statement',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
    registers,
  });
  const connectionFailures = new Counter({
    name: 'dbvitals_connection_failures_total',
    help: 'Client connections that failed: reset by the client, no TLS (handshake), too slow a request (slow), or malformed HTTP',
    labelNames: ['reason'],
    registers,
  });
  const escapes = new Counter({
    name: 'dbvitals_escaped_errors_total',
    help: 'Errors that no code handled: of a request or a connection, which was closed, or of the process, which stops',
    labelNames: ['from'],
    registers,
  });
  const runs = new Counter({
    name: 'dbvitals_health_checks_total',
    help: 'Health checks that ended, by outcome: done, failed (could not be stored) or cancelled',
    labelNames: ['outcome'],
    registers,
  });
  const lateness = new Histogram({
    name: 'dbvitals_health_check_delay_seconds',
    help: 'How long after it was due a health check began',
    buckets: [1, 5, 15, 30, 60, 300, 900],
    registers,
  });
  const runSeconds = new Histogram({
    name: 'dbvitals_health_check_duration_seconds',
    help: 'How long a health check took, from its claim to its being stored',
    buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120],
    registers,
  });
  const removed = new Counter({
    name: 'dbvitals_retention_rows_total',
    help: 'Rows past their time: entries of the log, counters, ended sign_ins removed, health checks shrunk to their score (findings)',
    labelNames: ['kept'],
    registers,
  });
  const unretained = new Counter({
    name: 'dbvitals_retention_failures_total',
    help: 'What a round of sealing or removing could not do: seals, seal_file (or seals in it are missing or forged), key_hours, entries, findings, counters, sign_ins',
    labelNames: ['work'],
    registers,
  });
  const lastRound = new Gauge({
    name: 'dbvitals_retention_last_round_timestamp_seconds',
    help: 'When the last hourly round of removing ended, whatever it could not do; 0 before the first',
    registers,
  });
  let runningNow = () => 0;
  new Gauge({
    name: 'dbvitals_health_checks_running',
    help: 'Health checks that the monitor of this service runs now; 0 where it has none',
    registers,
    collect() {
      this.set(runningNow());
    },
  });
  for (const reason of CONNECTION_FAILURES) connectionFailures.inc({ reason }, 0);
  for (const from of ESCAPES) escapes.inc({ from }, 0);
  for (const outcome of OUTCOMES) runs.inc({ outcome }, 0);
  for (const kept of KEPT) removed.inc({ kept }, 0);
  for (const work of UNRETAINED) unretained.inc({ work }, 0);
  return {
    registry,
    answered(route: string, status: number, took: number) {
      seconds.observe({ route }, took);
      answers.inc({ route, status });
    },
    answeredConsole(method: string, route: string, status: number, took: number) {
      consoleSeconds.observe({ method, route }, took);
      consoleAnswers.inc({ method, route, status });
    },
    connectionFailed(reason: ConnectionFailure) {
      connectionFailures.inc({ reason });
    },
    escaped(from: (typeof ESCAPES)[number]) {
      escapes.inc({ from });
    },
    batch(size: number, took: number) {
      batchSize.observe(size);
      batchSeconds.observe(took);
    },
    checked(outcome: string, late: number, took: number) {
      runs.inc({ outcome });
      lateness.observe(late);
      runSeconds.observe(took);
    },
    removed(kept: string, rows: number) {
      removed.inc({ kept }, rows);
    },
    notRetained(work: string) {
      unretained.inc({ work });
    },
    roundEnded() {
      lastRound.setToCurrentTime();
    },
    /** Tells of the gate of this process. */
    watchGate(gate: { readonly waiting: number; readonly verdicts: Readonly<Record<string, number>> }) {
      new Gauge({
        name: 'dbvitals_gate_queue_requests',
        help: 'Requests that wait for the next batch',
        registers,
        collect() {
          this.set(gate.waiting);
        },
      });
      new Counter({
        name: 'dbvitals_gate_verdicts_total',
        help: 'Requests by verdict: admitted, limited, dead (no live key), moved (asked again), full, failed (no answer of the store), expired',
        labelNames: ['verdict'],
        registers,
        collect() {
          this.reset();
          for (const [verdict, count] of Object.entries(gate.verdicts)) this.inc({ verdict }, count);
        },
      });
    },
    /** Tells how many health checks the monitor of this process runs. */
    watchMonitor(running: () => number) {
      runningNow = running;
    },
    /** Tells until when the certificate is good that is served. */
    watchCertificate(until: () => Date) {
      new Gauge({
        name: 'dbvitals_tls_certificate_expiry_timestamp_seconds',
        help: 'When the certificate ends that is served',
        registers,
        collect() {
          this.set(until().getTime() / 1_000);
        },
      });
    },
    /** Tells of the store what it says; while it says nothing (`ask` gives null) that, and the figures as they were. */
    watchStore(ask: () => Promise<StoreFigures | null>) {
      const gauge = (name: string, help: string, figure: (of: StoreFigures) => number) =>
        new Gauge({
          name,
          help,
          registers,
          async collect() {
            const now = await ask();
            if (now) this.set(figure(now));
          },
        });
      gauge(
        'dbvitals_store_size_bytes',
        "The store's database on the disk, without the server's write-ahead log",
        ({ sizeBytes }) => sizeBytes,
      );
      gauge(
        'dbvitals_health_checks_due',
        'Connections that are due and that no monitor runs, of the whole store',
        ({ due }) => due,
      );
      gauge(
        'dbvitals_health_checks_longest_delay_seconds',
        'For how long the longest of them has been due',
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
      new Gauge({
        name: 'dbvitals_store_up',
        help: 'Whether the store answered this scrape: 1 or 0',
        registers,
        async collect() {
          this.set((await ask()) ? 1 : 0);
        },
      });
    },
  };
}
