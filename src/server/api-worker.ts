import { type Logger, pino } from 'pino';
import type { Config } from '../config/config.ts';
import { forwardTo } from '../console/console-proxy.ts';
import { parsePoolerUrl, type StoreAddress } from '../database/connect.ts';
import { EscapedErrors } from '../http/edge/escaped-errors.ts';
import type { Tls } from '../http/edge/tls.ts';
import { type Counted, FailedAuthentications } from '../http/failed-authentications.ts';
import { createMetrics, type Figures } from '../telemetry/metrics.ts';
import { type ApiServer, type ApiServerSettings, DRAIN_MS, startApiServer } from './api-server.ts';

/** What a worker is started with. Both addresses of the store hold a password. */
export interface WorkerInstructions {
  settings: ApiServerSettings;
  store: StoreAddress;
  poolerUrl: string | null;
  /** The Unix socket where the console answers. */
  consoleSocket: string;
  logLevel: Config['logLevel'];
  traces: Config['traces'];
}

/** A message to a worker: its start, a request for its metrics, a count of failed authentications, the stop of the service, a new certificate. */
export type WorkerCommand =
  | { start: WorkerInstructions }
  | { figures: true }
  | Counted
  | { leave: true }
  | { tls: Tls };

/** A message from a worker; `count` is the address of a failed authentication, which is counted for all workers. */
export type WorkerReply =
  | { listening: number }
  | { failed: string }
  | { figures: Figures }
  | { count: string }
  | { storeFails: boolean };

// A write of up to this many bytes to a pipe is atomic (PIPE_BUF on Linux): lines of several workers never mix.
const WHOLE_WRITE = 4_096;

const metrics = createMetrics();
let server: Promise<ApiServer> | undefined;
let endTraces = async () => {};

// Failed authentications that were sent to be counted: the replies come in the same order.
const counting: { address: string; resolve: (counted: Counted) => void }[] = [];
const failures = new FailedAuthentications((address) => {
  if (!process.connected) return Promise.resolve(failures.countHere(address));
  reply({ count: address });
  return new Promise((resolve) => counting.push({ address, resolve }));
});

// The supervisor acts on signals, such as Ctrl-C. It ends its workers by closing their pipe, and so does its death.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('message', (command: WorkerCommand) => void run(command)).once('disconnect', () => void drain());
if (!process.connected) process.exit();

async function run(command: WorkerCommand): Promise<void> {
  if ('figures' in command) {
    reply({ figures: await metrics.registry.getMetricsAsJSON() });
    return;
  }
  if ('counted' in command) {
    counting.shift()?.resolve(command);
    return;
  }
  if ('leave' in command) {
    (await server)?.leave();
    return;
  }
  if ('tls' in command) {
    (await server)?.renew(command.tls);
    return;
  }
  const { settings, store, poolerUrl, consoleSocket, logLevel, traces } = command.start;
  const output = pino.destination({ dest: 2, sync: false, maxWrite: WHOLE_WRITE });
  const log = pino({ level: logLevel, base: { pid: process.pid } }, output);
  const address = poolerUrl === null ? store : parsePoolerUrl(poolerUrl);
  const escaped = new EscapedErrors(log, metrics.escaped);
  escaped.watch(() => void drain().finally(() => process.exit(1)));
  const parts = {
    log,
    metrics,
    failures,
    console: forwardTo(consoleSocket),
    escaped,
    storeFails: (failing: boolean) => reply({ storeFails: failing }),
  };
  server = beginTraces(traces, log).then(() => startApiServer(address, settings, parts));
  try {
    const { port } = await server;
    reply({ listening: port });
  } catch (error) {
    reply({ failed: error instanceof Error ? error.message : 'unknown' }, () => process.exit(1));
  }
}

async function beginTraces(traces: Config['traces'], log: Logger): Promise<void> {
  if (!traces) return;
  const { startTraces } = await import('../telemetry/otel-sdk.ts');
  endTraces = startTraces(traces, log);
}

/** The supervisor may be gone: 'disconnect' tells of that. */
function reply(message: WorkerReply, then: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, then);
}

async function drain(): Promise<void> {
  setTimeout(() => process.exit(1), DRAIN_MS).unref();
  for (const { address, resolve } of counting) resolve(failures.countHere(address));
  try {
    await (await server)?.close();
    await endTraces();
  } catch {
    process.exit(1); // it never began to answer
  }
}
