import { lookup } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { RefusedKeys } from '../activity/record-refused-keys.ts';
import { openPool, STORE_DEADLINE_MS, type StoreAddress } from '../database/connect.ts';
import { StoreHealth } from '../database/store-health.ts';
import { Gate } from '../gate/admit.ts';
import type { EscapedErrors } from '../http/edge/escaped-errors.ts';
import { listenOnOtherAddresses } from '../http/edge/other-addresses.ts';
import type { Tls } from '../http/edge/tls.ts';
import type { FailedAuthentications } from '../http/failed-authentications.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createApp } from './app.ts';
import type { Handler } from './console-handler.ts';
import { listen } from './listen.ts';
import { type Readiness, readiness } from './readiness.ts';

/** The settings of the API server. */
export interface ApiServerSettings {
  host: string;
  /** 0 = any free port. */
  port: number;
  corsOrigins: readonly string[];
  trustProxy: readonly string[];
  /** Empty, or a path such as `/dbvitals`. */
  basePath: string;
  /** The identity of the store, a header of `/readyz`. */
  storeId: string;
  /** `DBVITALS_PUBLIC_URL`; null = not set. */
  publicUrl: string | null;
  /** null = plain HTTP. */
  tls: Tls | null;
}

/**
 * The length of the queue of connections to accept; systems allow 4,096 at most. With Node's default of 511, clients that
 * connected all at once had to retry after 1, 3 and 7 seconds.
 */
const BACKLOG = 4_096;

const LET_GO_EVERY_MS = 50;

/** The API server of a process. */
export interface ApiServer {
  port: number;
  /** Asks clients to connect elsewhere, and still answers them: see {@link Parts.leaving}. */
  leave(): void;
  /** Why the service can't take requests; null = it can. */
  notReady: Readiness;
  /** Serves this certificate to new connections. */
  renew(tls: Tls): void;
  /** Accepts no new connections, answers every request under way, then closes the connections to the store. */
  close(): Promise<void>;
}

/**
 * Starts the API server of this process. It uses up to 7 connections to the store: one for the gate, two for keys and four
 * for answers. Throws if the port is in use.
 */
export async function startApiServer(
  address: StoreAddress,
  settings: ApiServerSettings,
  {
    log,
    metrics,
    failures,
    console,
    escaped,
  }: {
    log: Logger;
    metrics: Metrics;
    failures: FailedAuthentications;
    console: Handler;
    escaped: EscapedErrors;
  },
): Promise<ApiServer> {
  const { host, port, corsOrigins, trustProxy, basePath, publicUrl, storeId, tls } = settings;
  // The API has its own pools: if the store hangs, a request takes two seconds and its connection is freed.
  const keys = openPool(address, 'writer', { max: 2, statementTimeout: STORE_DEADLINE_MS });
  const reader = openPool(address, 'reader', {
    max: 4,
    pipeline: true,
    statementTimeout: STORE_DEADLINE_MS,
  });
  const health = new StoreHealth(keys, log);
  const gate = new Gate(address, metrics.batch, () => health.succeeded());
  metrics.watchGate(gate);
  const refusedKeys = new RefusedKeys(keys, log);
  const { answered: measure, connectionFailed } = metrics;
  const leaving = new AbortController();
  const { signal } = leaving;
  const notReady = readiness(keys, health, signal);
  const parts = {
    log,
    gate,
    health,
    keys,
    reader,
    corsOrigins,
    trustProxy,
    basePath,
    storeId,
    publicUrl,
    tls,
    failures,
    refusedKeys,
    console,
    notReady,
    leaving: signal,
    measure,
    connectionFailed,
    escaped,
  };
  const { app, renew } = createApp(parts);
  let closeOthers = async () => {};
  const close = async () => {
    leaving.abort();
    // Node closes idle connections only once, on close. It would wait 72 s for a connection that becomes idle later (http-server.ts).
    const letGo = setInterval(() => app.server.closeIdleConnections(), LET_GO_EVERY_MS);
    await Promise.all([closeOthers(), app.close()]).finally(() => clearInterval(letGo));
    health.stop();
    await refusedKeys.close();
    await Promise.all([keys.end(), reader.end(), gate.close()]);
  };
  try {
    // Fastify passes on options to Node that its own types do not declare.
    const where = { host, port, backlog: BACKLOG };
    await listen(async () => {
      await app.listen(where);
      const addresses = (await lookup(host, { all: true })).map(({ address }) => address);
      closeOthers = await listenOnOtherAddresses(app.server, addresses, BACKLOG);
    }, port);
  } catch (error) {
    await close();
    throw error;
  }
  const { port: heard } = app.server.address() as AddressInfo;
  return { port: heard, leave: () => leaving.abort(), notReady, renew, close };
}
