import type { Read } from '../../store/read.ts';

const selectTags = `
  select t.connection_id, t.tags
    from connection_tags t
   where t.account_id = $1
   order by t.connection_id`;

/** The tags of an account's connections, by connection; connections without tags are not in it. */
export async function readTags(read: Read, accountId: number): Promise<Map<number, readonly string[]>> {
  const rows = await read<{ connection_id: number; tags: string[] }>(selectTags, [accountId]);
  return new Map(rows.map(({ connection_id, tags }) => [connection_id, tags]));
}

/** A tag that is in use, and how many connections have it. */
export interface TagCount {
  tag: string;
  connections: number;
}

/** The account's tags with their counts, sorted by tag. */
export function countTags(tagged: Iterable<readonly string[]>): TagCount[] {
  const counts = new Map<string, number>();
  for (const tags of tagged) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([tag, connections]) => ({ tag, connections }));
}
