import type { StoreAddress } from '../config/store-url.ts';
import { countLost } from '../connections/rotate-secret-key.ts';
import { replaceKeys, type SecretKeys } from '../platform/encryption.ts';
import { openPool, WORK_DEADLINE_MS } from '../store/connect.ts';
import type { Reload } from './reload-on-hangup.ts';

/**
 * Reads the secret keys again, and gives them to everyone who holds `keys`. `read` throws a sentence if they can't be used; null =
 * they stand in no file. The old ones stay if the new ones can't decrypt something that the old ones do in one of the `stores`, the
 * open ones at that time.
 */
export function reloadSecretKeys(
  keys: SecretKeys,
  read: () => SecretKeys | null,
  stores: () => readonly StoreAddress[],
): Reload {
  return {
    what: 'secret keys',
    async reload() {
      const next = read();
      if (next === null || isSame(keys, next)) return null;
      for (const address of stores()) await requireAsGood(address, keys, next);
      replaceKeys(keys, next);
      return { keys: next.length };
    },
  };
}

function isSame(keys: SecretKeys, next: SecretKeys): boolean {
  return keys.length === next.length && keys.every((key, at) => next[at]?.equals(key));
}

/** Throws a sentence if `next` decrypts less of the store than `keys`. */
async function requireAsGood(address: StoreAddress, keys: SecretKeys, next: SecretKeys): Promise<void> {
  const owner = openPool(address, 'owner', { max: 1, statementTimeout: WORK_DEADLINE_MS });
  try {
    const client = await owner.connect();
    try {
      const [before, after] = [await countLost(client, keys), await countLost(client, next)];
      if (after > before)
        throw new Error(
          `They do not decrypt ${after} of the store's keys: add the key that encrypted them, or run "secret rotate" first.`,
        );
    } finally {
      client.release();
    }
  } finally {
    await owner.end();
  }
}
