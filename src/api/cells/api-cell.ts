import type { Logger } from 'pino';
import { RefusedKeys } from '../../activity/record-refused-keys.ts';
import type { StoreAddress } from '../../config/store-url.ts';
import type { Metrics } from '../../platform/telemetry/metrics.ts';
import { openPool, STORE_DEADLINE_MS } from '../../store/connect.ts';
import { connectAhead } from '../../store/connect-ahead.ts';
import { StoreHealth } from '../../store/store-health.ts';
import { Gate } from '../gate/admit.ts';
import { Identifier, type KeyHints } from '../gate/identify.ts';
import { type Readiness, storeReadiness } from '../readiness.ts';

/** The address of a cell, for requests. */
export interface CellAddress {
  readonly id: number;
  /** What logs and metrics call it. Null if it is the only store. */
  readonly number: number | null;
  /** The store, or a pooler in front of it. */
  readonly address: StoreAddress;
  /** Whether its schema is known to be up to date. Until then its requests get a 500. */
  isOpen(): boolean;
  /** Whether the secret key is known to be that of the store. Requests do not need it, and the rest of the service does. */
  hasSecret(): boolean;
}

/** What answers the requests of one cell. */
export type ApiCell = ReturnType<typeof openApiCell>;

/** The cells that requests are answered from: at least one. */
export type ApiCells = readonly [ApiCell, ...ApiCell[]];

/**
 * Opens the API's pools on a cell, up to 7 connections: one for the gate, two for keys and four for answers. Each cell has
 * its own queues, so a slow or dead cell delays only its own accounts: a request takes two seconds and frees its connection.
 */
export function openApiCell(
  { id, address, isOpen, hasSecret }: CellAddress,
  { log, metrics, hints, gates }: { log: Logger; metrics: Metrics; hints: KeyHints; gates: () => number },
) {
  const keys = openPool(address, 'writer', { max: 2, statementTimeout: STORE_DEADLINE_MS });
  const reader = openPool(address, 'reader', {
    max: 4,
    pipeline: true,
    statementTimeout: STORE_DEADLINE_MS,
  });
  const health = new StoreHealth(keys, log);
  const gate = new Gate(address, metrics.batch, () => health.succeeded(), gates);
  const refusedKeys = new RefusedKeys(keys, log);
  if (isOpen()) {
    void refusedKeys.recordLeft(); // which connects the pool of keys
    connectAhead(reader);
    gate.connect();
  }
  const ready: Readiness = storeReadiness(keys, health);
  return {
    id,
    isOpen,
    gate,
    health,
    keys,
    reader,
    refusedKeys,
    identifier: new Identifier(keys, id, hints),
    /** Why requests of the cell fail now; null = they succeed. */
    async notReady() {
      if (!isOpen()) return 'the store could not be opened since the start';
      return hasSecret() ? ready() : 'the secret key is not that of the store: see the log';
    },
    /** Call it when no request is under way. */
    async close() {
      health.stop();
      await refusedKeys.close();
      await Promise.all([keys.end(), reader.end(), gate.close()]);
    },
  };
}
