import type pg from 'pg';
import type { Finding } from '../checks/check.ts';
import { one } from '../store/one.ts';

const previousRun = `
  select coalesce(h.findings, '[]') as findings, coalesce(h.in_maintenance, false) as in_maintenance
    from connection c
    left join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
   where c.account_id = $1 and c.connection_id = $2 and c.removed_at is null
     for update of c`;

/** What a run compares itself with. */
export interface PreviousRun {
  /** Empty if there was no run. */
  findings: Finding[];
  in_maintenance: boolean;
}

/** The previous run of a connection; null if the connection was removed. Locks the connection. */
export async function readPreviousRun(
  client: pg.ClientBase,
  { accountId, connectionId }: { accountId: number; connectionId: number },
): Promise<PreviousRun | null> {
  const { rows } = await client.query<PreviousRun>(previousRun, [accountId, connectionId]);
  return rows[0] ?? null;
}

const recordedCheck = `
  with recorded as (
    insert into health_check (account_id, connection_id, created_at, score, summary_text, findings, cost, in_maintenance, reason)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    returning health_check_id, created_at
  ), latest as (
    update connection set latest_check_id = (select health_check_id from recorded)
     where account_id = $1 and connection_id = $2
  )
  select health_check_id as id, created_at from recorded`;

/** A run as it is stored. */
interface RecordedCheck {
  accountId: number;
  connectionId: number;
  at: string;
  score: number;
  summaryText: string;
  findings: Finding[];
  /** The cost on the monitored server. */
  cost: { milliseconds: number; statements: number; bytes: number };
  /** Default: false. */
  inMaintenance?: boolean;
  /** Why it ran besides its schedule; null, the default = it did not, or a person asked. */
  reason?: 'pulse' | null;
}

/** Stores a run (its findings worst first) as the connection's latest and returns its id and time. */
export async function recordCheck(
  client: pg.ClientBase,
  check: RecordedCheck,
): Promise<{ id: number; created_at: Date }> {
  const { rows } = await client.query<{ id: number; created_at: Date }>(recordedCheck, [
    check.accountId,
    check.connectionId,
    check.at,
    check.score,
    check.summaryText,
    JSON.stringify(check.findings),
    check.cost,
    check.inMaintenance ?? false,
    check.reason ?? null,
  ]);
  return one(rows, 'store a health check');
}

const pastCheck = `
  insert into health_check (account_id, connection_id, created_at, score, summary_text, findings, cost, in_maintenance)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`;

/** Stores a run of the past (its findings worst first) as history. The connection's latest run stays what it is. */
export async function recordPastCheck(
  client: pg.ClientBase,
  check: Omit<RecordedCheck, 'reason'>,
): Promise<void> {
  await client.query(pastCheck, [
    check.accountId,
    check.connectionId,
    check.at,
    check.score,
    check.summaryText,
    JSON.stringify(check.findings),
    check.cost,
    check.inMaintenance ?? false,
  ]);
}
