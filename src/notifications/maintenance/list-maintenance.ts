import type { Read } from '../../store/read.ts';
import {
  type MaintenanceRow,
  type MaintenanceState,
  maintenanceColumns,
  maintenanceRow,
  type StoredMaintenance,
} from './maintenance-row.ts';

/** The most past windows that are listed. */
const MOST_PAST = 50;

// The windows that are not over are at most MOST_WINDOWS, and past ones are found from the newest.
const select = `
  (select ${maintenanceColumns}
     from maintenance
    where account_id = $1 and removed_at is null and (ends_at is null or ends_at > $2))
  union all
  (select ${maintenanceColumns}
     from maintenance
    where account_id = $1 and (removed_at is not null or ends_at <= $2)
    order by created_at desc, maintenance_id desc
    limit ${MOST_PAST})`;

const ORDER: Readonly<Record<MaintenanceState, number>> = { active: 0, coming: 1, past: 2 };

/** The account's windows: active ones, coming ones by their start, then the latest past ones. */
export async function listMaintenance(
  read: Read,
  accountId: number,
  now = new Date(),
): Promise<MaintenanceRow[]> {
  const rows = await read<StoredMaintenance>(select, [accountId, now]);
  return rows
    .map((row) => maintenanceRow(row, now))
    .sort((a, b) => ORDER[a.state] - ORDER[b.state] || byTime(a, b) || a.id - b.id);
}

function byTime(a: MaintenanceRow, b: MaintenanceRow): number {
  const order = (a.starts_at?.getTime() ?? 0) - (b.starts_at?.getTime() ?? 0);
  return a.state === 'past' ? -order : order;
}
