import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { StoreAddress } from '../config/store-url.ts';
import { openPool } from './connect.ts';
import { one } from './one.ts';

// When the first migration ran. A restored store has its own time.
const selectBirth = `select min(run_on)::text as birth from migration`;

/** The header of `/readyz` that identifies the service's store, so that `doctor` can tell stores apart. */
export const STORE_HEADER = 'x-dbvitals-store';

/**
 * Sixteen hexadecimal digits that identify a store. They are public and reveal nothing about it. Copies of a data folder differ
 * by `dataFolder`; null = not an embedded store. The schema must exist.
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
