import type { ChangeAccount } from '../../activity/record-entry.ts';
import { queueMemberChanges } from '../../notifications/outbox/ticket-events.ts';
import { notFound } from '../../platform/rejection.ts';
import { storeChangesOfMany } from '../../runs/changes/store-changes.ts';
import { reopenSilencedTickets } from '../record-findings.ts';
import { requireFew, resolveCovered } from './add-silence.ts';
import { endSilence } from './end-silence.ts';
import { recordSilences } from './record-silences.ts';
import { silenceChange } from './silence-change.ts';
import { type SilenceRow, silenceColumns } from './silence-row.ts';

/** How long a silence can be undone. Later, much else may have changed. */
const UNDOABLE = `interval '1 h'`;

const isWatched = `
  exists (select from connection c
           where c.account_id = s.account_id and c.connection_id = s.connection_id and c.removed_at is null)`;

const resume = `
  update silence s
     set ends_at = until_before, ended_at = null, until_before = null
   where s.account_id = $1 and s.silence_id = any($2::bigint[])
     and s.ends_at = s.ended_at and s.ended_at > $3::timestamptz - ${UNDOABLE}
     and (s.until_before is null or s.until_before > $3)
     and ${isWatched}
  returning ${silenceColumns}`;

/**
 * Undoes the end of silences within an hour: they last as long as before, with their author, and resolve what was found
 * meanwhile. Returns them; leaves out those that can't be undone any more. Throws a `Rejection` if a connection would have too many.
 */
export function resumeSilences(change: ChangeAccount, silenceIds: readonly number[]): Promise<SilenceRow[]> {
  return change(async (within) => {
    const { accountId, client, at, author } = within;
    const { rows } = await client.query<SilenceRow>(resume, [accountId, silenceIds, at]);
    const changes = rows.map((silence) => ({
      ...silenceChange('came', silence, author),
      connectionId: silence.connection_id,
    }));
    await storeChangesOfMany(client, { accountId, at }, changes);
    await recordSilences(within, 'silence_added', rows, { undone: true });
    for (const connectionId of new Set(rows.map(({ connection_id }) => connection_id))) {
      await requireFew(client, { accountId, connectionId, at });
      const ofConnection = rows.filter(({ connection_id }) => connection_id === connectionId);
      await resolveCovered(within, connectionId, ofConnection);
    }
    return rows;
  });
}

// Of a removed connection it would open tickets that no run resolves again.
const selectNew = `
  select ${silenceColumns}
    from silence s
   where account_id = $1 and silence_id = $2 and created_at > $3::timestamptz - ${UNDOABLE}
     and ${isWatched}`;

/**
 * Undoes a silence within an hour: ends it, and opens the tickets again that it resolved when it was added, with their
 * triage. Alerts that it ended come back with the next run, if they still hold. Throws `notFound`.
 */
export function withdrawSilence(change: ChangeAccount, silenceId: number): Promise<SilenceRow> {
  return change(async (within) => {
    const { accountId, client, at, record } = within;
    const { rows } = await client.query<SilenceRow>(selectNew, [accountId, silenceId, at]);
    const [silence] = rows;
    if (!silence) throw notFound('active silence', silenceId, ': see "silence list".');
    const ended = await endSilence((work) => work(within), silenceId, { undone: true });
    const scope = { accountId, connectionId: silence.connection_id, at };
    const tickets = await reopenSilencedTickets(client, scope, silenceId);
    for (const entry of tickets)
      record(entry.actionType, entry.pagePath, { ...entry.properties, undone: true });
    await queueMemberChanges(client, scope, tickets);
    return ended;
  });
}
