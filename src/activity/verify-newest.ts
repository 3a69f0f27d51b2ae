import type { Read } from '../database/read.ts';
import { type CanonicalEntry, entriesBetween } from './canonical-entry.ts';
import { type SealRow, sealColumns, sealOf } from './seal.ts';
import { type Claim, verifyLog } from './verify-log.ts';

const bounds = `
  select h.last_id, coalesce(f.first_id, 1) as first_id
    from activity_head h
    left join activity_floor f on f.account_id = h.account_id
   where h.account_id = $1`;

const newestSeal = `
  select ${sealColumns}, l.leaves
    from activity_seal s
    left join activity_leaves l on l.account_id = s.account_id and l.last_id = s.last_id
   where s.account_id = $1 and s.first_id <= s.last_id
   order by s.number desc
   limit 1`;

/** How far a log is sealed, and whether the entries of its newest seal are as they were sealed. */
export interface NewestVerified {
  verified: boolean;
  /** The entries that were compared; `to_id` is the last that is sealed. 0 when none is. */
  from_id: number;
  to_id: number;
  /** When that seal was made. */
  at: string | null;
  /** Entries that no seal holds yet. */
  unsealed: number;
  /** What is wrong. */
  message: string | null;
}

/**
 * Compares the newest seal of an account's log, of 4,096 entries at most, with them: a page asks for it. Whether the key that signed
 * is one of ours, and what lies before, is for `activity verify` to say, which opens the keys as the store's owner. `read` is of one snapshot.
 */
export async function verifyNewest(read: Read, accountId: number): Promise<NewestVerified> {
  const [head] = await read<{ last_id: number; first_id: number }>(bounds, [accountId]);
  const { last_id = 0, first_id = 1 } = head ?? {};
  const [row] = await read<SealRow & { leaves: Buffer | null }>(newestSeal, [accountId]);
  const none = { from_id: 0, to_id: 0, at: null, unsealed: last_id - first_id + 1, message: null };
  if (!row) return { verified: true, ...none };
  const { leaves, ...signed } = row;
  const sealed = { ...sealOf(signed), leaves };
  const from = Math.max(first_id, sealed.seal.first_id);
  const told = {
    ...{ from_id: from, to_id: sealed.seal.last_id, at: new Date(sealed.seal.sealed_at).toISOString() },
    unsealed: Math.max(0, last_id - sealed.seal.last_id),
  };
  const verdict = await verifyLog({
    accountId,
    claims: once({ sealed }),
    fromStart: false,
    entries: async (first, last) => {
      const found = await read<CanonicalEntry>(entriesBetween, [accountId, first, last]);
      return found.map((entry) => ({ place: entry.id, entry }));
    },
    lowest: from,
    highest: Number.MAX_SAFE_INTEGER,
    cutTo: from - 1,
    trusts: () => true,
  });
  return { verified: verdict.verified, ...told, message: verdict.verified ? null : verdict.message };
}

async function* once(claim: Claim): AsyncGenerator<Claim> {
  yield claim;
}
