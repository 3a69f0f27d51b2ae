import type pg from 'pg';
import type { Change, ChangeAccount } from '../../activity/record-entry.ts';
import { endSilencedAlerts } from '../../notifications/alerts/resolve-alerts-of.ts';
import { queueMemberChanges } from '../../notifications/outbox/ticket-events.ts';
import { notFound, Rejection } from '../../platform/rejection.ts';
import { storeChanges } from '../../runs/changes/store-changes.ts';
import { one } from '../../store/one.ts';
import { resolveSilencedTickets } from '../record-findings.ts';
import { recordSilences } from './record-silences.ts';
import { silenceChange } from './silence-change.ts';
import { type SilenceRow, silenceColumns } from './silence-row.ts';

/** The check or object to silence, and the reason. */
export type WantedSilence = Pick<SilenceRow, 'check_id' | 'object' | 'reason' | 'note' | 'until'>;

const insert = `
  insert into silence (account_id, connection_id, created_at, check_id, object, reason, note, ends_at, created_by)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  returning ${silenceColumns}`;

/**
 * Silences a check of a connection, or one of its objects, and resolves the open tickets and alerts that the silence covers. The log
 * entry names `actor`. Throws `notFound`, and a {@link Rejection} if the connection has too many.
 */
export async function addSilence(
  change: ChangeAccount,
  connectionId: number,
  wanted: WantedSilence,
  actor: Record<string, unknown> = {},
): Promise<SilenceRow> {
  return change(async (within) => {
    const { accountId, client, at, author } = within;
    await requireWatched(client, accountId, connectionId);
    const { check_id, object, reason, note, until } = wanted;
    const values = [accountId, connectionId, at, check_id, object, reason, note, until, author];
    const { rows } = await client.query<SilenceRow>(insert, values);
    const silence = one(rows, 'store a silence');
    const scope = { accountId, connectionId, at };
    await requireFew(client, scope);
    await storeChanges(client, scope, [silenceChange('came', silence, author)]);
    await recordSilences(within, 'silence_added', [silence], actor);
    await resolveCovered(within, connectionId, [silence]);
    return silence;
  });
}

/** The most active silences of a connection: each of its runs reads them all. */
const MOST_SILENCES = 1_000;

const countActive = `
  select count(*)::integer as active
    from silence
   where account_id = $1 and connection_id = $2 and (ends_at is null or ends_at > $3)`;

/** Throws a {@link Rejection} if a connection has too many active silences, the new ones included. */
export async function requireFew(
  client: pg.ClientBase,
  { accountId, connectionId, at }: { accountId: number; connectionId: number; at: string },
): Promise<void> {
  const { rows } = await client.query<{ active: number }>(countActive, [accountId, connectionId, at]);
  if (one(rows, 'count the active silences').active > MOST_SILENCES)
    throw new Rejection(
      'conflict',
      `A connection has at most ${MOST_SILENCES} active silences. End some, or silence a whole check.`,
    );
}

/** Resolves the open tickets and alerts of a connection that its new silences cover. */
export async function resolveCovered(
  within: Change,
  connectionId: number,
  silences: readonly SilenceRow[],
): Promise<void> {
  const { accountId, client, at, record } = within;
  const scope = { accountId, connectionId, at };
  const tickets = await resolveSilencedTickets(client, scope);
  for (const entry of tickets) record(entry.actionType, entry.pagePath, entry.properties);
  await queueMemberChanges(client, scope, tickets);
  for (const silence of silences) await endSilencedAlerts(within, connectionId, silence);
}

const lockConnection = `
  select from connection
   where account_id = $1 and connection_id = $2 and removed_at is null
     for update`;

async function requireWatched(client: pg.ClientBase, accountId: number, connectionId: number): Promise<void> {
  const { rowCount } = await client.query(lockConnection, [accountId, connectionId]);
  if (rowCount === 0) throw notFound('connection', connectionId);
}
