import type pg from 'pg';
import type { Logger } from 'pino';
import { startSealing } from '../activity/seals/record-seal-rounds.ts';
import { openSealFile } from '../activity/seals/seal-file.ts';
import { readCellsFile } from '../config/cells-file.ts';
import type { Config } from '../config/config.ts';
import { rereadSecretKeys } from '../config/secret-key.ts';
import { requireOwnSecret } from '../connections/rotate-secret-key.ts';
import { startMonitor } from '../monitor/schedule.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import { openPool, WORK_DEADLINE_MS } from '../store/connect.ts';
import { type CellPlace, cellLog } from '../store/directory/cell-places.ts';
import type { Cells } from '../store/directory/open-cells.ts';
import type { OpenStore } from '../store/open.ts';
import { startControlRounds } from './control-rounds.ts';
import { reloadCells } from './reload-cells.ts';
import { reloadOnHangup } from './reload-on-hangup.ts';
import { reloadSecretKeys } from './reload-secret-keys.ts';
import { startRetention } from './retention.ts';
import { openingFailures, openWorkingCell, retryOpening, type WorkingCell } from './working-cell.ts';

interface MonitorParts {
  config: Config;
  secret: SecretKeys;
  /** A pool of the writer on the control store. */
  control: pg.Pool;
  concurrency: number;
  log: Logger;
  until: AbortSignal;
}

/** The work of a cell under way. */
interface MonitoredCell {
  readonly place: CellPlace;
  /** Null until it is open. */
  opened: WorkingCell | null;
  readonly stopping: AbortController;
  /** Settles when the work has ended. */
  ended: Promise<void>;
}

/**
 * Runs the due health checks of every cell, seals its logs and removes expired data until the signal. One of several cells that
 * can't be opened is tried again. If another error ends the work of a cell, all cells stop, and it throws. On SIGHUP it reads the
 * files of the secret keys and of the cells again.
 */
export async function monitorCells(cells: Cells, parts: MonitorParts): Promise<void> {
  const { config, secret, log } = parts;
  const failed = new AbortController();
  const until = AbortSignal.any([parts.until, failed.signal]);
  const controlRounds = startControlRounds(cells, parts);
  const monitored = new Set<MonitoredCell>();
  const start = (place: CellPlace, opened: WorkingCell | null) => {
    const cell: MonitoredCell = {
      place,
      opened,
      stopping: new AbortController(),
      ended: Promise.resolve(),
    };
    const stop = AbortSignal.any([until, cell.stopping.signal]);
    cell.ended = monitorCell(cells, cell, { ...parts, log: cellLog(place, log), until: stop }).then(
      () => {
        // The work of a cell that was removed ends alone.
        if (cell.stopping.signal.aborted) monitored.delete(cell);
        else failed.abort();
      },
      (error: unknown) => {
        failed.abort();
        throw error;
      },
    );
    cell.ended.catch(() => {}); // thrown below
    monitored.add(cell);
  };
  for (const place of cells.places) start(place, null);
  const reloading = reloadOnHangup(
    [
      reloadSecretKeys(
        secret,
        () => rereadSecretKeys(config),
        () => [...monitored].flatMap(({ opened }) => (opened ? [opened.cell.store.address] : [])),
      ),
      reloadCells<{ place: CellPlace; opened: WorkingCell }>(
        cells,
        () => config.cells && readCellsFile(config.cells.path),
        {
          open: async (place) => ({ place, opened: await openCell(cells, place, parts) }),
          close: ({ opened }) => opened.writer.end(),
          change({ removed }, added) {
            for (const { place, stopping } of monitored) if (removed.includes(place)) stopping.abort();
            for (const { place, opened } of added) start(place, opened);
          },
        },
      ),
    ],
    log,
  );
  await aborted(until);
  await reloading.stop();
  const results = await Promise.allSettled([...monitored].map(({ ended }) => ended));
  await controlRounds?.stop();
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/** Opens a cell, whose secret key must be its own. */
async function openCell(
  cells: Cells,
  place: CellPlace,
  { control, secret, log }: Pick<MonitorParts, 'control' | 'secret' | 'log'>,
): Promise<WorkingCell> {
  await requireOwnSecret((await cells.openPlace(place)).store.address, secret);
  return openWorkingCell(cells, place, { max: 2, control, secret, log });
}

async function monitorCell(cells: Cells, monitored: MonitoredCell, parts: MonitorParts): Promise<void> {
  const { config, secret, concurrency, log, until } = parts;
  const open = () => openCell(cells, monitored.place, parts);
  const failed = openingFailures(log, 'its databases are not checked');
  const opened =
    monitored.opened ??
    (await open().catch((error: unknown) => {
      if (cells.places.length === 1) throw error;
      failed(error);
      return retryOpening(open, failed, until);
    }));
  if (!opened) return;
  monitored.opened = opened;
  const { cell, writer } = opened;
  const openOwner = ({ address }: OpenStore) =>
    openPool(address, 'owner', { max: 1, statementTimeout: WORK_DEADLINE_MS });
  const owners = [openOwner(cell.store), openOwner(cell.store)] as const;
  const turns = cells.directory && openOwner(cells.directory);
  const { allowPrivateTargets, tokenCommands, activityDays, sealFile } = config;
  try {
    const monitor = startMonitor({
      writer,
      secret,
      allowPrivateTargets,
      tokenCommands,
      log,
      concurrency,
      pulses: config.pulse,
    });
    const retention = startRetention({ owner: owners[0], activityDays, log });
    const sealing = startSealing({
      owner: owners[1],
      secret,
      activityDays,
      log,
      sealFile: sealFile === null ? null : openSealFile(sealFile, turns),
    });
    log.info({ concurrency }, 'the monitor runs health checks that are due');
    await aborted(until);
    log.info('the monitor is stopping: health checks under way are finished first');
    await Promise.all([monitor.stop(), retention.stop(), sealing.stop()]);
  } finally {
    await Promise.all([writer, ...owners, ...(turns ? [turns] : [])].map((pool) => pool.end()));
  }
}
