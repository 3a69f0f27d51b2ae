import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from './fault.ts';
import { judge } from './judge.ts';
import { onStage } from './stage.ts';
import { resident } from './store-hangs.ts';

const MOST_MIB = 256;

// The allowed growth of resident memory after the warm-up, in MiB: the time of V8's garbage collection varies.
const DRIFT_MIB = 16;

const SECONDS: Record<Extent, number> = { short: 60, whole: 180, soak: 3_600 };

/** A steady load. Compares memory between the second and the last third of the time. */
export const soak: Fault = {
  fault: 'soak (1 h apart, 3 minutes in the whole run)',
  figure: 'resident memory flat after warm-up, within 256 MiB',
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const service = await stage.instance();
      const load = stage.load({ origin: () => service.origin, width: 8, pauseMs: 20 });
      const samples: number[] = [];
      for (let second = 0; second < SECONDS[extent]; second += 1) {
        await wait(1_000);
        samples.push(resident(service.pid));
        // Discards old answers, which would only fill this process's memory.
        if (load.answers.length > 50_000) load.answers.splice(0, 25_000);
      }
      await load.stop();
      const third = Math.floor(samples.length / 3);
      const [middle, last] = [median(samples.slice(third, 2 * third)), median(samples.slice(2 * third))];
      const { missing, twice, outOfOrder } = await judge(stage, load.answers);
      return new Seen()
        .atLeast(SECONDS[extent], SECONDS[extent], 'seconds', ' s')
        .atMost(Math.max(...samples), MOST_MIB, 'resident at most', ' MiB')
        .atMost(
          last - middle,
          DRIFT_MIB,
          `${Math.round(middle)} MiB in the second third, in the last more by`,
          ' MiB',
        )
        .none(load.odd.length + load.broken, 'odd or broken off')
        .none(load.answers.filter(({ status }) => status !== 200).length, 'other than 200')
        .none(missing + twice + outOfOrder, 'missing, duplicates or out of order');
    }),
};

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
