import { isDeepStrictEqual } from 'node:util';
import type { Change, ChangeAccount } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import { storeChangesOfMany } from '../../runs/changes/store-changes.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { requireSettingsOf } from '../connection-settings.ts';
import {
  type ConnectionThresholds,
  changedThresholds,
  type ThresholdChanges,
} from '../connection-thresholds.ts';
import { thresholdChangesBetween } from '../threshold-changes.ts';
import { requireThresholdChanges } from './change-overrides.ts';
import { requireOrderAtEnd } from './require-order.ts';

/** The most connections of one change: it holds the account's log. */
export const MOST_CONNECTIONS = 1_000;

const select = `
  select connection_id as id, name, host, port, engine, thresholds, expected_standbys
    from connection
   where account_id = $1 and connection_id = any($2::bigint[]) and removed_at is null
   order by connection_id
     for update`;

const update = `
  update connection c
     set thresholds = t.thresholds
    from unnest($2::bigint[], $3::jsonb[]) as t (id, thresholds)
   where c.account_id = $1 and c.connection_id = t.id`;

interface Row {
  id: number;
  name: string;
  host: string;
  port: number;
  engine: Engine;
  thresholds: ConnectionThresholds;
  expected_standbys: number;
}

/**
 * Sets thresholds of several connections themselves, which precede those of their tags and account; null takes one back.
 * Each has its own entry in the log. Returns how many connections changed. Throws a `notFound`, and a
 * `ConnectionRejected` for a check of another engine.
 */
export function changeOwnThresholds(
  change: ChangeAccount,
  connectionIds: readonly number[],
  changes: ThresholdChanges,
): Promise<number> {
  return change((inside) => changeWithin(inside, connectionIds, changes));
}

async function changeWithin(
  change: Change,
  connectionIds: readonly number[],
  changes: ThresholdChanges,
): Promise<number> {
  requireThresholdChanges(changes);
  const { accountId, client, at, author, record } = change;
  const { rows } = await client.query<Row>(select, [accountId, connectionIds]);
  const missing = connectionIds.find((wanted) => !rows.some(({ id }) => id === wanted));
  if (missing !== undefined) throw notFound('connection', missing);
  const steps = rows.flatMap((before) => {
    requireSettingsOf(before.engine, { thresholds: changes });
    const after = { ...before, thresholds: changedThresholds(before.thresholds, changes) };
    return isDeepStrictEqual(before.thresholds, after.thresholds) ? [] : [{ before, after }];
  });
  if (steps.length === 0) return 0;
  requireOrderAtEnd(change, {
    connectionIds: steps.map(({ after }) => after.id),
    tag: '',
    checks: { ids: Object.keys(changes) },
  });
  const thresholds = steps.map(({ after }) => JSON.stringify(after.thresholds));
  await client.query(update, [accountId, steps.map(({ after }) => after.id), thresholds]);
  await storeChangesOfMany(
    client,
    { accountId, at },
    steps.flatMap(({ before, after }) =>
      thresholdChangesBetween(before, after, author).map((each) => ({ ...each, connectionId: after.id })),
    ),
  );
  for (const { before, after } of steps)
    record('connection_changed', PAGE_LINKS.connection(after.id), {
      connection_id: after.id,
      name: after.name,
      host: after.host,
      port: after.port,
      changed: ['thresholds'],
      from: { thresholds: before.thresholds },
      to: { thresholds: after.thresholds },
    });
  return steps.length;
}
