import type { ChangeAccount } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import {
  type MaintenanceRow,
  maintenanceColumns,
  maintenancePage,
  maintenanceRow,
  propertiesOf,
  type StoredMaintenance,
} from './maintenance-row.ts';

const end = `
  update maintenance
     set removed_at = $3,
         ends_at = case when starts_at < $3 then $3 else ends_at end
   where account_id = $1 and maintenance_id = $2 and removed_at is null and (ends_at is null or ends_at > $3)
  returning ${maintenanceColumns}`;

/**
 * Ends a window that is active, or removes a coming or recurring one: it stays listed as past. Alerts that it held back
 * are sent within a minute. Throws `notFound`.
 */
export function endMaintenance(
  change: ChangeAccount,
  maintenanceId: number,
  actor: Record<string, unknown> = {},
): Promise<MaintenanceRow> {
  return change(async ({ accountId, client, at, record }) => {
    const { rows } = await client.query<StoredMaintenance>(end, [accountId, maintenanceId, at]);
    const [row] = rows;
    if (!row)
      throw notFound('active or coming maintenance window', maintenanceId, ': see "maintenance list".');
    const ended = maintenanceRow(row, new Date(at));
    record('maintenance_ended', maintenancePage, { ...propertiesOf(ended), ...actor });
    return ended;
  });
}
