import type pg from 'pg';
import { areSeveralAccounts, type ClaimedConnection, claimDueConnections } from './claim.ts';

/** The slots of a monitor, and the runs that occupy them. */
export interface Places {
  concurrency: number;
  /** Occupied slots by account. */
  held: ReadonlyMap<number, number>;
  /** How many of them have runs that pulses asked for; absent if the monitor has no pulses. */
  asked?: number;
}

/**
 * Claims connections for the free slots of a monitor, so that no account makes another one wait: a check of a
 * database that does not answer takes 20 s. One account gets at most half of the slots. If no other account needs
 * them, it gets more, but a quarter stays free for connections that become due next. A single account gets all slots.
 *
 * A run that a pulse asked for comes before all that are due, because somebody waits for its message. Other runs leave a slot
 * free for it, so that it does not wait either while all the others hang. A quarter of the slots is never given to such runs, and an account gets
 * as many as leave a quarter to others: so they delay nobody's ordinary runs.
 */
export async function claimFairly(
  writer: pg.Pool,
  claimant: string,
  { concurrency, held: before, asked }: Places,
): Promise<ClaimedConnection[]> {
  const held = new Map(before);
  const claimed: ClaimedConnection[] = [];
  const free = () => concurrency - [...held.values()].reduce((sum, runs) => sum + runs, 0);
  const claim = async (each: number, places: () => number, isOnlyAsked = false) => {
    while (places() > 0) {
      const more = await claimDueConnections(writer, claimant, places(), { held, each, isOnlyAsked });
      for (const { accountId } of more) held.set(accountId, (held.get(accountId) ?? 0) + 1);
      claimed.push(...more);
      if (more.length === 0) return;
    }
  };
  const half = Math.ceil(concurrency / 2);
  const quarter = concurrency > 1 ? Math.max(1, Math.floor(concurrency / 4)) : 0;
  const reserve = asked !== undefined && concurrency >= 4 ? 1 : 0;
  const isAlone = async (most: number) =>
    free() > 0 && [...held.values()].some((runs) => runs >= most) && !(await areSeveralAccounts(writer));
  const ordinary = () => free() - reserve;
  try {
    if (asked !== undefined) {
      const most = concurrency - quarter;
      const places = () => Math.min(free(), most - asked - claimed.length);
      await claim(most, places, true);
      if (await isAlone(most)) await claim(concurrency, places, true);
    }
    // Accounts without a running check come first, however long others have waited.
    await claim(1, ordinary);
    if (held.size > 0) await claim(half, ordinary);
    const wants = [...held.values()].some((runs) => runs >= half);
    if (wants) await claim(concurrency, () => ordinary() - quarter);
    if (wants && (await isAlone(half))) await claim(concurrency, ordinary);
  } catch (error) {
    // Run what is already claimed: no other monitor would until the claims expire.
    if (claimed.length === 0) throw error;
  }
  return claimed;
}
