import type { ChangeAccount } from '../../activity/record-entry.ts';
import { alertPage } from './alert-events.ts';
import { type AlertRow, NoAlert } from './alert-row.ts';
import { readAlertWithin } from './read-alert.ts';

const unacknowledge = `
  update alert
     set acknowledged_at = null, acknowledged_until = null, acknowledged_by = null, acknowledged_note = null
   where account_id = $1 and alert_id = $2 and state = 'open' and acknowledged_at is not null`;

/** Takes back an acknowledgement: reminders begin again. Throws {@link NoAlert} if the alert has none. */
export function unacknowledgeAlert(
  change: ChangeAccount,
  alertId: number,
  actor: Record<string, unknown> = {},
): Promise<AlertRow> {
  return change(async ({ accountId, client, record }) => {
    const { rowCount } = await client.query(unacknowledge, [accountId, alertId]);
    if (rowCount === 0) throw new NoAlert(alertId);
    const alert = await readAlertWithin(client, accountId, alertId);
    const { connection_id, rule_id, rule_name } = alert;
    record('alert_unacknowledged', alertPage(alertId), {
      ...{ alert_id: alertId, rule_id, rule_name, connection_id },
      ...actor,
    });
    return alert;
  });
}
