import type pg from 'pg';
import { collectorFigures } from '../accounts/collectors/watch-collectors.ts';
import { countDueConnections } from '../monitor/claim.ts';
import { readFigures } from '../notifications/dispatch/read-figures.ts';
import { askOnce } from '../platform/telemetry/ask-once.ts';
import type { Metrics, StoreFigures } from '../platform/telemetry/metrics.ts';
import type { notificationMetrics } from '../platform/telemetry/notification-metrics.ts';
import { backupTimes } from '../store/backup/last-backup.ts';
import { openPool, STORE_DEADLINE_MS } from '../store/connect.ts';
import { cellLabels } from '../store/directory/cell-places.ts';
import type { Cells } from '../store/directory/open-cells.ts';
import { PerCell } from '../store/directory/per-cell.ts';
import { one } from '../store/one.ts';
import type { ServedCell } from './served-cell.ts';

/** The label of the metrics of a control store that is no cell. */
export const CONTROL_LABELS = { cell: 'control' };

/** Reports the figures of each cell's store, and those of the control store, of which `control` is a pool. */
export function watchCells(
  cells: Cells,
  served: readonly ServedCell[],
  {
    control,
    metrics,
    notifications,
  }: { control: pg.Pool; metrics: Metrics; notifications: ReturnType<typeof notificationMetrics> },
): PerCell<ServedCell, WatchedCell> {
  const watched = new PerCell(
    (cell: ServedCell) => watchCell(cells, cell),
    ({ pool }) => pool.end(),
  );
  watched.use(served);
  const ask = askOnce(() => readControl(control), STORE_DEADLINE_MS);
  const ofControl = cells.hasOwnControl ? [{ labels: CONTROL_LABELS, ask }] : [];
  metrics.watchStores(() => [...watched.all.map(({ store }) => store), ...ofControl]);
  notifications.watchStores(() => watched.all.map((each) => each.notifications));
  return watched;
}

type WatchedCell = ReturnType<typeof watchCell>;

function watchCell(cells: Cells, { place, address }: ServedCell) {
  // A separate pool with a deadline: on a hanging connection, the next query would wait forever.
  const pool = openPool(cells.storeAddress(place), 'writer', {
    max: 1,
    statementTimeout: STORE_DEADLINE_MS,
  });
  const labels = cellLabels(place);
  const ask = <T>(read: () => Promise<T>) => {
    const once = askOnce(read, STORE_DEADLINE_MS);
    return async () => (address.isOpen() ? once() : null);
  };
  const readStore = async (): Promise<StoreFigures> => ({
    sizeBytes: await storeSize(pool),
    ...(await countDueConnections(pool)),
    ...(await backupTimes(pool)),
    ...(await collectorFigures(pool)),
  });
  return {
    pool,
    store: { labels, ask: ask(readStore) },
    notifications: { labels, ask: ask(() => readFigures(pool)) },
  };
}

/** The figures of a control store that is no cell: it has no connections. */
async function readControl(pool: pg.Pool): Promise<StoreFigures> {
  const collectors = { collectorsSilent: 0, collectorsLongestSilence: 0, collectorsBuffered: 0 };
  return { sizeBytes: await storeSize(pool), due: 0, late: 0, ...collectors, ...(await backupTimes(pool)) };
}

/** The size of the store's database in bytes. PostgreSQL checks each of its files: 3 ms for 1,500 files. */
async function storeSize(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    'select pg_database_size(current_database()) as bytes',
  );
  return one(rows, 'measure the store').bytes;
}
