import type { Read } from '../../store/read.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import type { ConnectionThresholds } from '../connection-thresholds.ts';
import type { Override } from './effective-thresholds.ts';

/** SQL: the account's and tags' thresholds that concern `connection c`, as a JSON list of {@link Override}s. */
export const overridesOfConnection = `
  (select coalesce(jsonb_agg(jsonb_build_object('tag', o.tag, 'check_id', o.check_id, 'name', o.name, 'value', o.value)), '[]')
     from threshold o
    where o.account_id = c.account_id and (o.tag = '' or o.tag = any (${tagsOfConnection})))`;

/** An override, and who set it when. */
export interface StoredOverride extends Override {
  changed_at: Date;
  changed_by: string;
}

const selectOverrides = `
  select tag, check_id, name, value, changed_at, changed_by
    from threshold
   where account_id = $1
   order by tag collate "C", check_id, name`;

/** The thresholds of the account and of its tags, the account's first. */
export function listOverrides(read: Read, accountId: number): Promise<StoredOverride[]> {
  return read<StoredOverride>(selectOverrides, [accountId]);
}

/** A connection, with what decides its thresholds. */
export interface ThresholdConnection {
  id: number;
  name: string;
  engine: Engine;
  thresholds: ConnectionThresholds;
  tags: readonly string[];
  latest_check_id: number | null;
}

// Tags and thresholds are text because most connections have none: the driver parses arrays and JSON more slowly. A tag
// contains no comma.
const selectConnections = `
  select c.connection_id as id, c.name, c.engine, c.latest_check_id,
         nullif(c.thresholds::text, '{}') as thresholds, array_to_string(g.tags, ',') as tags
    from connection c
    left join connection_tags g on g.account_id = $1 and g.connection_id = c.connection_id
   where c.account_id = $1 and c.removed_at is null
     and ($2::bigint[] is null or c.connection_id = any ($2))
   order by c.connection_id`;

interface ConnectionText extends Omit<ThresholdConnection, 'thresholds' | 'tags'> {
  thresholds: string | null;
  tags: string | null;
}

/** The account's connections with their own thresholds and tags, ordered by id; `ids` null = all. */
export async function listThresholdConnections(
  read: Read,
  accountId: number,
  ids: readonly number[] | null = null,
): Promise<ThresholdConnection[]> {
  const rows = await read<ConnectionText>(selectConnections, [accountId, ids]);
  return rows.map(({ thresholds, tags, ...connection }) => ({
    ...connection,
    thresholds: thresholds === null ? {} : (JSON.parse(thresholds) as ConnectionThresholds),
    tags: tags === null ? [] : tags.split(','),
  }));
}

/** Who last set a threshold of a connection. */
export interface ConnectionAuthor {
  connection_id: number;
  /** The check and the name, such as `PG_CONN_SATURATION warning`. */
  subject: string;
  changed_at: Date;
  changed_by: string | null;
}

const selectAuthors = `
  select distinct on (connection_id, subject) connection_id, subject, at as changed_at, source as changed_by
    from connection_change
   where account_id = $1 and connection_id = any($2::bigint[]) and kind = 'threshold'
   order by connection_id, subject, at desc, change_id desc`;

/** Who last set the thresholds of these connections, as far as their changes are kept. */
export function readAuthors(
  read: Read,
  accountId: number,
  connectionIds: readonly number[],
): Promise<ConnectionAuthor[]> {
  return connectionIds.length === 0
    ? Promise.resolve([])
    : read<ConnectionAuthor>(selectAuthors, [accountId, connectionIds]);
}
