import type { ChangeAccount } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import type { AlertRow } from './alert-row.ts';
import { readAlertWithin } from './read-alert.ts';

const unacknowledge = `
  update alert
     set acknowledged_at = null, acknowledged_until = null, acknowledged_by = null, acknowledged_note = null
   where account_id = $1 and alert_id = $2 and state = 'open' and acknowledged_at is not null`;

/** Takes back an acknowledgement: reminders begin again. Throws `notFound` if the alert has none. */
export function unacknowledgeAlert(
  change: ChangeAccount,
  alertId: number,
  actor: Record<string, unknown> = {},
): Promise<AlertRow> {
  return change(async ({ accountId, client, record }) => {
    const { rowCount } = await client.query(unacknowledge, [accountId, alertId]);
    if (rowCount === 0) throw notFound('open alert', alertId, ': see "alert list".');
    const alert = await readAlertWithin(client, accountId, alertId);
    const { connection_id, rule_id, rule_name } = alert;
    record('alert_unacknowledged', PAGE_LINKS.alert(alertId), {
      alert_id: alertId,
      rule_id,
      rule_name,
      connection_id,
      ...actor,
    });
    return alert;
  });
}
