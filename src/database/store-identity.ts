import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { openPool, type StoreAddress } from './connect.ts';
import { one } from './one.ts';

// Of the first migration: a restored store has one of its own.
const selectBirth = `select min(run_on)::text as birth from migration`;

/** The header of `/readyz` that names the service's store, so that `doctor` knows it from another one's. */
export const STORE_HEADER = 'x-dbvitals-store';

/**
 * Sixteen hexadecimal digits by which a store is known from others, to strangers too: they tell nothing of it. Copies of a data folder
 * differ by `dataFolder`, which is null where the store is no embedded one. Its schema must be there.
 */
export async function storeIdentity(address: StoreAddress, dataFolder: string | null): Promise<string> {
  const pool = openPool(address, 'owner', { max: 1 });
  try {
    const { birth } = one((await pool.query<{ birth: string }>(selectBirth)).rows, 'identify the store');
    const place = dataFolder === null ? '' : resolve(dataFolder);
    return createHash('sha256').update(`${birth} ${place}`).digest('hex').slice(0, 16);
  } finally {
    await pool.end();
  }
}
