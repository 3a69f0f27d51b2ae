/** How many requests a process sends at a time. */
export const SLOTS = 128;

/** How many of them go to one destination, and to one whose last attempt failed: it may hang for 15 s. */
export const SLOTS_OF_DESTINATION = 10;
const SLOTS_OF_FAILING = 2;

/** A destination with due deliveries, as {@link shareSlots} sees it. */
export interface Contender {
  accountId: number;
  destinationId: number;
  /** Whether its last attempt failed. */
  isFailing: boolean;
  /** How many requests it could get now. */
  wants: number;
}

/** The occupied slots of a process, by account and by destination. */
export interface HeldSlots {
  accounts: ReadonlyMap<number, number>;
  destinations: ReadonlyMap<number, number>;
}

/** The most slots that the destination may have. */
export function mostSlots({ isFailing }: Pick<Contender, 'isFailing'>): number {
  return isFailing ? SLOTS_OF_FAILING : SLOTS_OF_DESTINATION;
}

/**
 * Distributes the free slots: one at a time, to the account with the fewest, and within it to the destination with the
 * fewest. An account gets at most half of all slots while others wait. If none does, a quarter stays free for those that
 * come next. Returns the number of slots by destination, without those that get none.
 */
export function shareSlots(
  contenders: readonly Contender[],
  held: HeldSlots,
  slots = SLOTS,
): Map<number, number> {
  const accounts = new Map(held.accounts);
  const destinations = new Map(held.destinations);
  const given = new Map<number, number>();
  const isAlone = new Set(contenders.map(({ accountId }) => accountId)).size === 1;
  const mostOfAccount = isAlone ? Math.ceil((slots * 3) / 4) : Math.ceil(slots / 2);
  let free = slots - [...held.accounts.values()].reduce((sum, count) => sum + count, 0);
  let open = [...contenders];
  while (free > 0) {
    open = open.filter(
      (each) =>
        (given.get(each.destinationId) ?? 0) < each.wants &&
        (destinations.get(each.destinationId) ?? 0) < mostSlots(each) &&
        (accounts.get(each.accountId) ?? 0) < mostOfAccount,
    );
    const [first, ...others] = open;
    if (first === undefined) break;
    const heldBy = (each: Contender) =>
      (accounts.get(each.accountId) ?? 0) * slots + (destinations.get(each.destinationId) ?? 0);
    const { accountId, destinationId } = others.reduce(
      (least, each) => (heldBy(each) < heldBy(least) ? each : least),
      first,
    );
    for (const [map, id] of [
      [accounts, accountId],
      [destinations, destinationId],
      [given, destinationId],
    ] as const)
      map.set(id, (map.get(id) ?? 0) + 1);
    free -= 1;
  }
  return given;
}
