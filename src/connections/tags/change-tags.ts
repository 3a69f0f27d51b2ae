import type pg from 'pg';
import type { Change, ChangeAccount } from '../../activity/record-entry.ts';
import { invalidParameter, notFound } from '../../platform/rejection.ts';
import {
  ENVIRONMENT,
  isEnvironment,
  MOST_DIFFERENT_TAGS,
  MOST_TAGS,
  normalisedTag,
  WRONG_TAG,
} from '../../platform/text/tags.ts';
import { one } from '../../store/one.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { requireOrderAtEnd } from '../thresholds/require-order.ts';

/** Tags to add and to remove, normalised. */
export interface TagChanges {
  add?: readonly string[];
  remove?: readonly string[];
  /** The reverse of an earlier change: connections that somebody has tagged otherwise since, or removed, are left as they are. */
  undo?: boolean;
}

/** A connection with its tags after a change, and what the change added and removed. */
export interface TaggedConnection {
  id: number;
  tags: readonly string[];
  added: readonly string[];
  removed: readonly string[];
}

const selectTagged = `
  select c.connection_id as id, c.name, ${tagsOfConnection} as tags
    from connection c
   where c.account_id = $1 and c.connection_id = any($2::bigint[]) and c.removed_at is null
   order by c.connection_id`;

// A tag contains no comma.
const store = `
  insert into connection_tags (account_id, connection_id, tags)
  select $1, t.id, string_to_array(t.tags, ',')
    from unnest($2::bigint[], $3::text[]) as t (id, tags)
   where t.tags <> ''
  on conflict (account_id, connection_id) do update set tags = excluded.tags`;

const forget = 'delete from connection_tags where account_id = $1 and connection_id = any($2::bigint[])';

const countDifferent = `
  select count(*) as different
    from (select distinct tag from connection_tags t, unnest(t.tags) tag where t.account_id = $1) d`;

/** The tags of `texts` in their only form, sorted, each once. Throws a {@link Rejection} for a text that is none. */
export function requireTags(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => normalisedTag(text) ?? rejected(WRONG_TAG)))].sort();
}

/** Throws a {@link Rejection} unless one connection can have all these tags. */
export function requireTagsOfOne(tags: readonly string[]): void {
  if (tags.length > MOST_TAGS) rejected(`A connection has at most ${MOST_TAGS} tags: remove some.`);
  if (tags.filter(isEnvironment).length > 1)
    rejected(`A connection has one environment: give one tag that begins with ${ENVIRONMENT}:.`);
}

/**
 * Adds and removes tags of connections, and returns what each of those has then and what changed. A new environment replaces the old one.
 * Throws a {@link Rejection} for too many tags, and a `notFound`.
 */
export function changeTags(
  change: ChangeAccount,
  connectionIds: readonly number[],
  changes: TagChanges,
): Promise<TaggedConnection[]> {
  return change((within) => changeTagsWithin(within, connectionIds, changes));
}

/** {@link changeTags} inside a change of the account. */
export async function changeTagsWithin(
  change: Change,
  connectionIds: readonly number[],
  { add = [], remove = [], undo = false }: TagChanges,
): Promise<TaggedConnection[]> {
  const { accountId, client, record } = change;
  requireTagsOfOne(add);
  const { rows: found } = await client.query<{ id: number; name: string; tags: string[] }>(selectTagged, [
    accountId,
    connectionIds,
  ]);
  const missing = connectionIds.find((wanted) => !found.some(({ id }) => id === wanted));
  if (missing !== undefined && !undo) throw notFound('connection', missing);
  const rows = undo ? found.filter(({ tags }) => isAsChanged(tags, { add, remove })) : found;
  const steps = rows.map(({ tags, ...connection }) => {
    const after = tagsAfter(tags, add, remove);
    requireTagsOfOne(after);
    const added = after.filter((tag) => !tags.includes(tag));
    return { ...connection, after, added, removed: tags.filter((tag) => !after.includes(tag)) };
  });
  const changed = steps.filter(({ added, removed }) => added.length + removed.length > 0);
  await storeTags(client, accountId, changed);
  if (changed.length > 0) {
    const ofTags = changed.flatMap(({ added, removed }) => [...added, ...removed]);
    requireOrderAtEnd(change, { connectionIds: changed.map(({ id }) => id), tag: '', checks: { ofTags } });
  }
  if (changed.some(({ added }) => added.length > 0)) await requireFewTags(client, accountId);
  for (const { id, name, added, removed } of changed)
    record('connection_tagged', PAGE_LINKS.connection(id), { connection_id: id, name, added, removed });
  return steps.map(({ id, after: tags, added, removed }) => ({ id, tags, added, removed }));
}

/** Forgets the tags of a connection that is being removed. */
export async function forgetTags(
  client: pg.ClientBase,
  accountId: number,
  connectionId: number,
): Promise<void> {
  await client.query(forget, [accountId, [connectionId]]);
}

/** Whether a connection still has what an undo takes away, and nothing in place of what it puts back. */
function isAsChanged(
  tags: readonly string[],
  { add, remove }: { add: readonly string[]; remove: readonly string[] },
): boolean {
  const environment = tags.find(isEnvironment);
  const isOther = environment !== undefined && add.some(isEnvironment) && !remove.includes(environment);
  return !isOther && remove.every((tag) => tags.includes(tag)) && !add.some((tag) => tags.includes(tag));
}

function tagsAfter(before: readonly string[], add: readonly string[], remove: readonly string[]): string[] {
  const isReplaced = add.some(isEnvironment);
  const kept = before.filter((tag) => !remove.includes(tag) && !(isReplaced && isEnvironment(tag)));
  return [...new Set([...kept, ...add])].sort();
}

async function storeTags(
  client: pg.ClientBase,
  accountId: number,
  changed: readonly { id: number; after: readonly string[] }[],
): Promise<void> {
  if (changed.length === 0) return;
  const ids = changed.map(({ id }) => id);
  await client.query(store, [accountId, ids, changed.map(({ after }) => after.join(','))]);
  const bare = changed.filter(({ after }) => after.length === 0).map(({ id }) => id);
  if (bare.length > 0) await client.query(forget, [accountId, bare]);
}

async function requireFewTags(client: pg.ClientBase, accountId: number): Promise<void> {
  const { rows } = await client.query<{ different: number }>(countDifferent, [accountId]);
  if (one(rows, 'count tags').different > MOST_DIFFERENT_TAGS)
    rejected(`An account has at most ${MOST_DIFFERENT_TAGS} different tags: use those that exist.`);
}

function rejected(message: string): never {
  throw invalidParameter('tags', message);
}
