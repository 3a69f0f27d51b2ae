import { lookup } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { KeyPlaces } from '../cells/key-places.ts';
import { openPool, STORE_DEADLINE_MS, type StoreAddress } from '../database/connect.ts';
import { StoreHealth } from '../database/store-health.ts';
import { GateFull } from '../gate/gate-errors.ts';
import { keyHints } from '../gate/identify.ts';
import type { EscapedErrors } from '../http/edge/escaped-errors.ts';
import { listenOnOtherAddresses } from '../http/edge/other-addresses.ts';
import type { Tls } from '../http/edge/tls.ts';
import type { FailedAuthentications } from '../http/failed-authentications.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createApp } from './app.ts';
import { type ApiCell, type CellAddress, openApiCell } from './cells/api-cell.ts';
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
  const hints = keyHints();
  const [one, ...more] = stores.cells;
  const openOne = (cell: CellAddress) => {
    const labels = stores.directory === null ? {} : { cell: String(cell.id) };
    const own = stores.directory === null ? log : log.child({ cell: cell.id });
    const opened = openApiCell(cell, { log: own, metrics, hints, gates: stores.cells.length });
    metrics.watchGate(opened.gate, labels);
    return opened;
  };
  const cells: [ApiCell, ...ApiCell[]] = [openOne(one), ...more.map(openOne)];
  const directory = stores.directory && openDirectory(stores.directory, log);
  const health = directory?.health ?? cells[0].health;
  const { answered: measure, connectionFailed } = metrics;
  const leaving = new AbortController();
  const { signal } = leaving;
  const notReady = readiness(cells, signal);
  const parts = {
    log,
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
    await Promise.all([...cells.map((cell) => cell.close()), directory?.close()]);
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
