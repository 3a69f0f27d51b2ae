import type pg from 'pg';
import type { LoadMinute } from './session-load.ts';

/** The most sources of a connection. */
const MOST = 1_500;

// Names come from the watched server, so their number is limited: those that were seen longest ago make room. Their ids are hashes,
// so what comes back has the id that older minutes know.
const storeSources = `
  with given as (
    select *
      from jsonb_to_recordset($3) as s (source_id bigint, state text, wait text, event text, query text, role text,
                                        application text, database text)
  ), stored as (
    insert into session_load_source as s (account_id, connection_id, source_id, state, wait, event, query, role, application,
                                          database, seen_at)
    select $1, $2, source_id, state, wait, event, query, role, application, database, now()
      from given
     where exists (select from connection where account_id = $1 and connection_id = $2 and removed_at is null)
     order by source_id
    on conflict (account_id, connection_id, source_id) do update set seen_at = excluded.seen_at
  )
  delete from session_load_source
   where account_id = $1 and connection_id = $2
     and source_id not in (select source_id from given)
     and source_id in (select source_id
                         from session_load_source
                        where account_id = $1 and connection_id = $2
                        order by seen_at desc, source_id
                       offset greatest(0, ${MOST} - (select count(*) from given)))`;

const storeMinute = `
  insert into session_load (account_id, connection_id, at, minutes, active, idle_in_transaction, blocked_sessions,
                            blocked_seconds, commits, rollbacks, replica_lag, sources, sessions,
                            end_blocked_sessions, end_blocked_seconds)
  select $1, $2, $3, 1, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
   where exists (select from connection where account_id = $1 and connection_id = $2 and removed_at is null)
  on conflict (account_id, connection_id, at) do nothing`;

/** Stores a minute of a connection's load, and those of its sources that are not among `known`. */
export async function storeLoad(
  writer: pg.Pool,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  minute: LoadMinute,
  known: ReadonlySet<number>,
): Promise<void> {
  const sources = minute.sources.filter(({ id }) => !known.has(id));
  if (sources.length > 0) {
    const rows = sources.map(({ id, source }) => ({ source_id: id, ...source }));
    await writer.query(storeSources, [accountId, connectionId, JSON.stringify(rows)]);
  }
  await writer.query(storeMinute, [
    accountId,
    connectionId,
    minute.at,
    minute.active,
    minute.idle_in_transaction,
    minute.blocked_sessions,
    minute.blocked_seconds,
    minute.commits,
    minute.rollbacks,
    minute.replica_lag,
    minute.sources.map(({ id }) => id),
    minute.sources.map(({ sessions }) => sessions),
    minute.end_blocked_sessions,
    minute.end_blocked_seconds,
  ]);
}
