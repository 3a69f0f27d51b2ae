import type pg from 'pg';
import { BEHIND_ENTRIES, BEHIND_SECONDS } from '../log-streams/stream-lag.ts';

/** A destination that gets nothing, whose attempts fail, that is behind its log, or that waits for its digest. */
export interface TroubledDestination {
  account_id: number;
  name: string;
  state: 'enabled' | 'disabled' | 'paused';
  state_reason: string | null;
  /** Null = its last attempt succeeded. */
  failing_since: Date | null;
  last_result: string | null;
  /** How many entries a log stream is behind, and the age of the first in seconds; null = it is no log stream. */
  behind_entries: number | null;
  behind_seconds: number | null;
  /** When its digest was due, if that is an hour ago; null = none is late. */
  digest_late_since: Date | null;
}

/** An entry that waits longer makes its stream one in trouble. */
const LATE_SECONDS = 900;

const selectTroubled = `
  select d.account_id, d.name, d.state, d.state_reason, q.failing_since, q.last_result,
         behind.entries as behind_entries, behind.seconds as behind_seconds,
         case when d.digest is not null and q.digest_due_at < now() - interval '1 hour' then q.digest_due_at end as digest_late_since
    from destination d
    join destination_queue q using (account_id, destination_id)
    join account a using (account_id)
    left join lateral (select ${BEHIND_ENTRIES} as entries, ${BEHIND_SECONDS} as seconds
                         from log_stream s
                         join activity_head h using (account_id)
                        where s.account_id = d.account_id and s.destination_id = d.destination_id) behind on true
   where d.removed_at is null and a.is_here
     and (d.state <> 'enabled' or q.failing_since < now() - interval '1 hour' or behind.seconds > ${LATE_SECONDS}
          or (d.digest is not null and q.digest_due_at < now() - interval '1 hour'))
   order by d.account_id, d.destination_id`;

/** The destinations of all accounts of this cell that are disabled or paused, whose attempts have failed for an hour, that are behind their log, or whose digest is late. */
export async function troubledDestinations(writer: pg.Pool): Promise<TroubledDestination[]> {
  return (await writer.query<TroubledDestination>(selectTroubled)).rows;
}

const selectMail = `
  select from destination d
    join account a using (account_id)
   where d.channel = 'email' and d.removed_at is null and d.state = 'enabled' and a.is_here
   limit 1`;

/** Whether an account sends e-mail. */
export async function hasMailDestination(writer: pg.Pool): Promise<boolean> {
  return (await writer.query(selectMail)).rowCount === 1;
}
