import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { bindAtStart } from '../connections/bind-credentials.ts';
import { WrongSecretKey } from '../connections/rotate-secret-key.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import { WORK_DEADLINE_MS } from '../store/connect.ts';
import type { CellPlace } from '../store/directory/cell-places.ts';
import type { Cell, Cells } from '../store/directory/open-cells.ts';
import { errorFields, isStoreFailure } from '../store/store-failure.ts';

/** How long to wait before a cell that could not be opened is opened again. */
const RETRY_MS = 5_000;

/** An open cell, with a pool of the writer for the process's own work. */
export interface WorkingCell {
  readonly cell: Cell;
  readonly writer: pg.Pool;
}

/** Opens a cell with a pool of up to `max` connections. `control` is a pool of the writer on the control store. */
export async function openWorkingCell(
  cells: Cells,
  place: CellPlace,
  { max, control, secret, log }: { max: number; control: pg.Pool; secret: SecretKeys; log: Logger },
): Promise<WorkingCell> {
  const cell = await cells.openPlace(place);
  const limits = { max, statementTimeout: WORK_DEADLINE_MS, keepsPlans: true };
  const writer = cells.openPool(cell, 'writer', limits, control);
  try {
    await bindAtStart(writer, secret, log);
    return { cell, writer };
  } catch (error) {
    await writer.end();
    throw error;
  }
}

/** Opens one of several cells again and again until it succeeds; null = the signal came first. */
export async function retryOpening<T>(
  open: () => Promise<T>,
  failed: (error: unknown) => void,
  signal: AbortSignal,
): Promise<T | null> {
  while (!signal.aborted) {
    await wait(RETRY_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    try {
      return await open();
    } catch (error) {
      failed(error);
    }
  }
  return null;
}

/**
 * Logs why a cell can't be opened, or that the secret key is that of another store: not at each try, but whenever the cause is
 * another one. An outage is one cause.
 */
export function openingFailures(log: Logger, consequence: string): (error: unknown) => void {
  let known: string | null = null;
  return (error) => {
    const fields = errorFields(error, log);
    const cause = isStoreFailure(error) ? 'outage' : fields.reason;
    if (cause === known) return;
    known = cause;
    if (error instanceof WrongSecretKey) log.error(error.message);
    else log.error(fields, `the cell can't be opened: ${consequence}`);
  };
}
