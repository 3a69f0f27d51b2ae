import type pg from 'pg';
import type { NewChange } from './connection-change.ts';

/** The connection of the changes, and the time that they get. */
interface Scope {
  accountId: number;
  connectionId: number;
  at: string | Date;
}

const insert = `
  insert into connection_change (account_id, connection_id, at, kind, database, subject, before, after, source)
  select $1, connection_id, $2, kind, database, subject, before, after, source
    from jsonb_to_recordset($3::jsonb)
      as c (connection_id bigint, kind text, database text, subject text, before text, after text, source text)`;

/** The most changes that are listed of one reading. */
const LISTED = 200;

/** The first 200 changes (or `listed`), and how many more there are. `what` names them in the last one. */
export function limitChanges(
  changes: NewChange[],
  what: string,
  database = '',
  listed = LISTED,
): NewChange[] {
  if (changes.length <= listed) return changes;
  const after = `${changes.length - listed} more`;
  const more = { kind: 'more', database, subject: what, before: null, after, source: null } as const;
  return [...changes.slice(0, listed), more];
}

/** Stores changes of a connection, in their order; nothing if there are none. Their texts must be clean and short. */
export async function storeChanges(
  client: pg.ClientBase,
  { accountId, connectionId, at }: Scope,
  changes: readonly NewChange[],
): Promise<void> {
  const placed = changes.map((change) => ({ ...change, connectionId }));
  await storeChangesOfMany(client, { accountId, at }, placed);
}

/** {@link storeChanges} of several connections. */
export async function storeChangesOfMany(
  client: pg.ClientBase,
  { accountId, at }: Omit<Scope, 'connectionId'>,
  changes: readonly (NewChange & { connectionId: number })[],
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(({ connectionId, ...change }) => ({ ...change, connection_id: connectionId }));
  await client.query(insert, [accountId, at, JSON.stringify(rows)]);
}
