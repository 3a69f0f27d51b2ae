import type pg from 'pg';
import type { Outcome } from '../checks/check.ts';
import { resolveSilencedTicketsOf, type TicketEntry } from '../ops/record-findings.ts';
import { type SilenceInForce, silenceOutcomes } from './silence-outcomes.ts';

/** The connection and the time of the run (`Change.at`). */
interface Scope {
  accountId: number;
  connectionId: number;
  at: string;
}

// A silence of an object comes before a silence of the whole check; then the one that lasts longest.
const inForce = `
  select check_id, object, reason, note, ends_at
    from silence
   where account_id = $1 and connection_id = $2 and (ends_at is null or ends_at > $3)
   order by object nulls last, ends_at desc nulls first, silence_id`;

/**
 * Applies the connection's silences to the outcomes of a run. Also returns log entries for open tickets that a silence
 * resolves: only a process without silences, such as an older version, opens such tickets.
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
