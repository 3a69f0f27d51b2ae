import type pg from 'pg';
import type { Outcome } from '../checks/check.ts';
import { resolveSilencedTicketsOf, type TicketEntry } from '../ops/record-findings.ts';
import { type SilenceInForce, silenceOutcomes } from './silence-outcomes.ts';

/** Whose silence, and when (`Change.at`). */
interface Scope {
  accountId: number;
  connectionId: number;
  at: string;
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
export async function applySilences(
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
