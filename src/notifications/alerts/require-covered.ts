import type pg from 'pg';
import { invalidParameter } from '../../platform/rejection.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import { includesConnection, type ScopedConnection, wrongPattern } from '../connection-scope.ts';
import type { RuleSettings } from './alert-rule.ts';

const selectConnections = `
  select c.connection_id as id, c.name, ${tagsOfConnection} as tags
    from connection c
   where c.account_id = $1 and c.removed_at is null
   order by c.connection_id`;
const selectDestinations = `
  select destination_id from destination where account_id = $1 and removed_at is null`;

/**
 * Throws a {@link Rejection} if a rule covers no connection, or names a destination that does not exist. An empty list is what is
 * left of one whose connections or destinations were removed: a file may say so. It may also name connections that do not
 * exist (yet), with `mayMatchNone`.
 */
export async function requireCovered(
  client: pg.ClientBase,
  accountId: number,
  rule: Pick<RuleSettings, 'connection_ids' | 'connection_names' | 'destination_ids'>,
  { mayMatchNone = false }: { mayMatchNone?: boolean } = {},
): Promise<void> {
  const { connection_ids: ids, connection_names: names, destination_ids: destinations } = rule;
  const wrong = wrongPattern(names);
  if (wrong !== null) throw invalidParameter('connection_names', wrong);
  if (ids !== null || names !== null) {
    const { rows } = await client.query<ScopedConnection>(selectConnections, [accountId]);
    const unknown = ids?.find((id) => !rows.some((row) => row.id === id));
    if (unknown !== undefined) {
      throw invalidParameter('connection_ids', `There is no connection ${unknown} in this account.`);
    }
    const selectsNone = !ids?.length && !names?.length;
    if (!mayMatchNone && !selectsNone && !rows.some((row) => includesConnection(rule, row))) {
      throw invalidParameter('connection_names', 'This rule can never hold: no connection matches.');
    }
  }
  if (destinations !== null) {
    const { rows } = await client.query<{ destination_id: number }>(selectDestinations, [accountId]);
    const unknown = destinations.find((id) => !rows.some((row) => row.destination_id === id));
    if (unknown !== undefined) {
      throw invalidParameter('destination_ids', `There is no destination ${unknown} in this account.`);
    }
  }
}

/** Throws a {@link Rejection} if a person has chosen no connection or no destination. */
export function requireChosen({
  connection_ids: ids,
  connection_names: names,
  destination_ids: destinations,
}: Partial<RuleSettings>): void {
  if ((ids || names) && !ids?.length && !names?.length)
    throw invalidParameter('connection_names', 'This rule can never hold: no connection matches.');
  if (destinations?.length === 0)
    throw invalidParameter('destination_ids', 'Name a destination, or leave it out to tell all of them.');
}
