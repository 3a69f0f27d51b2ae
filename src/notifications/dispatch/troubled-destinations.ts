import type pg from 'pg';

/** A destination that gets nothing, or whose attempts fail. */
export interface TroubledDestination {
  account_id: number;
  name: string;
  state: 'enabled' | 'disabled' | 'paused';
  state_reason: string | null;
  /** Null = its last attempt succeeded. */
  failing_since: Date | null;
  last_result: string | null;
}

const selectTroubled = `
  select d.account_id, d.name, d.state, d.state_reason, q.failing_since, q.last_result
    from destination d
    join destination_queue q using (account_id, destination_id)
    join account a using (account_id)
   where d.removed_at is null and a.is_here
     and (d.state <> 'enabled' or q.failing_since < now() - interval '1 hour')
   order by d.account_id, d.destination_id`;

/** The destinations of all accounts of this cell that are disabled or paused, or whose attempts have failed for an hour. */
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
