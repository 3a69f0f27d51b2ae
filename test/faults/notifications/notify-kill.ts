import { setTimeout as wait } from 'node:timers/promises';
import type { Extent, Fault } from '../fault.ts';
import { judgeDeliveries } from './judge-deliveries.ts';
import { onNotifiedStage } from './notified-stage.ts';

const DESTINATIONS = 20;
// A lease lasts 30 s.
const SETTLE_S = 90;

/** Repeated kill -9 of the service while it sends. */
export const notifyKill: Fault = {
  fault: 'kill -9 of the service amid deliveries',
  figure:
    '20 kills, 10,000 deliveries: every event accepted at least once, duplicates with the same webhook-id, sequences without a gap, exactly one entry each',
  provoke: (extent: Extent) =>
    onNotifiedStage(async (stage) => {
      const [kills, wanted] = extent === 'short' ? [3, 600] : [20, 10_000];
      const destinations = await stage.destinations(4, DESTINATIONS / 4);
      const { got } = stage.receiver;
      const each = wanted / DESTINATIONS;
      for (const destination of destinations) await stage.queue(destination, each);
      for (let kill = 1; kill <= kills; kill += 1) {
        const enough = (wanted * kill) / (kills + 1);
        // What a killed service had leased comes 30 s later, so the last part may take that long.
        for (const until = Date.now() + 60_000; got.length < enough && Date.now() < until; ) await wait(5);
        await wait(17 * (kill % 5)); // at a varying point of a round
        await stage.service.stop('SIGKILL');
        await stage.restart();
      }
      const isSettled = await stage.settled(SETTLE_S);
      const seen = await judgeDeliveries(stage, wanted);
      return seen.atLeast(kills, kills, 'kills').holds(`settled within ${SETTLE_S} s`, isSettled);
    }),
};
