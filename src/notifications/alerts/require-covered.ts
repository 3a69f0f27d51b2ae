import type pg from 'pg';
import { tagsOfConnection } from '../../vocabulary/values/tags.ts';
import { includesConnection, type ScopedConnection, wrongPattern } from '../connection-scope.ts';
import type { RuleSettings } from './alert-rule.ts';
import { RuleRejected } from './check-rule.ts';

const selectConnections = `
  select c.connection_id as id, c.name, ${tagsOfConnection} as tags
    from connection c
   where c.account_id = $1 and c.removed_at is null
   order by c.connection_id`;
const selectDestinations = `
  select destination_id from destination where account_id = $1 and removed_at is null`;

/** Throws a {@link RuleRejected} if a rule covers no connection, or names a destination that does not exist. */
export async function requireCovered(
  client: pg.ClientBase,
  accountId: number,
  rule: Pick<RuleSettings, 'connection_ids' | 'connection_names' | 'destination_ids'>,
): Promise<void> {
  const { connection_ids: ids, connection_names: names, destination_ids: destinations } = rule;
  const wrong = wrongPattern(names);
  if (wrong !== null) throw new RuleRejected('connection_names', wrong);
  if (ids !== null || names !== null) {
    const { rows } = await client.query<ScopedConnection>(selectConnections, [accountId]);
    const unknown = ids?.find((id) => !rows.some((row) => row.id === id));
    if (unknown !== undefined) {
      throw new RuleRejected('connection_ids', `There is no connection ${unknown} in this account.`);
    }
    if (!rows.some((row) => includesConnection(rule, row))) {
      throw new RuleRejected('connection_names', 'This rule can never hold: no connection matches.');
    }
  }
  if (destinations !== null) {
    const { rows } = await client.query<{ destination_id: number }>(selectDestinations, [accountId]);
    const unknown = destinations.find((id) => !rows.some((row) => row.destination_id === id));
    if (unknown !== undefined) {
      throw new RuleRejected('destination_ids', `There is no destination ${unknown} in this account.`);
    }
    if (destinations.length === 0) {
      throw new RuleRejected('destination_ids', 'Name a destination, or leave it out to tell all of them.');
    }
  }
}
