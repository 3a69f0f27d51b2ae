import { lookup } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { StoreAddress } from '../config/store-url.ts';
import type { EscapedErrors } from '../http/edge/escaped-errors.ts';
import { listen } from '../http/edge/listen.ts';
import { listenOnOtherAddresses } from '../http/edge/other-addresses.ts';
import type { FailedAuthentications } from '../http/failed-authentications.ts';
import type { Tls } from '../platform/network/tls.ts';
import type { Metrics } from '../platform/telemetry/metrics.ts';
import { openPool, STORE_DEADLINE_MS } from '../store/connect.ts';
import { cellLabels, cellLog } from '../store/directory/cell-places.ts';
import { KeyPlaces } from '../store/directory/key-places.ts';
import { PerCell } from '../store/directory/per-cell.ts';
import { StoreHealth } from '../store/store-health.ts';
import { createApp } from './app.ts';
import { type ApiCell, type ApiCells, type CellAddress, openApiCell } from './cells/api-cell.ts';
import type { HandlerOf } from './console-handler.ts';
import { GateFull } from './gate/gate-errors.ts';
import { keyHints } from './gate/identify.ts';
import { type Readiness, readiness } from './readiness.ts';
import type { RequestLog } from './request/request-log.ts';

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

/** The stores of the API. */
export interface ApiStores {
  /** At least one. */
  readonly cells: readonly [CellAddress, ...CellAddress[]];
  /** The control store, where the directory is; null = there is one cell, without a directory. */
  readonly directory: StoreAddress | null;
}

/** The API server of a process. */
export interface ApiServer {
  port: number;
  /** Asks clients to connect elsewhere, and still answers them: see {@link Parts.leaving}. */
  leave(): void;
  /** Why the service can't take requests; null = it can. */
  notReady: Readiness;
  /**
   * Answers requests from these cells from now on, if there is a directory. Returns what closes the pools on the others: call it when
   * the requests that are under way have ended.
   */
  useCells(cells: readonly CellAddress[]): () => Promise<void>;
  /** Serves this certificate to new connections. */
  renew(tls: Tls): void;
  /** Accepts no new connections, answers every request under way, then closes the connections to the store. */
  close(): Promise<void>;
}

/**
 * Starts the API server of this process. It uses up to 7 connections to each cell, and 2 to the control store if there
 * is a directory. Throws if the port is in use.
 */
export async function startApiServer(
  stores: ApiStores,
  settings: ApiServerSettings,
  {
    log,
    requestLog,
    metrics,
    failures,
    handlerOf,
    escaped,
  }: {
    log: Logger;
    requestLog: RequestLog;
    metrics: Metrics;
    failures: FailedAuthentications;
    handlerOf: HandlerOf;
    escaped: EscapedErrors;
  },
): Promise<ApiServer> {
  const { host, port, corsOrigins, trustProxy, basePath, publicUrl, storeId, tls } = settings;
  const hints = keyHints();
  const gates = new Map<ApiCell, () => void>();
  const opened = new PerCell(
    (cell: CellAddress): ApiCell => {
      const part = openApiCell(cell, { log: cellLog(cell, log), metrics, hints, gates: () => gates.size });
      gates.set(part, metrics.watchGate(part.gate, cellLabels(cell)));
      return part;
    },
    (cell) => cell.close(),
  );
  const open = (addresses: readonly CellAddress[]): { cells: ApiCells; close: () => Promise<void> } => {
    const closeLeft = opened.use(addresses);
    const [first, ...others] = opened.all;
    if (!first) throw new Error('no cell');
    for (const [part, forget] of gates) {
      if (opened.all.includes(part)) continue;
      forget();
      gates.delete(part);
    }
    return { cells: [first, ...others], close: closeLeft };
  };
  const { cells } = open(stores.cells);
  const directory = stores.directory && openDirectory(stores.directory, log);
  const health = directory?.health ?? cells[0].health;
  const { answered: measure, connectionFailed } = metrics;
  const leaving = new AbortController();
  const { signal } = leaving;
  const notReady = readiness(() => opened.all, signal);
  const parts = {
    log,
    requestLog,
    cells,
    health,
    hints,
    directory,
    corsOrigins,
    trustProxy,
    basePath,
    storeId,
    publicUrl,
    tls,
    failures,
    handlerOf,
    notReady,
    leaving: signal,
    measure,
    connectionFailed,
    escaped,
  };
  const { app, renew, useCells } = createApp(parts);
  let closeOthers = async () => {};
  const close = async () => {
    leaving.abort();
    // Node closes idle connections only once, on close. It would wait 72 s for a connection that becomes idle later (http-server.ts).
    const letGo = setInterval(() => app.server.closeIdleConnections(), LET_GO_EVERY_MS);
    await Promise.all([closeOthers(), app.close()]).finally(() => clearInterval(letGo));
    await Promise.all([opened.close(), directory?.close()]);
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
  return {
    port: heard,
    leave: () => leaving.abort(),
    notReady,
    useCells(addresses) {
      const now = open(addresses);
      useCells(now.cells);
      return now.close;
    },
    renew,
    close,
  };
}

function openDirectory(address: StoreAddress, log: Logger) {
  const pool = openPool(address, 'writer', { max: 2, statementTimeout: STORE_DEADLINE_MS });
  const health = new StoreHealth(pool, log.child({ cell: 'control' }));
  return {
    health,
    places: new KeyPlaces(pool, () => new GateFull('too many unknown keys')),
    async close() {
      health.stop();
      await pool.end();
    },
  };
}
