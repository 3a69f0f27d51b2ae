import type { Logger } from 'pino';
import { RefusedKeys } from '../../activity/record-refused-keys.ts';
import { openPool, STORE_DEADLINE_MS, type StoreAddress } from '../../database/connect.ts';
import { StoreHealth } from '../../database/store-health.ts';
import { Gate } from '../../gate/admit.ts';
import { Identifier, type KeyHints } from '../../gate/identify.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Readiness } from '../readiness.ts';
import { storeReadiness } from '../readiness.ts';

/** The address of a cell, for requests. */
export interface CellAddress {
  readonly id: number;
  /** The store, or a pooler in front of it. */
  readonly address: StoreAddress;
  /** Whether its schema is known to be up to date. Until then its requests get a 500. */
  isOpen(): boolean;
}

/** What answers the requests of one cell. */
export type ApiCell = ReturnType<typeof openApiCell>;

/**
 * Opens the API's pools on a cell, up to 7 connections: one for the gate, two for keys and four for answers. Each cell has
 * its own queues, so a slow or dead cell delays only its own accounts: a request takes two seconds and frees its connection.
 */
export function openApiCell(
  { id, address, isOpen }: CellAddress,
  { log, metrics, hints, gates }: { log: Logger; metrics: Metrics; hints: KeyHints; gates: number },
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
  const ready: Readiness = storeReadiness(keys, health);
  return {
    ...{ id, isOpen, gate, health, keys, reader, refusedKeys },
    identifier: new Identifier(keys, id, hints),
    /** Why requests of the cell fail now; null = they succeed. */
    notReady: async () => (isOpen() ? ready() : 'the store could not be opened since the start'),
    /** Call it when no request is under way. */
    async close() {
      health.stop();
      await refusedKeys.close();
      await Promise.all([keys.end(), reader.end(), gate.close()]);
    },
  };
}
