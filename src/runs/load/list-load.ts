import type { Read } from '../../store/read.ts';

/** By what the load of a connection is split, with the columns of each. */
export const LOAD_DIMENSIONS = {
  wait: ['wait', 'event'],
  query: ['query'],
  role: ['role'],
  application: ['application'],
  database: ['database'],
} as const;

/** A part of the load of a connection: its columns, and the average number of sessions. */
export type LoadPart = {
  /** Null = not known any more, or of the smaller ones. */
  state: string | null;
  sessions: number;
} & Partial<Record<(typeof LOAD_DIMENSIONS)[keyof typeof LOAD_DIMENSIONS][number], string | null>>;

// Sources beyond the 40 largest of a minute are in its totals only; those beyond the limit of a connection have no names any more.
const parts = (columns: readonly string[]) => `
  with span as materialized (
    select minutes, active + idle_in_transaction as total, sources, sessions
      from session_load
     where account_id = $1 and connection_id = $2 and at >= $3 and at < $4
  ), source as (
    select source_id, sum(s.sessions * minutes) as total
      from span, unnest(sources, span.sessions) s (source_id, sessions)
     group by source_id
  ), named as (
    select state, ${columns.join(', ')}, sum(total) as total
      from source
      join session_load_source using (source_id)
     where account_id = $1 and connection_id = $2 and ($6::text is null or query = $6)
     group by state, ${columns.join(', ')}
  ), largest as (
    select * from named order by total desc, ${columns.join(', ')} limit $5
  ), whole as (
    select sum(minutes) as minutes, case when $6::text is null then sum(total * minutes) else (select sum(total) from named) end as all_sessions
      from span
  )
  select state, ${columns.join(', ')}, total / minutes as sessions
    from largest
   cross join whole
   where total > 0
   union all
  select null, ${columns.map(() => 'null').join(', ')}, rest / minutes
    from (select minutes, all_sessions - coalesce((select sum(total) from largest), 0) as rest from whole) others
   where rest / minutes >= 0.005
   order by state nulls last, sessions desc`;

/** The load of a connection in a range, or that of one query, split by a dimension: the largest parts of each state first, then the rest. */
export function listLoad(
  read: Read,
  accountId: number,
  connectionId: number,
  by: keyof typeof LOAD_DIMENSIONS,
  { from, to, limit, query }: { from: Date; to: Date; limit: number; query?: string | undefined },
): Promise<LoadPart[]> {
  return read(parts(LOAD_DIMENSIONS[by]), [accountId, connectionId, from, to, limit, query]);
}
