import type pg from 'pg';
import type { Logger } from 'pino';
import { startSealing } from '../../activity/seals/record-seal-rounds.ts';
import { openSealFile } from '../../activity/seals/seal-file.ts';
import type { CellPlace, Cells } from '../../cells/open-cells.ts';
import type { Config } from '../../config/config.ts';
import { openPool, WORK_DEADLINE_MS } from '../../database/connect.ts';
import type { SecretKeys } from '../../database/encryption.ts';
import type { OpenStore } from '../../database/open.ts';
import { startMonitor } from '../../monitor/schedule.ts';
import { startRetention } from '../../server/retention.ts';
import { startControlRounds } from './control-rounds.ts';
import { openingFailures, openWorkingCell, retryOpening } from './working-cell.ts';

interface MonitorParts {
  config: Config;
  secret: SecretKeys;
  /** A pool of the writer on the control store. */
  control: pg.Pool;
  concurrency: number;
  log: Logger;
  until: AbortSignal;
}

/**
 * Runs the due health checks of every cell, seals its logs and removes expired data until the signal. One of several cells that
 * can't be opened is tried again. If another error ends the work of a cell, all cells stop, and it throws.
 */
export async function monitorCells(cells: Cells, parts: MonitorParts): Promise<void> {
  const failed = new AbortController();
  const until = AbortSignal.any([parts.until, failed.signal]);
  const controlRounds = startControlRounds(cells, parts);
  const ended = await Promise.allSettled(
    cells.places.map((place) => {
      const log = cells.hasDirectory ? parts.log.child({ cell: place.id }) : parts.log;
      return monitorCell(cells, place, { ...parts, log, until }).finally(() => failed.abort());
    }),
  );
  await controlRounds?.stop();
  for (const result of ended) if (result.status === 'rejected') throw result.reason;
}

async function monitorCell(cells: Cells, place: CellPlace, parts: MonitorParts): Promise<void> {
  const { config, secret, control, concurrency, log, until } = parts;
  const open = () => openWorkingCell(cells, place.id, { max: 2, control, secret, log });
  const failed = openingFailures(log, 'its databases are not checked');
  const opened = await open().catch((error: unknown) => {
    if (cells.places.length === 1) throw error;
    failed(error);
    return retryOpening(open, failed, until);
  });
  if (!opened) return;
  const { cell, writer } = opened;
  const openOwner = ({ address }: OpenStore) =>
    openPool(address, 'owner', { max: 1, statementTimeout: WORK_DEADLINE_MS });
  const owners = [openOwner(cell.store), openOwner(cell.store)] as const;
  const turns = cells.hasDirectory ? openOwner(cells.control) : null;
  const { allowPrivateTargets, tokenCommands, activityDays, sealFile } = config;
  try {
    const monitor = startMonitor({ writer, secret, allowPrivateTargets, tokenCommands, log, concurrency });
    const retention = startRetention({ owner: owners[0], activityDays, log });
    const sealing = startSealing({
      ...{ owner: owners[1], secret, activityDays, log },
      sealFile: sealFile === null ? null : openSealFile(sealFile, turns),
    });
    log.info({ concurrency }, 'the monitor runs health checks that are due');
    if (!until.aborted)
      await new Promise((resolve) => until.addEventListener('abort', resolve, { once: true }));
    log.info('the monitor is stopping: health checks under way are finished first');
    await Promise.all([monitor.stop(), retention.stop(), sealing.stop()]);
  } finally {
    await Promise.all([writer, ...owners, ...(turns ? [turns] : [])].map((pool) => pool.end()));
  }
}
