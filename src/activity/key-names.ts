import { LRUCache } from 'lru-cache';
import type { Read } from '../store/read.ts';

/** The names of an account's keys, as JSON, by their ids; `null` = no such key. */
export type KeyNames = Map<string, string>;

// Together at most about 10 MB.
const MOST_ACCOUNTS = 200;
const MOST_NAMES = 500;

// A process reads one store. A change of a key raises its account's generation.
const known = new LRUCache<number, { generation: number; names: KeyNames }>({ max: MOST_ACCOUNTS });

/** The names that this process knows of an account's keys at a generation. */
export function knownNames(accountId: number, generation: number): KeyNames {
  const kept = known.get(accountId);
  if (kept?.generation === generation && kept.names.size <= MOST_NAMES) return kept.names;
  const names: KeyNames = new Map();
  known.set(accountId, { generation, names });
  return names;
}

const readNames = `
  select api_key_id as id, name
    from api_key
   where account_id = $1
     and api_key_id = any($2::bigint[])`;

/** Adds the names of keys to those that are known. */
export async function learnNames(
  read: Read,
  accountId: number,
  names: KeyNames,
  keys: ReadonlySet<string>,
): Promise<void> {
  const rows = await read<{ id: number; name: string }>(readNames, [accountId, `{${[...keys].join()}}`]);
  for (const key of keys) names.set(key, 'null');
  for (const { id, name } of rows) names.set(String(id), JSON.stringify(name));
}
