import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { RefusedKeys } from '../activity/record-refused-keys.ts';
import { openPool, STORE_DEADLINE_MS, type StoreAddress } from '../database/connect.ts';
import { StoreHealth } from '../database/store-health.ts';
import { Gate } from '../gate/admit.ts';
import type { EscapedErrors } from '../http/edge/escaped-errors.ts';
import type { Tls } from '../http/edge/tls.ts';
import type { FailedAuthentications } from '../http/failed-authentications.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createApp } from './app.ts';
import type { Handler } from './console-handler.ts';
import { listen } from './listen.ts';

/** What a process needs to know to answer requests. */
export interface ApiServerSettings {
  host: string;
  /** 0 = any free port. */
  port: number;
  corsOrigins: readonly string[];
  trustProxy: readonly string[];
  /** Empty, or such as `/dbvitals`. */
  basePath: string;
  /** Which store it is, for `/readyz` to say. */
  storeId: string;
  /** `DBVITALS_PUBLIC_URL`; null where it is not set. */
  publicUrl: string | null;
  /** null = plain HTTP. */
  tls: Tls | null;
}

/**
 * Connections that may wait to be let in; systems have 4,096 at most. Beyond Node's 511 a client that comes in a crowd
 * tried again after 1, 3 and 7 seconds.
 */
const BACKLOG = 4_096;

const LET_GO_EVERY_MS = 50;

/** The API server of a process. */
export interface ApiServer {
  port: number;
  /** Asks clients to go elsewhere, and still answers them: see {@link Parts.leaving}. */
  leave(): void;
  /** Whether requests fail because the store does. */
  failing(): boolean;
  /** New connections get this certificate. */
  renew(tls: Tls): void;
  /** Drains: accepts no new connection, answers every request under way, then closes the store's connections. */
  close(): Promise<void>;
}

/**
 * Answers requests in this process. It holds up to 7 connections to the store: one for the gate, two
 * for keys and four for answers. Throws when the port is taken.
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
  // The API has its own pools: a store that hangs costs a request two seconds, and no connection.
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
    leaving: signal,
    measure,
    connectionFailed,
    escaped,
  };
  const { app, renew } = createApp(parts);
  const close = async () => {
    // Node closes idle connections once, on close. A connection that becomes idle later would be waited for, 72 s (server.ts).
    const letGo = setInterval(() => app.server.closeIdleConnections(), LET_GO_EVERY_MS);
    await app.close().finally(() => clearInterval(letGo));
    health.stop();
    await refusedKeys.close();
    await Promise.all([keys.end(), reader.end(), gate.close()]);
  };
  try {
    // Fastify passes options on to Node that its own types do not name.
    const where = { host, port, backlog: BACKLOG };
    await listen(() => app.listen(where), port);
  } catch (error) {
    await close();
    throw error;
  }
  const { port: heard } = app.server.address() as AddressInfo;
  return { port: heard, leave: () => leaving.abort(), failing: () => health.failing, renew, close };
}
