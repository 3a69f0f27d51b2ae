import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from '../fault.ts';
import { resident } from '../store-hangs.ts';
import { onNotifiedStage } from './notified-stage.ts';

const PER_SECOND = 33;
// As the soak allows.
const MOST_MIB = 256;
const DRIFT_MIB = 16;

/** The health checks of 10,000 connections every 5 minutes, for an hour. */
export const notifyHour: Fault = {
  fault: '33 health_check.completed a second, for an hour',
  figure: 'none dropped, resident memory flat',
  provoke: (extent: Extent) =>
    onNotifiedStage(async (stage) => {
      const seconds = extent === 'short' ? 60 : 3_600;
      const [destination] = await stage.destinations(1, 1);
      if (!destination) throw new Error('There is no destination.');
      const samples: number[] = [];
      const began = performance.now();
      let received = 0;
      for (let second = 0; second < seconds; second += 1) {
        for (let n = 0; n < PER_SECOND; n += 1) {
          const due = began + second * 1_000 + (n * 1_000) / PER_SECOND;
          await wait(Math.max(0, due - performance.now()));
          await stage.queue(destination, 1, 'health_check.completed');
        }
        samples.push(resident(stage.service.pid));
        received += stage.receiver.got.splice(0).length;
        stage.receiver.first.clear(); // which would only fill this process's memory
      }
      const isSettled = await stage.settled(60);
      received += stage.receiver.got.splice(0).length;
      const [queue] = await stage.query<{ dropped: number; last_sequence: number }>(
        'select dropped, last_sequence from destination_queue',
      );
      const third = Math.floor(samples.length / 3);
      const [middle, last] = [median(samples.slice(third, 2 * third)), median(samples.slice(2 * third))];
      return new Seen()
        .atLeast(received, seconds * PER_SECOND, 'received')
        .none(queue?.dropped ?? -1, 'dropped')
        .holds('nothing left queued', isSettled)
        .atMost((performance.now() - began) / 1_000, seconds + 70, 'seconds', ' s')
        .atMost(Math.max(...samples), MOST_MIB, 'resident at most', ' MiB')
        .atMost(
          last - middle,
          DRIFT_MIB,
          `${Math.round(middle)} MiB in the second third, in the last more by`,
          ' MiB',
        );
    }),
};

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
