import type { OwnCheck } from '../../checks/own/own-check.ts';
import type { Read } from '../../store/read.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';

/** An own check, and who set it when. */
export interface StoredOwnCheck extends OwnCheck {
  changed_at: Date;
  changed_by: string;
}

/** SQL: the own checks of `connection c`, as a JSON list of {@link OwnCheck}s. */
export const ownChecksOfConnection = `
  (select coalesce(jsonb_agg(to_jsonb(o) - '{account_id,changed_at,changed_by}'::text[] order by o.id), '[]')
     from own_check o
    where o.account_id = c.account_id and o.engine = c.engine and o.tags <@ ${tagsOfConnection})`;

const select = `
  select id, title, engine, database, sql, unit, operator, warning, critical, remediation, every, timeout, tags,
         changed_at, changed_by
    from own_check
   where account_id = $1
   order by id`;

// The tags of each connection are read once, not for each check.
const selectCounts = `
  with tagged as materialized (
    select c.engine, ${tagsOfConnection} as tags
      from connection c
     where c.account_id = $1 and c.removed_at is null
  )
  select o.id, count(t.engine)::int as connections
    from own_check o
    left join tagged t on t.engine = o.engine and o.tags <@ t.tags
   where o.account_id = $1
   group by o.id`;

/** On how many connections each own check of an account runs, by its id. */
export async function countOwnCheckConnections(
  read: Read,
  accountId: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await read<{ id: string; connections: number }>(selectCounts, [accountId]);
  return new Map(rows.map(({ id, connections }) => [id, connections]));
}

/** The own checks of an account, by id. */
export function listOwnChecks(read: Read, accountId: number): Promise<StoredOwnCheck[]> {
  return read<StoredOwnCheck>(select, [accountId]);
}
