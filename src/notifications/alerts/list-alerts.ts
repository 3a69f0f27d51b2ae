import type { Read } from '../../database/read.ts';
import { severityRank } from '../../vocabulary/severities.ts';
import { type AlertRow, alertColumns } from './alert-row.ts';

const selectOpen = `
  select ${alertColumns}
    from alert a
    join alert_rule r using (account_id, rule_id)
    join connection c using (account_id, connection_id)
   where a.account_id = $1 and a.state = 'open' and ($2::bigint is null or a.connection_id = $2)
   order by ${severityRank('a.severity')}, a.triggered_at desc, a.alert_id desc
   limit 1000`;

const selectResolved = `
  select ${alertColumns}
    from alert a
    join alert_rule r using (account_id, rule_id)
    join connection c using (account_id, connection_id)
   where a.account_id = $1 and a.state = 'resolved' and ($2::bigint is null or a.connection_id = $2)
     and ($3::bigint is null
          or (a.resolved_at, a.alert_id) < (select resolved_at, alert_id from alert where account_id = $1 and alert_id = $3))
   order by a.resolved_at desc, a.alert_id desc
   limit $4`;

/** The open alerts of an account or of one connection, the gravest first and within that the newest; at most 1,000. */
export function listOpenAlerts(
  read: Read,
  accountId: number,
  connectionId: number | null = null,
): Promise<AlertRow[]> {
  return read<AlertRow>(selectOpen, [accountId, connectionId]);
}

/**
 * A page of resolved alerts, the newest first: those after the alert `before`, which was the last of the previous page.
 * `next` is the `before` of the next page; null on the last one.
 */
export async function listResolvedAlerts(
  read: Read,
  accountId: number,
  {
    before,
    limit,
    connectionId = null,
  }: { before: number | null; limit: number; connectionId?: number | null },
): Promise<{ items: AlertRow[]; next: number | null }> {
  const rows = await read<AlertRow>(selectResolved, [accountId, connectionId, before, limit + 1]);
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}
