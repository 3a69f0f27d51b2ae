import type { Logger } from 'pino';
import type { EscapedErrors } from '../http/edge/escaped-errors.ts';
import type { FailedAuthentications } from '../http/failed-authentications.ts';
import type { Tls } from '../platform/network/tls.ts';
import type { ConnectionFailure } from '../platform/telemetry/metrics.ts';
import type { StoreHealth } from '../store/store-health.ts';
import type { ApiCells } from './cells/api-cell.ts';
import type { RoutedBy } from './cells/key-router.ts';
import type { HandlerOf } from './console-handler.ts';
import type { KeyHints } from './gate/identify.ts';
import type { Readiness } from './readiness.ts';
import type { RequestLog } from './request/request-log.ts';

/** The parts that the application is built from. */
export interface Parts {
  log: Logger;
  /** Writes the lines about answers. */
  requestLog: RequestLog;
  /** At least one. */
  cells: ApiCells;
  /** Is told about requests that fail because of the store, before their cell is known. */
  health: StoreHealth;
  /** The keys of all cells that this process knows. */
  hints: KeyHints;
  /** Says which cell a key is in; null = there is one cell, without a directory. */
  directory: RoutedBy | null;
  corsOrigins: readonly string[];
  trustProxy: readonly string[];
  /** The service's path behind a proxy; empty = the root. */
  basePath: string;
  /** The identity of the store, a header of `/readyz`. */
  storeId: string;
  /** The origin that clients use for the service; null = the address that they connected to. */
  publicUrl: string | null;
  /** null = plain HTTP. */
  tls: Tls | null;
  /** Counts failed authentications by address. */
  failures: FailedAuthentications;
  /** The handlers of the console's API and of collectors. */
  handlerOf: HandlerOf;
  /** Why `/readyz` answers 503; null = it answers 200. */
  notReady: Readiness;
  /** Aborted some time before the service stops. From then on `/readyz` answers 503, and every answer closes its connection. */
  leaving: AbortSignal;
  /** Counts an answer: its route, its status and its duration in seconds, without deliberate delays. */
  measure: (route: string, status: number, seconds: number) => void;
  /** Counts a failed connection. */
  connectionFailed: (why: ConnectionFailure) => void;
  escaped: EscapedErrors;
}
