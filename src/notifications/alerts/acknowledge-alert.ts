import type { ChangeAccount } from '../../activity/record-entry.ts';
import { notFound, Rejection } from '../../platform/rejection.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import type { AlertRow } from './alert-row.ts';
import { readAlertWithin } from './read-alert.ts';

/** How an alert is acknowledged. */
export interface Acknowledgement {
  /** Until when nobody is reminded. Null = until the alert is resolved. */
  until: Date | null;
  note: string;
}

const acknowledge = `
  update alert
     set acknowledged_at = $3, acknowledged_until = $4, acknowledged_by = $5, acknowledged_note = $6
   where account_id = $1 and alert_id = $2 and state = 'open'`;

/**
 * Acknowledges an open alert: nobody is reminded of it until the time is over, or it is resolved. Throws `notFound`
 * and, for a time in the past, a `Rejection`.
 */
export function acknowledgeAlert(
  change: ChangeAccount,
  alertId: number,
  { until, note }: Acknowledgement,
  actor: Record<string, unknown> = {},
): Promise<AlertRow> {
  return change(async ({ accountId, client, at, author, record }) => {
    if (until !== null && until <= new Date(at)) {
      throw new Rejection('invalid_parameter', 'The end of the acknowledgement must be in the future.', {
        parameter: 'until',
      });
    }
    const { rowCount } = await client.query(acknowledge, [accountId, alertId, at, until, author, note]);
    if (rowCount === 0) throw notFound('open alert', alertId, ': see "alert list".');
    const alert = await readAlertWithin(client, accountId, alertId);
    const { connection_id, rule_id, rule_name } = alert;
    record('alert_acknowledged', PAGE_LINKS.alert(alertId), {
      alert_id: alertId,
      rule_id,
      rule_name,
      connection_id,
      until,
      note,
      ...actor,
    });
    return alert;
  });
}
