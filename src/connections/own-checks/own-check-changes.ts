import type { Change } from '../../activity/record-entry.ts';
import { findingId, type OwnCheck } from '../../checks/own/own-check.ts';
import { cleanText } from '../../platform/text/clean-text.ts';
import type { NewChange } from '../../runs/changes/connection-change.ts';
import { storeChangesOfMany } from '../../runs/changes/store-changes.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';

const selectConnections = `
  select c.connection_id as id
    from connection c
   where c.account_id = $1 and c.engine = $2 and c.removed_at is null and $3::text[] <@ ${tagsOfConnection}`;

const TEXT = 200;

/** Lists in the changes of each connection that an own check came to it, changed, or went from it. */
export async function storeOwnCheckChanges(
  { accountId, client, at, author }: Change,
  before: OwnCheck | null,
  after: OwnCheck | null,
): Promise<void> {
  const connectionsOf = async (own: OwnCheck | null) => {
    if (own === null) return [];
    const { rows } = await client.query<{ id: number }>(selectConnections, [accountId, own.engine, own.tags]);
    return rows.map(({ id }) => id);
  };
  const [was, is] = [new Set(await connectionsOf(before)), new Set(await connectionsOf(after))];
  const changes = [...new Set([...was, ...is])].map((connectionId): NewChange & { connectionId: number } => {
    const told = {
      before: was.has(connectionId) ? before : null,
      after: is.has(connectionId) ? after : null,
    };
    return {
      connectionId,
      kind: 'check',
      database: '',
      subject: findingId((after ?? before)?.id ?? ''),
      before: told.before && describe(told.before),
      after: told.after && describe(told.after),
      source: author,
    };
  });
  await storeChangesOfMany(
    client,
    { accountId, at },
    changes.filter(({ before, after }) => before !== after),
  );
}

/** `select count(*) … >= 10, 100`. */
function describe({ sql, operator, warning, critical }: OwnCheck): string {
  const levels = [warning, critical].filter((level) => level !== null).join(', ');
  return `${cleanText(sql.replace(/\s+/g, ' '), TEXT)} ${operator} ${levels}`;
}
