import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from '../fault.ts';
import { quantile } from '../load.ts';
import { type NotifiedStage, onNotifiedStage, type StagedDestination } from './notified-stage.ts';

const PER_SECOND = 100;
// Each stores one run after the other, as a monitor does. A destination always has the same one.
const WRITERS = 10;
const PATIENCE_S = 10;

/** The time from commit to first attempt at the rate that the specification names. */
export const notifyRate: Fault = {
  fault: '100 events/s over 20 destinations',
  figure: 'p99 from commit to first attempt below 1 s',
  provoke: (extent: Extent) =>
    onNotifiedStage(async (stage) => {
      const seconds = extent === 'short' ? 20 : 120;
      const destinations = await stage.destinations(4, 5);
      await injectSteadily(stage, destinations, 5, PER_SECOND); // the child that sends starts with the first
      const began = performance.now();
      const waits = await injectSteadily(stage, destinations, seconds, PER_SECOND);
      const took = (performance.now() - began) / 1_000 - PATIENCE_S;
      return new Seen()
        .atLeast(waits.length, seconds * PER_SECOND, 'events')
        .atMost(took, seconds * 1.05, 'injected in', ' s')
        .none(waits.filter(Number.isNaN).length, 'lost')
        .atMost(quantile(waits, 0.5), 1_000, 'median', ' ms')
        .atMost(quantile(waits, 0.99), 1_000, 'p99', ' ms');
    }),
};

/**
 * Injects events one by one for the destinations in turn. Returns the milliseconds from the commit of each to its first
 * attempt, in the order of the commits; NaN for one that did not come within 10 s.
 */
export async function injectSteadily(
  stage: NotifiedStage,
  destinations: readonly StagedDestination[],
  seconds: number,
  perSecond: number,
): Promise<number[]> {
  const began = performance.now();
  const times: { at: number; destination: StagedDestination }[] = [];
  const inject = async (_: unknown, writer: number) => {
    for (let n = writer; n < seconds * perSecond; n += WRITERS) {
      const destination = destinations[n % destinations.length];
      if (destination === undefined) break;
      await wait(Math.max(0, began + (n * 1_000) / perSecond - performance.now()));
      await stage.queue(destination, 1);
      times.push({ at: performance.now(), destination });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, inject));
  await wait(1_000 * PATIENCE_S);
  // The n-th commit of a destination has its n-th number.
  const { first, got } = stage.receiver;
  const ids = await stage.query<{ destination_id: number; event_id: string }>(
    `select destination_id, event_id from delivery where destination_id = any($1) order by destination_id, sequence desc`,
    [destinations.map(({ id }) => id)],
  );
  const newest = Map.groupBy(ids, ({ destination_id }) => destination_id);
  const commits = Map.groupBy(times, ({ destination }) => destination.id);
  got.splice(0);
  const waits = [...commits].flatMap(([id, of]) => {
    const events = (newest.get(id) ?? []).slice(0, of.length).toReversed();
    return of.map(({ at }, n) => ({ at, ms: (first.get(events[n]?.event_id ?? '') ?? Number.NaN) - at }));
  });
  return waits.toSorted((one, other) => one.at - other.at).map(({ ms }) => Math.max(0, ms));
}
