import type { TestStore } from '../../../test/support/store.ts';

const insert = `
  insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line, remediation,
                      first_seen_at, last_seen_at, resolved_at, resolution)
  select $1, ($2::bigint[])[1 + n % cardinality($2::bigint[])], ($3::text[])[1 + n % 3], 'public.table_' || n, 'schema',
         ($4::text[])[1 + n % 3], (array['critical', 'warning', 'info'])[1 + n % 7 % 3],
         case when n % 10 < $5 then 'resolved' else 'open' end, 'Read ' || n || ' times, 50% of them for nothing.', '',
         at, at + interval '1 min', case when n % 10 < $5 then at + interval '1 h' end,
         case when n % 10 < $5 then 'no longer found' end
    from (select n, timestamptz '2026-01-01 00:00Z' + n * interval '1 min' as at from generate_series(1, $6::int) n) t
   order by n
  returning ticket_id as id`;

const CHECKS = ['PG_UNUSED_INDEX', 'PG_FK_UNINDEXED', 'PG_IDLE_IN_TXN'];
const TITLES = ['Unused index', 'Foreign key without an index', 'Session idle in a transaction'];

/** Adds `count` tickets to the connections of an account, `resolvedTenths` of ten resolved; returns their ids, the oldest first. */
export async function addTickets(
  { writer }: TestStore,
  accountId: number,
  {
    connections,
    count,
    resolvedTenths = 0,
  }: { connections: number[]; count: number; resolvedTenths?: number },
): Promise<number[]> {
  const values = [accountId, connections, CHECKS, TITLES, resolvedTenths, count];
  const { rows } = await writer.query<{ id: number }>(insert, values);
  return rows.map(({ id }) => id);
}
