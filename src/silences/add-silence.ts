import type pg from 'pg';
import type { ChangeAccount } from '../activity/record-entry.ts';
import { NoConnection } from '../connections/connection-rejected.ts';
import { recordSilence, recordSilenceEnd, type SilenceRow } from './apply-silences.ts';

/** Why somebody decided to live with a finding. */
export const REASONS = [
  'accepted_risk',
  'false_positive',
  'wont_fix',
  'maintenance',
] as const satisfies SilenceRow['reason'][];

export type WantedSilence = Pick<SilenceRow, 'check_id' | 'object' | 'reason' | 'note' | 'until'>;

/** The silence does not exist, or is in force no more. */
export class NoSilence extends Error {
  constructor(id: number) {
    super(`There is no silence ${id} in force: see "silence list".`);
  }
}

/**
 * Silences a check of a connection, or one object of it; open tickets that it covers are resolved. `actor` is told in the
 * log beside the silence. Throws {@link NoConnection}.
 */
export async function addSilence(
  change: ChangeAccount,
  connectionId: number,
  wanted: WantedSilence,
  actor: Record<string, unknown> = {},
): Promise<SilenceRow> {
  return change(async ({ accountId, client, at, record }) => {
    await requireWatched(client, accountId, connectionId);
    const { silence, entries } = await recordSilence(client, { accountId, connectionId, at }, wanted);
    record('silence_added', pageOf(silence), { ...propertiesOf(silence), ...actor });
    for (const entry of entries) record(entry.actionType, entry.pagePath, entry.properties);
    return silence;
  });
}

const lockConnection = `
  select from connection
   where account_id = $1 and connection_id = $2 and removed_at is null
     for update`;

async function requireWatched(client: pg.ClientBase, accountId: number, connectionId: number): Promise<void> {
  const { rowCount } = await client.query(lockConnection, [accountId, connectionId]);
  if (rowCount === 0) throw new NoConnection(connectionId);
}

/** Ends a silence: what it covered is found again at the next run. Throws {@link NoSilence}. */
export async function endSilence(
  change: ChangeAccount,
  silenceId: number,
  actor: Record<string, unknown> = {},
): Promise<SilenceRow> {
  return change(async ({ accountId, client, at, record }) => {
    const silence = await recordSilenceEnd(client, { accountId, silenceId, at });
    if (!silence) throw new NoSilence(silenceId);
    record('silence_ended', pageOf(silence), { ...propertiesOf(silence), ...actor });
    return silence;
  });
}

/** The silences in force of the account $1, or of its connection $2 unless that is null: {@link SilenceRow}s by id. */
export const silencesInForce = `
  select s.silence_id as id, s.connection_id, s.check_id, s.object, s.reason, s.note, s.created_at,
         s.ends_at as until
    from silence s
    join connection c using (account_id, connection_id)
   where s.account_id = $1
     and ($2::bigint is null or s.connection_id = $2)
     and (s.ends_at is null or s.ends_at > clock_timestamp())
     and c.removed_at is null
   order by s.silence_id`;

function pageOf({ connection_id }: SilenceRow): string {
  return `/connections/${connection_id}`;
}

function propertiesOf({ id, connection_id, check_id, object, reason, note, until }: SilenceRow) {
  return { silence_id: id, connection_id, check_id, object, reason, note, until };
}
