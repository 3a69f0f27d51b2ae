import type pg from 'pg';
import { notFound } from '../../platform/rejection.ts';
import { type Read, within } from '../../store/read.ts';
import { type AlertRow, alertColumns } from './alert-row.ts';

const selectAlert = `
  select ${alertColumns}
    from alert a
    join alert_rule r using (account_id, rule_id)
    join connection c using (account_id, connection_id)
   where a.account_id = $1 and a.alert_id = $2 and a.state <> 'pending'`;

const ownerOf = `select account_id from alert where alert_id = $1 and state <> 'pending'`;

/** An open or resolved alert. Throws `notFound`. */
export async function readAlert(read: Read, accountId: number, alertId: number): Promise<AlertRow> {
  const [alert] = await read<AlertRow>(selectAlert, [accountId, alertId]);
  if (!alert) throw notFound('open alert', alertId, ': see "alert list".');
  return alert;
}

/** {@link readAlert} in the caller's transaction. */
export function readAlertWithin(
  client: pg.ClientBase,
  accountId: number,
  alertId: number,
): Promise<AlertRow> {
  return readAlert(within(client), accountId, alertId);
}

/** The alert's account. Throws `notFound`. */
export async function accountOfAlert(writer: pg.Pool, alertId: number): Promise<number> {
  const { rows } = await writer.query<{ account_id: number }>(ownerOf, [alertId]);
  const [row] = rows;
  if (!row) throw notFound('open alert', alertId, ': see "alert list".');
  return row.account_id;
}
