import type pg from 'pg';

// One step looks at 1,000 checks in the order of their time; the latest of a connection stays whole, however old it is,
// so the next step begins after the last one seen, not with the first that is left.
const pruneOldest = `
  with old as materialized (
    select account_id, connection_id, health_check_id, created_at
      from health_check
     where findings is not null
       and created_at < now() - interval '168 hours'
       and (created_at, health_check_id) > ($1::timestamptz, $2::bigint)
     order by created_at, health_check_id
     limit 1000
  ), pruned as (
    update health_check h
       set findings = null, cost = null
      from old
      join connection c on c.account_id = old.account_id and c.connection_id = old.connection_id
     where h.account_id = old.account_id
       and h.health_check_id = old.health_check_id
       and h.findings is not null
       and c.latest_check_id is distinct from h.health_check_id
    returning h.health_check_id
  )
  select created_at::text, health_check_id, (select count(*) from pruned) as pruned
    from old
   order by created_at desc, health_check_id desc
   limit 1`;

interface Step {
  created_at: string;
  health_check_id: number;
  pruned: number;
}

/**
 * Leaves of each health check that is older than 7 days its time, score and summary, but for the latest of a connection,
 * in transactions of at most 1,000, and gives the number of each. `owner` is a pool of the store's owner: the service's
 * own role may change no check.
 */
export async function* pruneFindings(owner: pg.Pool): AsyncGenerator<number> {
  let [last]: (Step | undefined)[] = [{ created_at: '-infinity', health_check_id: 0, pruned: 0 }];
  while (last) {
    const { rows } = await owner.query<Step>(pruneOldest, [last.created_at, last.health_check_id]);
    [last] = rows;
    if (last) yield last.pruned;
  }
}
