import type pg from 'pg';
import { areSeveralAccounts, type ClaimedConnection, claimDueConnections } from './claim.ts';

/** The slots of a monitor, and the accounts whose checks occupy them. */
export interface Places {
  concurrency: number;
  /** Occupied slots by account. */
  held: ReadonlyMap<number, number>;
}

/**
 * Claims connections for the free slots of a monitor, so that no account makes another one wait: a check of a
 * database that does not answer takes 20 s. One account gets at most half of the slots. If no other account needs
 * them, it gets more, but a quarter stays free for connections that become due next. A single account gets all slots.
 */
export async function claimFairly(
  writer: pg.Pool,
  claimant: string,
  { concurrency, held: before }: Places,
): Promise<ClaimedConnection[]> {
  const held = new Map(before);
  const claimed: ClaimedConnection[] = [];
  let free = concurrency - [...held.values()].reduce((sum, runs) => sum + runs, 0);
  const claim = async (each: number, kept: number) => {
    while (free > kept) {
      const more = await claimDueConnections(writer, claimant, free - kept, { held, each });
      for (const { accountId } of more) held.set(accountId, (held.get(accountId) ?? 0) + 1);
      claimed.push(...more);
      free -= more.length;
      if (more.length === 0) return;
    }
  };
  const half = Math.ceil(concurrency / 2);
  const kept = concurrency > 1 ? Math.max(1, Math.floor(concurrency / 4)) : 0;
  try {
    // Accounts without a running check come first, however long others have waited.
    await claim(1, 0);
    if (held.size > 0) await claim(half, 0);
    const wants = [...held.values()].some((runs) => runs >= half);
    if (wants) await claim(concurrency, kept);
    if (wants && free > 0 && !(await areSeveralAccounts(writer))) await claim(concurrency, 0);
  } catch (error) {
    // Run what is already claimed: no other monitor would until the claims expire.
    if (claimed.length === 0) throw error;
  }
  return claimed;
}
