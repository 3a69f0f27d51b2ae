import type pg from 'pg';
import type { OwnCheck } from '../../checks/own/own-check.ts';
import { ownChecksOfConnection } from '../../connections/own-checks/list-own-checks.ts';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import { isAsked, nextDue } from '../claim.ts';
import type { ConnectionKey } from '../monitor-deps.ts';
import { type PulseEvidence, parseEvidence } from '../pulse/pulse-conditions.ts';

/** A collector of an account. */
export interface CollectorKey {
  accountId: number;
  collectorId: number;
}

/** A run that was handed to a collector. */
export interface CollectedClaim extends ConnectionKey {
  /** A UUID that only this collector gets. */
  run: string;
  /** The name of the connection in the collector's file. */
  name: string;
  /** Seconds from run to run. */
  every: number;
  /** What the pulses saw that asked for the run; null = none asked. */
  evidence: PulseEvidence | null;
}

// A claim of one run, so that its result can be stored once. It lasts as long as that of a monitor, and like there an expired one is due.
const claim = `
  with due as materialized (
    select s.account_id, s.connection_id, m.name, case when ${isAsked} then s.pulse_evidence end as evidence
      from collected_connection m
      join collector o using (account_id, collector_id)
      join connection_schedule s using (account_id, connection_id)
      join connection c using (account_id, connection_id)
     where m.account_id = $1 and m.collector_id = $2
       and o.revoked_at is null
       and (s.due_at <= now() or s.claimed_until <= now())
       and (s.claimed_until is null or s.claimed_until <= now())
       and c.removed_at is null
       and ${mayStartWork('m.account_id')}
     order by s.pulse_evidence is null, s.due_at
     limit $3
       for update of s skip locked
  ), kept as (
    update collected_connection m
       set evidence = due.evidence
      from due
     where m.account_id = due.account_id and m.connection_id = due.connection_id
       and m.evidence is distinct from due.evidence
  )
  update connection_schedule s
     set claimed_by = gen_random_uuid(), claimed_until = now() + interval '150 s', due_at = (select ${nextDue}),
         pulse_evidence = null
    from due
   where s.account_id = due.account_id and s.connection_id = due.connection_id
  returning s.account_id as "accountId", s.connection_id as "connectionId", s.claimed_by as run, due.name, due.evidence,
            extract(epoch from s.every)::float8 as every`;

/** Claims at most `limit` due runs of the connections that a collector measures, those that are due longest first. */
export async function claimCollected(
  writer: pg.Pool,
  { accountId, collectorId }: CollectorKey,
  limit: number,
): Promise<CollectedClaim[]> {
  const { rows } = await writer.query<CollectedClaim & { evidence: unknown }>(claim, [
    accountId,
    collectorId,
    limit,
  ]);
  return rows.map(({ evidence, ...claimed }) => ({ ...claimed, evidence: parseEvidence(evidence) }));
}

const releaseOthers = `
  update connection_schedule s
     set claimed_by = null, claimed_until = null, due_at = least(due_at, now())
    from collected_connection m
   where m.account_id = $1 and m.collector_id = $2
     and s.account_id = m.account_id and s.connection_id = m.connection_id
     and s.claimed_by is not null and s.claimed_by <> all ($3::uuid[])`;

/** Makes the runs due again that a collector does not have any more: it was killed, or an answer never reached it. */
export async function releaseOtherRuns(
  writer: pg.Pool,
  { accountId, collectorId }: CollectorKey,
  running: readonly string[],
): Promise<void> {
  await writer.query(releaseOthers, [accountId, collectorId, running]);
}

const find = `
  select s.account_id as "accountId", s.connection_id as "connectionId", c.engine, c.query_texts as "queryTexts", m.evidence,
         ${ownChecksOfConnection} as own,
         extract(epoch from s.claimed_until - interval '150 s')::float8 as "loadedAt"
    from connection_schedule s
    join collected_connection m using (account_id, connection_id)
    join connection c using (account_id, connection_id)
   where m.account_id = $1 and m.collector_id = $2 and s.claimed_by = $3 and c.removed_at is null`;

/** The connection that a collector runs, and what is known of the run. */
export interface RunningConnection extends ConnectionKey {
  engine: Engine;
  queryTexts: boolean;
  /** What the pulses saw that asked for the run; null = none asked. */
  evidence: PulseEvidence | null;
  /** The checks that members wrote for the connection. */
  own: OwnCheck[];
  /** The store's time at its start: Unix, in seconds. */
  loadedAt: number;
}

/** The connection of a run; null if this collector has no such run, or none any more. */
export async function findRun(
  writer: pg.Pool,
  { accountId, collectorId }: CollectorKey,
  run: string,
): Promise<RunningConnection | null> {
  const values = [accountId, collectorId, run];
  const [row] = (await writer.query<RunningConnection & { evidence: unknown }>(find, values)).rows;
  return row ? { ...row, evidence: parseEvidence(row.evidence) } : null;
}

/** The most runs whose answer may be lost before the collector delivers them again, by then as results of the past. */
const REMEMBERED = 32;

// The account's log is locked, so a collector that is revoked meanwhile is revoked before or after the run is stored.
const end = `
  with ended as (
    update connection_schedule set claimed_by = null, claimed_until = null
     where account_id = $1 and connection_id = $2 and claimed_by = $3
       and exists (select from collected_connection m
                     join collector o using (account_id, collector_id)
                    where m.account_id = $1 and m.connection_id = $2 and o.revoked_at is null)
    returning account_id, connection_id
  )
  update collected_connection m
     set judged_at_ms = case when $4::bigint is null then judged_at_ms
                             else (array[$4::bigint] || judged_at_ms)[1:${REMEMBERED}] end
    from ended
   where m.account_id = ended.account_id and m.connection_id = ended.connection_id`;

/** A run that a collector was handed. */
export interface HandedRun {
  run: string;
  /** When it was measured, by the collector's clock: milliseconds since 1970. Null if an older collector did not say. */
  at: number | null;
}

/** Ends the claim of a run in the transaction that stores it; false if it does not hold any more. */
export async function endClaim(
  client: pg.ClientBase,
  { accountId, connectionId }: ConnectionKey,
  { run, at }: HandedRun,
): Promise<boolean> {
  return (await client.query(end, [accountId, connectionId, run, at])).rowCount === 1;
}
