import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from '../fault.ts';
import { quantile } from '../load.ts';
import { onStreamStage, type StreamStage } from './stream-stage.ts';

const GOOD = 12;
const SLOW = 4;
const DEAD = 4;
const EVERY_MS = 250;

/** A lag below this is noise: streams are looked at once a second while all have caught up. */
const NOISE_MS = 3_000;

/** Twenty streams of one account, of which four are slow and four are dead. */
export const streamNeighbours: Fault = {
  fault: 'four slow and four dead receivers among 20 log streams of an account',
  figure: 'the other 12: every entry, and the median of their p99 lags at most a quarter longer',
  provoke: (extent: Extent) =>
    onStreamStage(async (stage) => {
      const seconds = extent === 'short' ? 15 : 120;
      const paths = named('good', GOOD);
      for (const path of paths) await stage.stream(path);
      const alone = await measureLags(stage, paths, seconds);
      for (const path of [...named('slow', SLOW), ...named('dead', DEAD)]) await stage.stream(path);
      await wait(2_000); // they have begun a batch
      const beside = await measureLags(stage, paths, seconds);
      return new Seen()
        .none(alone.missing + beside.missing, 'entries missing')
        .atMost(
          beside.lag,
          Math.max(1.25 * alone.lag, NOISE_MS),
          `lag ${Math.round(alone.lag)} ms, beside them`,
          ' ms',
        );
    }),
};

const named = (name: string, count: number) => Array.from({ length: count }, (_, n) => `/${name}-${n}`);

/** Writes an entry every 250 ms. Returns the median of the streams' p99 lags, and how many entries did not come within 15 s. */
async function measureLags(stage: StreamStage, paths: readonly string[], seconds: number) {
  const written = new Map<number, number>();
  for (let n = 0; n < (seconds * 1_000) / EVERY_MS; n += 1) {
    await stage.write(1);
    written.set(await stage.newest(), Date.now());
    await wait(EVERY_MS);
  }
  const last = Math.max(...written.keys());
  await Promise.all(paths.map((path) => stage.reaches(path, last, 15)));
  let missing = 0;
  const p99s = paths.map((path) => {
    const { first } = stage.receiver.of(path);
    const lags = [...written].map(([id, at]) => (first.get(id) ?? Number.NaN) - at);
    missing += lags.filter(Number.isNaN).length;
    return quantile(
      lags.filter((lag) => !Number.isNaN(lag)),
      0.99,
    );
  });
  return { missing, lag: quantile(p99s, 0.5) };
}
