import type { Read } from '../../store/read.ts';
import { verifyStore } from './verify-store.ts';

/** The result of `activity verify`, for a page. */
export interface AccountVerified {
  /** Whether every sealed entry is unchanged; null = not known yet. */
  verified: boolean | null;
  /** The range of compared entries; 0 if none is sealed. */
  from_id: number;
  to_id: number;
  /** When the last seal was made; null if there is none. */
  at: string | null;
  /** When the entries were compared. */
  checked_at: string | null;
  /** The number of entries that were not sealed then. */
  unsealed: number;
  /** The number of entries that were sealed more than an hour late, or are overdue; without sample data. */
  late: number;
  /** What is wrong. */
  message: string | null;
}

/** The result before the first verification has ended. */
export const NOT_VERIFIED_YET: AccountVerified = {
  verified: null,
  from_id: 0,
  to_id: 0,
  at: null,
  checked_at: null,
  unsealed: 0,
  late: 0,
  message: null,
};

/**
 * Verifies the whole log of an account, like `activity verify`: every entry, seal and signature, with our public keys
 * (hexadecimal). `read` reads one snapshot. It takes about 10 seconds for a million entries, so a page does not wait
 * for it.
 */
export async function verifyAccount(
  read: Read,
  accountId: number,
  publicKeys: ReadonlySet<string>,
): Promise<AccountVerified> {
  const checked_at = new Date().toISOString();
  const verdict = await verifyStore(read, accountId, publicKeys, null);
  if (!verdict.verified)
    return { ...NOT_VERIFIED_YET, verified: false, checked_at, message: verdict.message };
  const { first_id, last_id, sealed_at, unsealed, late } = verdict;
  const lateEntries = late
    .filter(({ sample }) => !sample)
    .reduce((sum, range) => sum + range.last_id - range.first_id + 1, 0);
  return {
    verified: true,
    from_id: last_id === 0 ? 0 : first_id,
    to_id: last_id,
    at: sealed_at === null ? null : new Date(sealed_at).toISOString(),
    checked_at,
    unsealed,
    late: lateEntries,
    message: null,
  };
}
