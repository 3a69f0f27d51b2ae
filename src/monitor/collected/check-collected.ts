import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Finding } from '../../checks/check.ts';
import { Rejection } from '../../platform/rejection.ts';
import { isHeard } from '../../store/sql/collector-contact.sql.ts';
import type { ConnectionKey } from '../monitor-deps.ts';
import type { Cost } from '../nothing-measured.ts';
import type { StoredCheck } from '../store-run.ts';

// A run that the collector has at this moment may have to end first, and each takes 150 s at most.
const PATIENCE_MS = 300_000;
const POLL_MS = 500;

const find = `
  select o.name, c.latest_check_id as latest, ${isHeard('o')} and o.revoked_at is null as "isConnected"
    from collected_connection m
    join collector o using (account_id, collector_id)
    join connection c using (account_id, connection_id)
   where m.account_id = $1 and m.connection_id = $2 and c.removed_at is null`;

const makeDue = `
  update connection_schedule set due_at = least(due_at, now()) where account_id = $1 and connection_id = $2`;

const selectCheck = `
  select h.health_check_id as id, h.score, h.summary_text, h.created_at, h.findings, h.cost
    from connection c
    join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
   where c.account_id = $1 and c.connection_id = $2 and c.removed_at is null
     and c.latest_check_id is distinct from $3`;

interface CheckRow extends Pick<StoredCheck, 'id' | 'score' | 'summary_text'> {
  created_at: Date;
  findings: Finding[];
  cost: Cost;
}

/**
 * Lets the collector of a connection run its health check now, and waits until it is stored. Undefined if no collector measures the
 * connection. Throws a {@link Rejection} if the collector is not connected.
 */
export async function checkCollected(
  writer: pg.Pool,
  { accountId, connectionId }: ConnectionKey,
  signal?: AbortSignal,
): Promise<StoredCheck | undefined> {
  const key = [accountId, connectionId];
  const { rows } = await writer.query<{ name: string; latest: number | null; isConnected: boolean | null }>(
    find,
    key,
  );
  const [collector] = rows;
  if (!collector) return undefined;
  const { name, latest, isConnected } = collector;
  if (!isConnected)
    throw new Rejection(
      'conflict',
      `Collector ${name}, which measures this connection, is not connected: see whether "dbvitals collect" runs there.`,
    );
  await writer.query(makeDue, key);
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    await wait(POLL_MS, undefined, { ...(signal && { signal }) });
    const [check] = (await writer.query<CheckRow>(selectCheck, [...key, latest])).rows;
    if (check) return toStoredCheck(check);
  }
  throw new Rejection('conflict', `Collector ${name} has not delivered a health check: see its log.`);
}

function toStoredCheck({ created_at, findings, ...check }: CheckRow): StoredCheck {
  return {
    ...check,
    created_at: created_at.toISOString(),
    checks: findings.map(
      ({ database: _d, object: _o, missing_grant: _g, measured: _m, ...listed }) => listed,
    ),
  };
}
