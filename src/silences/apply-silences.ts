import type pg from 'pg';
import type { NewChange } from '../changes/connection-change.ts';
import type { Outcome } from '../checks/check.ts';
import { resolveSilencedTicketsOf, type TicketEntry } from '../ops/record-findings.ts';
import { silenceChange } from './silence-change.ts';
import { type SilenceInForce, silenceOutcomes } from './silence-outcomes.ts';

/** The connection and the time of the run (`Change.at`). */
interface Scope {
  accountId: number;
  connectionId: number;
  at: string;
}

// The active silences, and those that expired since the previous run: a silence that was ended has a change at that time.
// A silence of an object comes before a silence of the whole check; then the one that lasts longest.
const inForce = `
  select check_id, object, reason, note, ends_at, coalesce(ends_at <= $3, false) as expired
    from silence s
   where account_id = $1 and connection_id = $2
     and (ends_at is null or ends_at > $3
          or ends_at > (select h.created_at
                          from connection c
                          join health_check h on h.account_id = $1 and h.health_check_id = c.latest_check_id
                         where c.account_id = $1 and c.connection_id = $2)
             and not exists (select from connection_change e
                              where e.account_id = $1 and e.connection_id = $2 and e.at = s.ends_at and e.kind = 'silence'))
   order by object nulls last, ends_at desc nulls first, silence_id`;

/**
 * Applies the connection's silences to the outcomes of a run. Also returns the silences that expired since the previous
 * run, and log entries for open tickets that a silence resolves: only a process without silences, such as an older version, opens such tickets.
 */
export async function applySilences(
  client: pg.ClientBase,
  scope: Scope,
  outcomes: Outcome[],
): Promise<{ outcomes: Outcome[]; entries: TicketEntry[]; expired: NewChange[] }> {
  const values = [scope.accountId, scope.connectionId, scope.at];
  const { rows } = await client.query<SilenceInForce & { expired: boolean }>(inForce, values);
  const silences = rows.filter((silence) => !silence.expired);
  const expired = rows
    .filter((silence) => silence.expired)
    .map((silence) => silenceChange('went', { ...silence, until: silence.ends_at }, 'expired'));
  if (silences.length === 0) return { outcomes, entries: [], expired };
  const entries = await resolveSilencedTicketsOf(client, scope);
  return { outcomes: silenceOutcomes(outcomes, silences), entries, expired };
}
