import type pg from 'pg';

/** SQL: how many entries the stream `s` is behind the log, of which `h` is the head. */
export const BEHIND_ENTRIES = 'greatest(h.last_id - s.scanned_id, 0)';

/** SQL: the age of the first of them in seconds; 0 = none. */
export const BEHIND_SECONDS = `
  coalesce((select greatest(extract(epoch from now() - e.occurred_at), 0)::int from activity e
             where e.account_id = s.account_id and e.id = s.scanned_id + 1), 0)`;

/** How far an enabled stream is behind the log of its account. */
export interface StreamLag {
  accountId: number;
  destinationId: number;
  entries: number;
  seconds: number;
}

/** Further streams are not reported: each is a time series of its own. */
const MOST_STREAMS = 1_000;

const select = `
  select s.account_id as "accountId", s.destination_id as "destinationId", ${BEHIND_ENTRIES}::float8 as entries, ${BEHIND_SECONDS} as seconds
    from log_stream s
    join destination d using (account_id, destination_id)
    join account a using (account_id)
    join activity_head h using (account_id)
   where d.removed_at is null and d.state = 'enabled' and a.is_here
   order by seconds desc, account_id, destination_id
   limit ${MOST_STREAMS}`;

/** How far the enabled streams of all accounts of this cell are behind; of very many, those that are behind most. */
export async function readStreamLags(writer: pg.Pool): Promise<StreamLag[]> {
  return (await writer.query<StreamLag>(select)).rows;
}
