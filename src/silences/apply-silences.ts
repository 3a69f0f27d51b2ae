import type pg from 'pg';
import type { Outcome } from '../checks/check.ts';
import { one } from '../database/one.ts';
import { resolveSilencedTicketsOf, type TicketEntry } from '../ops/record-findings.ts';
import { type SilenceInForce, type SilenceReason, silenceOutcomes } from './silence-outcomes.ts';

/** A silence as the commands show it. */
export interface SilenceRow {
  id: number;
  connection_id: number;
  check_id: string;
  object: string | null;
  reason: SilenceReason;
  note: string;
  created_at: Date;
  /** null = until somebody ends it. */
  until: Date | null;
}

/** Whose silence, and when (`Change.at`). */
interface Scope {
  accountId: number;
  connectionId: number;
  at: string;
}

const columns = `
  silence_id as id, connection_id, check_id, object, reason, note, created_at, ends_at as until`;

const insert = `
  insert into silence (account_id, connection_id, created_at, check_id, object, reason, note, ends_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  returning ${columns}`;

/** Silences a check, or one object of it, and resolves the tickets that it covers; gives their entries too. */
export async function recordSilence(
  client: pg.ClientBase,
  scope: Scope,
  wanted: Pick<SilenceRow, 'check_id' | 'object' | 'reason' | 'note' | 'until'>,
): Promise<{ silence: SilenceRow; entries: TicketEntry[] }> {
  const { check_id, object, reason, note, until } = wanted;
  const { rows } = await client.query<SilenceRow>(insert, [
    ...[scope.accountId, scope.connectionId, scope.at],
    ...[check_id, object, reason, note, until],
  ]);
  const silence = one(rows, 'store a silence');
  return { silence, entries: await resolveSilencedTicketsOf(client, scope) };
}

const end = `
  update silence
     set ends_at = $3
   where account_id = $1 and silence_id = $2 and (ends_at is null or ends_at > $3)
  returning ${columns}`;

/** Ends a silence that is in force: what it covered is found again at the next run. Null when it is not. */
export async function recordSilenceEnd(
  client: pg.ClientBase,
  { accountId, silenceId, at }: { accountId: number; silenceId: number; at: string },
): Promise<SilenceRow | null> {
  const { rows } = await client.query<SilenceRow>(end, [accountId, silenceId, at]);
  return rows[0] ?? null;
}

// Of several the one that lasts longest comes first, and before a check's that of the object.
const inForce = `
  select check_id, object, reason, note, ends_at
    from silence
   where account_id = $1 and connection_id = $2 and (ends_at is null or ends_at > $3)
   order by object nulls last, ends_at desc nulls first, silence_id`;

/**
 * The outcomes of a run as the connection's silences leave them, and the entries of the tickets that those resolve: a
 * ticket is open under a silence only where a process that knows of no silences wrote it.
 */
export async function recordSilenced(
  client: pg.ClientBase,
  scope: Scope,
  outcomes: Outcome[],
): Promise<{ outcomes: Outcome[]; entries: TicketEntry[] }> {
  const values = [scope.accountId, scope.connectionId, scope.at];
  const { rows: silences } = await client.query<SilenceInForce>(inForce, values);
  if (silences.length === 0) return { outcomes, entries: [] };
  const entries = await resolveSilencedTicketsOf(client, scope);
  return { outcomes: silenceOutcomes(outcomes, silences), entries };
}
