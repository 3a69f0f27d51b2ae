import { Rejection } from '../platform/rejection.ts';
import type { Read } from '../store/read.ts';
import { tagsOfConnection } from '../store/sql/connection-tags.sql.ts';
import {
  type ConnectionScope,
  patternMatcher,
  type ScopedConnection,
  wrongPattern,
} from './connection-scope.ts';

const select = `
  select c.connection_id as id, c.name, ${tagsOfConnection} as tags
    from connection c
   where c.account_id = $1 and c.removed_at is null`;

/**
 * Throws a {@link Rejection} unless the account has every connection that a scope names by its id, and one for each
 * pattern, which a file may name before there is one (`mayMatchNone`). Without ids and names there is nothing to check.
 */
export async function requireConnections(
  read: Read,
  accountId: number,
  { connection_ids: ids, connection_names: names }: ConnectionScope,
  { mayMatchNone = false }: { mayMatchNone?: boolean } = {},
): Promise<void> {
  if (ids === null && names === null) return;
  const wrong = wrongPattern(names);
  if (wrong !== null) throw none(wrong);
  const own = await read<ScopedConnection>(select, [accountId]);
  const missing = (ids ?? []).find((id) => !own.some((connection) => connection.id === id));
  if (missing !== undefined) throw none(`There is no connection ${missing}.`);
  const unmatched = mayMatchNone ? undefined : names?.find((pattern) => !own.some(patternMatcher(pattern)));
  if (unmatched !== undefined) throw none(`No connection matches ${JSON.stringify(unmatched)}.`);
  if (ids?.length === 0 && !names?.length) throw none('Choose at least one connection.');
}

function none(message: string): Rejection {
  return new Rejection('invalid_parameter', message, { parameter: 'connections' });
}
