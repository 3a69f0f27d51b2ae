import type { Read } from '../../store/read.ts';
import { severityRank } from '../../store/sql/severity-rank.sql.ts';
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

/** Which alerts to list: open or resolved ones, by when they were triggered. Null = any. */
export interface AlertChoice {
  status: string | null;
  severity: string | null;
  connectionId: number | null;
  /** Including it; in PostgreSQL's format. */
  from: string;
  /** Excluding it. */
  to: string;
}

/** An alert with its connection's address, and when it was triggered to the microsecond. */
export interface AddressedAlert extends AlertRow {
  host: string;
  port: number;
  connection_type: string;
  place: string;
}

// The row comparison alone does not tell an index where to begin if there is another bound of the same column.
const chosen = (end: string) => `
    from alert a
   where a.account_id = $1 and a.state <> 'pending'
     and ($2::text is null or a.state = $2)
     and ($3::text is null or a.severity = $3)
     and ($4::bigint is null or a.connection_id = $4)
     and a.triggered_at >= $5 and a.triggered_at < ${end}`;

const selectChosen = `
  select ${alertColumns}, c.host, c.port, c.connection_type,
         to_char(a.triggered_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place
    from (select a.* ${chosen(`least($6::timestamptz, $7::timestamptz + interval '1 microsecond')`)}
             and (a.triggered_at, a.alert_id) < ($7::timestamptz, $8::bigint)
           order by a.triggered_at desc, a.alert_id desc
           limit $9 offset $10) a
    join alert_rule r on r.account_id = $1 and r.rule_id = a.rule_id
    join connection c on c.account_id = $1 and c.connection_id = a.connection_id
   order by a.triggered_at desc, a.alert_id desc`;

const countChosen = `select count(*) as total from (select ${chosen('$6')} limit $7) counted`;

const choiceValues = (accountId: number, { status, severity, connectionId, from, to }: AlertChoice) => [
  accountId,
  status,
  severity,
  connectionId,
  from,
  to,
];

/** Open and resolved alerts, the last triggered first: those after `before`, without the first `offset` of them. */
export function listChosenAlerts(
  read: Read,
  accountId: number,
  choice: AlertChoice,
  { before, limit, offset }: { before: readonly string[] | null; limit: number; offset: number },
): Promise<AddressedAlert[]> {
  const [at, id] = before ?? ['infinity', '0'];
  return read(selectChosen, [...choiceValues(accountId, choice), at, id, limit, offset]);
}

/** How many alerts a choice has, to `most` at most. */
export async function countChosenAlerts(
  read: Read,
  accountId: number,
  choice: AlertChoice,
  most: number,
): Promise<number> {
  const values = [...choiceValues(accountId, choice), most];
  const [row] = await read<{ total: number }>(countChosen, values);
  return row?.total ?? 0;
}
