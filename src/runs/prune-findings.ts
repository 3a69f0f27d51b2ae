import type pg from 'pg';
import { doesNotMove } from '../store/cells/moving.sql.ts';

// One step reads 1,000 checks in order of time. The latest check of a connection keeps its findings, however old it
// is, so the next step must start after the last check that was read.
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
       and ${doesNotMove('old.account_id')}
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
 * Deletes the findings and the cost of health checks older than 7 days, except the latest of each connection; time,
 * score and summary stay. Works in transactions of at most 1,000 checks, and yields the number of each. `owner` is a
 * pool of the store's owner, because the service's own role can't change checks.
 */
export async function* pruneFindings(owner: pg.Pool): AsyncGenerator<number> {
  let [last]: (Step | undefined)[] = [{ created_at: '-infinity', health_check_id: 0, pruned: 0 }];
  while (last) {
    const { rows } = await owner.query<Step>(pruneOldest, [last.created_at, last.health_check_id]);
    [last] = rows;
    if (last) yield last.pruned;
  }
}
