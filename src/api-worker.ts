import { type Logger, pino } from 'pino';
import { type Answering, type AnsweringSettings, DRAIN_MS, startAnswering } from './api-server.ts';
import type { Config } from './config.ts';
import { forwardTo } from './console/console-proxy.ts';
import { parsePoolerUrl, type StoreAddress } from './database/connect.ts';
import { EscapedErrors } from './http/escaped-errors.ts';
import { type Counted, FailedAuthentications } from './http/failed-authentications.ts';
import type { Tls } from './http/tls.ts';
import { createMetrics, type Figures } from './metrics.ts';

/** What an answering process is told at its start. Both ways to the store hold a password. */
export interface Instructions {
  settings: AnsweringSettings;
  store: StoreAddress;
  poolerUrl: string | null;
  /** The Unix socket where the console answers. */
  consoleSocket: string;
  logLevel: Config['logLevel'];
  traces: Config['traces'];
}

/** What the supervisor says: once what to answer with, then that it wants the figures, what it counted, that the service stops, a new certificate. */
export type Told = { start: Instructions } | { figures: true } | Counted | { leave: true } | { tls: Tls };

/** What an answering process says: among it the address of a failed authentication, to be counted for all processes. */
export type Said =
  | { listening: number }
  | { failed: string }
  | { figures: Figures }
  | { count: string }
  | { storeFails: boolean };

// Up to so many bytes a write to a pipe is whole (Linux' PIPE_BUF): lines of several processes never mix.
const WHOLE_WRITE = 4_096;

const metrics = createMetrics();
let answering: Promise<Answering> | undefined;
let endTraces = async () => {};

// Those of failed authentications: they are counted in the order in which they were told.
const counting: { address: string; resolve: (counted: Counted) => void }[] = [];
const failures = new FailedAuthentications((address) => {
  if (!process.connected) return Promise.resolve(failures.countHere(address));
  say({ count: address });
  return new Promise((resolve) => counting.push({ address, resolve }));
});

// A signal to the group (Ctrl-C) is the supervisor's to act on. It ends its processes by hanging up, and so does its death.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('message', (told: Told) => void hear(told)).once('disconnect', () => void drain());
if (!process.connected) process.exit();

async function hear(told: Told): Promise<void> {
  if ('figures' in told) {
    say({ figures: await metrics.registry.getMetricsAsJSON() });
    return;
  }
  if ('counted' in told) {
    counting.shift()?.resolve(told);
    return;
  }
  if ('leave' in told) {
    (await answering)?.leave();
    return;
  }
  if ('tls' in told) {
    (await answering)?.renew(told.tls);
    return;
  }
  const { settings, store, poolerUrl, consoleSocket, logLevel, traces } = told.start;
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
    storeFails: (failing: boolean) => say({ storeFails: failing }),
  };
  answering = beginTraces(traces, log).then(() => startAnswering(address, settings, parts));
  try {
    const { port } = await answering;
    say({ listening: port });
  } catch (error) {
    say({ failed: error instanceof Error ? error.message : 'unknown' }, () => process.exit(1));
  }
}

async function beginTraces(traces: Config['traces'], log: Logger): Promise<void> {
  if (!traces) return;
  const { startTraces } = await import('./traces.ts');
  endTraces = startTraces(traces, log);
}

/** Nobody may be there any more to hear it: that is told by 'disconnect'. */
function say(said: Said, then: () => void = () => {}): void {
  process.send?.(said, undefined, undefined, then);
}

async function drain(): Promise<void> {
  setTimeout(() => process.exit(1), DRAIN_MS).unref();
  for (const { address, resolve } of counting) resolve(failures.countHere(address));
  try {
    await (await answering)?.close();
    await endTraces();
  } catch {
    process.exit(1); // it never began to answer
  }
}
