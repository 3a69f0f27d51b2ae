import type pg from 'pg';
import { areSeveralAccounts, type ClaimedConnection, claimDueConnections } from './claim.ts';

/** The places of a monitor, and which accounts' checks are in them. */
export interface Places {
  concurrency: number;
  /** By account, how many. */
  held: ReadonlyMap<number, number>;
}

/**
 * Claims for the free places of a monitor so that no account keeps another waiting, for a check of a database that does not answer
 * takes 20 s: half of the places at most go to one account. What nobody else wants it gets too, but for a quarter, which is
 * kept free for what falls due next. Where one account is alone, all are its own.
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
    // Whoever has none first, however long others have waited.
    await claim(1, 0);
    if (held.size > 0) await claim(half, 0);
    const wants = [...held.values()].some((runs) => runs >= half);
    if (wants) await claim(concurrency, kept);
    if (wants && free > 0 && !(await areSeveralAccounts(writer))) await claim(concurrency, 0);
  } catch (error) {
    // What was claimed before is to be run all the same: nobody else would for as long as the claim lasts.
    if (claimed.length === 0) throw error;
  }
  return claimed;
}
