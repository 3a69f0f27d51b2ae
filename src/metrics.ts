import { createServer, type Server } from 'node:http';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What {@link createMetrics} gives. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Every metric of a process with its values, as they go from one process to another. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The figures of several processes as those of one. */
export function sum(figures: Figures[]): Registry {
  return AggregatorRegistry.aggregate(figures);
}

/** What a process counted, without what it was (its memory, its open files): that stays true after its end. */
export function lasting(figures: Figures): Figures {
  // The library's types have numbers for what are these words.
  return figures.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
}

/** The service's own figures, in Prometheus' terms. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const seconds = new Histogram({
    name: 'dbvitals_request_seconds',
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
    name: 'dbvitals_console_request_seconds',
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
    name: 'dbvitals_gate_batch_seconds',
    help: 'Time that the store took for one such statement',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
    registers,
  });
  const runs = new Counter({
    name: 'dbvitals_health_checks_total',
    help: 'Health checks that ended, by outcome: done, failed (could not be stored) or cancelled',
    labelNames: ['outcome'],
    registers,
  });
  const lateness = new Histogram({
    name: 'dbvitals_health_check_late_seconds',
    help: 'How long after it was due a health check began',
    buckets: [1, 5, 15, 30, 60, 300, 900],
    registers,
  });
  const removed = new Counter({
    name: 'dbvitals_retention_rows_total',
    help: 'Rows past their time: entries of the log and counters removed, health checks shrunk to their score',
    labelNames: ['kept'],
    registers,
  });
  const unretained = new Counter({
    name: 'dbvitals_retention_failures_total',
    help: 'What an hourly round could not do: seals, seal_file (or seals in it are missing or forged), entries, findings, counters',
    labelNames: ['work'],
    registers,
  });
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
    batch(size: number, took: number) {
      batchSize.observe(size);
      batchSeconds.observe(took);
    },
    checked(outcome: string, late: number) {
      runs.inc({ outcome });
      lateness.observe(late);
    },
    removed(kept: string, rows: number) {
      removed.inc({ kept }, rows);
    },
    notRetained(work: string) {
      unretained.inc({ work });
    },
    /** Tells of a monitor: how much it runs, and what waits, as the store says when it is asked for. */
    watch(running: () => number, waiting: () => Promise<{ due: number; late: number }>) {
      new Gauge({
        name: 'dbvitals_health_checks_running',
        help: 'Health checks that this process runs now',
        registers,
        collect() {
          this.set(running());
        },
      });
      const late = new Gauge({
        name: 'dbvitals_health_checks_late_seconds',
        help: 'For how long the longest of them has been due',
        registers,
      });
      new Gauge({
        name: 'dbvitals_health_checks_due',
        help: 'Connections that are due and that no monitor runs',
        registers,
        async collect() {
          // While the store is away the figures stay as they were: the scrape still tells of everything else.
          const now = await waiting().catch(() => null);
          if (!now) return;
          this.set(now.due);
          late.set(now.late);
        },
      });
    },
  };
}

/** Serves `/metrics`, `/livez` and `/readyz` on a port of their own. */
export async function serveMetrics(
  read: () => Promise<Registry>,
  host: string,
  port: number,
  isReady: () => Promise<boolean>,
): Promise<Server> {
  const server = createServer(async (request, response) => {
    const plain = { 'content-type': 'text/plain; charset=utf-8' };
    if (request.url === '/metrics') {
      const registry = await read();
      const text = await registry.metrics();
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    } else if (request.url === '/livez') {
      response.writeHead(200, plain).end('ok\n');
    } else if (request.url === '/readyz') {
      const ready = await isReady();
      response.writeHead(ready ? 200 : 503, plain).end(ready ? 'ok\n' : 'the store does not answer\n');
    } else {
      response.writeHead(404, plain).end('see /metrics, /livez or /readyz\n');
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return server;
}
