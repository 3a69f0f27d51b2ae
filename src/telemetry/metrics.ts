import { createServer, type Server, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { version } from '../config/package-root.ts';
import { STORE_DEADLINE_MS } from '../database/connect.ts';
import type { Gate } from '../gate/admit.ts';
import { CONNECTION_FAILURES, type ConnectionFailure } from '../http/edge/answer-broken-request.ts';
import { keepFromCrowding } from '../http/edge/connection-limits.ts';
import { type CountEscape, ESCAPES, type EscapedErrors } from '../http/edge/escaped-errors.ts';
import { limitPipelining } from '../http/edge/pipelining.ts';

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

/**
 * What `ask` says, or null when it fails or takes longer than 2 s. Who asks while it is under way is told the same: a store that
 * hangs is asked nothing more until it answers.
 */
export function askOnce<T>(ask: () => Promise<T>): () => Promise<T | null> {
  let asking: Promise<T | null> | null = null;
  return () => {
    asking ??= ask()
      .catch(() => null)
      .finally(() => {
        asking = null;
      });
    return Promise.race([asking, wait(STORE_DEADLINE_MS, null, { ref: false })]);
  };
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
    escaped(from: Parameters<CountEscape>[0]) {
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
    watchGate(gate: Pick<Gate, 'waiting' | 'verdicts'>) {
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
    /** Tells of the store what it says; while it says nothing that, and the figures as they were. */
    watchStore(ask: () => Promise<StoreFigures>) {
      const told = askOnce(ask); // for all gauges of a scrape
      const gauge = (name: string, help: string, figure: (of: StoreFigures) => number) =>
        new Gauge({
          name,
          help,
          registers,
          async collect() {
            const now = await told();
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
          this.set((await told()) ? 1 : 0);
        },
      });
    },
  };
}

/** Serves `/metrics`, `/livez` and `/readyz` on a port of their own. */
export async function serveMetrics(
  registry: Registry,
  host: string,
  port: number,
  isReady: () => Promise<boolean>,
  escaped: EscapedErrors,
): Promise<Server> {
  const server = createServer((request, response) => {
    answer(request.url, response).catch((error) => escaped.drop(request.socket, error));
  });
  async function answer(url: string | undefined, response: ServerResponse): Promise<void> {
    const plain = { 'content-type': 'text/plain; charset=utf-8' };
    if (url === '/metrics') {
      const text = await registry.metrics();
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    } else if (url === '/livez') {
      response.writeHead(200, plain).end('ok\n');
    } else if (url === '/readyz') {
      const ready = await isReady();
      response
        .writeHead(ready ? 200 : 503, plain)
        .end(ready ? 'ok\n' : 'the store does not answer or fails requests, or the service stops\n');
    } else {
      response.writeHead(404, plain).end('see /metrics, /livez or /readyz\n');
    }
  }
  keepFromCrowding(server);
  escaped.follow(server);
  limitPipelining(server, escaped.guard);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return server;
}
