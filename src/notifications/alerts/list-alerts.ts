import type { Read } from '../../store/read.ts';
import { countAndTexts, readTexts, type TextRow } from '../../store/sql/records.sql.ts';
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

const chosen = `
    from alert a
   where a.account_id = $1 and a.state <> 'pending'
     and ($2::text is null or a.state = $2)
     and ($3::text is null or a.severity = $3)
     and ($4::bigint is null or a.connection_id = $4)
     and a.triggered_at >= $5`;

// One bound of `triggered_at` above, as in a page of changes.
const isBefore = `(a.triggered_at, a.alert_id) < (least($6, $7::timestamptz), case when $6 <= $7 then 0 else $8::bigint end)`;

const pageOfChosen = `
  select a.alert_id, a.alert_id, a.state, a.severity, r.name, a.connection_id, c.name, c.host, c.port, c.connection_type, a.metric, a.operator,
         a.threshold, a.value, nullif(a.details ->> 'check_id', ''), nullif(a.details ->> 'database', ''), a.details ->> 'object',
         a.details ->> 'metric_line', a.triggered_at, a.acknowledged_at, a.resolved_at, a.resolution
    from (select a.* ${chosen}
             and ${isBefore}
           order by a.triggered_at desc, a.alert_id desc
           limit $9 offset $10) a
    join alert_rule r on r.account_id = $1 and r.rule_id = a.rule_id
    join connection c on c.account_id = $1 and c.connection_id = a.connection_id
   order by a.triggered_at desc, a.alert_id desc`;

const chosenPage = countAndTexts(
  `select count(*) from (select ${chosen} and a.triggered_at < $6 limit $11) counted`,
  pageOfChosen,
);

/**
 * How many open and resolved alerts a choice has, to `most` at most, and a page of them, the last triggered first: those after
 * `before`, without the first `offset` of them. The texts of an alert: id (twice), state, severity and rule; connection, its name, host, port
 * and type; metric, operator, threshold and value; check, database, object and the value in words; when it was triggered,
 * acknowledged and resolved, and why.
 */
export function listChosenAlerts(
  read: Read,
  accountId: number,
  { status, severity, connectionId, from, to }: AlertChoice,
  {
    before,
    limit,
    offset,
    most,
  }: { before: readonly string[] | null; limit: number; offset: number; most: number },
): Promise<[number, TextRow[]]> {
  const [at, id] = before ?? ['infinity', '0'];
  const choice = [status, severity, connectionId, from, to];
  return readTexts(read, chosenPage, [accountId, ...choice, at, id, limit, offset, most]);
}
