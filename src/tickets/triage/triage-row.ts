import type pg from 'pg';
import type { Change } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import { isAcknowledged } from '../../store/sql/triage.sql.ts';

/** What members decide about a ticket. Instants are RFC 3339 or as PostgreSQL writes them. */
export interface Triage {
  assignee_id: number | null;
  assigned_by: string | null;
  acknowledged_at: string | null;
  /** null = until the ticket is resolved or gets worse. */
  acknowledged_until: string | null;
  acknowledged_by: string | null;
  acknowledged_severity: string | null;
}

/** A ticket with its triage, as a change reads it. */
export interface TriagedTicket {
  ticket_id: number;
  connection_id: number;
  check_id: string;
  title: string;
  severity: string;
  status: 'open' | 'resolved';
  /** 0 = there is no triage yet. */
  version: number;
  changed_by: string | null;
  /** Whether the acknowledgement still holds. */
  is_acknowledged: boolean;
  triage: Triage;
  /** Before the last change; null = it can't be undone. */
  before: Triage | null;
}

/** A ticket as the member saw it. */
export interface SeenTicket {
  id: number;
  version: number;
}

/** A ticket that was not changed: it is resolved, or somebody changed it after the member saw it. */
export interface SkippedTicket {
  id: number;
  reason: 'resolved' | 'changed';
  /** Who changed it. */
  by: string | null;
}

/** The tickets that were changed, with their new versions, and those that were not. */
export interface TriageResult {
  changed: SeenTicket[];
  skipped: SkippedTicket[];
}

const UNTOUCHED: Triage = {
  assignee_id: null,
  assigned_by: null,
  acknowledged_at: null,
  acknowledged_until: null,
  acknowledged_by: null,
  acknowledged_severity: null,
};

// A removed member is assigned to nothing.
const select = `
  select t.ticket_id, t.connection_id, t.check_id, t.title, t.severity, t.status, coalesce(g.version, 0) as version,
         g.changed_by, ${isAcknowledged('$3::timestamptz')} as is_acknowledged, g.before,
         case when g.version is not null
           then json_build_object('assignee_id', m.member_id, 'assigned_by', g.assigned_by, 'acknowledged_at', g.acknowledged_at,
                                  'acknowledged_until', g.acknowledged_until, 'acknowledged_by', g.acknowledged_by,
                                  'acknowledged_severity', g.acknowledged_severity) end as triage
    from ticket t
    left join ticket_triage g on g.account_id = $1 and g.ticket_id = t.ticket_id
    left join member m on m.account_id = $1 and m.member_id = g.assignee_id
   where t.account_id = $1 and t.ticket_id = any($2::bigint[])
   order by t.ticket_id`;

/** Reads the tickets that a change names. Throws `notFound` if the account has not all of them. */
export async function readTriage(
  { accountId, client, at }: Change,
  seen: readonly SeenTicket[],
): Promise<TriagedTicket[]> {
  const ids = new Set(seen.map(({ id }) => id));
  const { rows } = await client.query<Omit<TriagedTicket, 'triage'> & { triage: Triage | null }>(select, [
    accountId,
    [...ids],
    at,
  ]);
  if (rows.length < ids.size) throw notFound();
  return rows.map((row) => ({ ...row, triage: row.triage ?? UNTOUCHED }));
}

const upsert = `
  insert into ticket_triage as g (account_id, ticket_id, changed_at, changed_by, assignee_id, assigned_by, acknowledged_at,
                                  acknowledged_until, acknowledged_by, acknowledged_severity, before)
  select $1, n.ticket_id, $2, $3, n.assignee_id, n.assigned_by, n.acknowledged_at, n.acknowledged_until, n.acknowledged_by,
         n.acknowledged_severity, n.before
    from jsonb_to_recordset($4::jsonb)
      as n (ticket_id bigint, assignee_id bigint, assigned_by text, acknowledged_at timestamptz, acknowledged_until timestamptz,
            acknowledged_by text, acknowledged_severity text, before jsonb)
  on conflict (account_id, ticket_id) do update
     set version = g.version + 1, changed_at = excluded.changed_at, changed_by = excluded.changed_by,
         assignee_id = excluded.assignee_id, assigned_by = excluded.assigned_by,
         acknowledged_at = excluded.acknowledged_at, acknowledged_until = excluded.acknowledged_until,
         acknowledged_by = excluded.acknowledged_by, acknowledged_severity = excluded.acknowledged_severity,
         before = excluded.before
  returning g.ticket_id as id, g.version`;

/** Writes the triage of several tickets in one statement. */
export async function writeTriage(
  client: pg.ClientBase,
  { accountId, at, author }: Pick<Change, 'accountId' | 'at' | 'author'>,
  next: readonly (Triage & { ticket_id: number; before: Triage | null })[],
): Promise<SeenTicket[]> {
  if (next.length === 0) return [];
  const { rows } = await client.query<SeenTicket>(upsert, [accountId, at, author, JSON.stringify(next)]);
  return rows;
}

/** The details of a ticket in a log entry. */
export function propertiesOf({ ticket_id, connection_id, check_id, severity, title }: TriagedTicket) {
  return { ticket_id, connection_id, check_id, severity, title };
}

/**
 * Records a new acknowledgement, or one that is withdrawn. With `until` it is a snooze: the entries of both have one kind,
 * which collectors already filter by.
 */
export function recordAcknowledgement(
  { record }: Pick<Change, 'record'>,
  page: string,
  properties: ReturnType<typeof propertiesOf>,
  { before, after }: Record<'before' | 'after', Triage>,
): void {
  const isWithdrawn = after.acknowledged_at === null;
  const until = (isWithdrawn ? before : after).acknowledged_until;
  record(isWithdrawn ? 'ticket_unacknowledged' : 'ticket_acknowledged', page, {
    ...properties,
    until: until === null ? null : new Date(until).toISOString(),
  });
}
