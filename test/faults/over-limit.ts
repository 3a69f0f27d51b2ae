import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from './fault.ts';
import { ask, during } from './flooded.ts';
import { judge } from './judge.ts';
import { FLEET, quantile, startLoad } from './load.ts';
import { onStage, type Stage } from './stage.ts';
import { LONGEST_ANSWER_MS } from './store-ends.ts';

const LIMIT = 30;

/** The entries per second that one key can add after its burst of 1,500 (docs/decisions/0007). */
const PACE = 50;
const BURST_MS = 4_000;

// One load whose requests all get a turn at the lowest pace, and one that is larger: none of its requests waits longer than LONGEST_WAIT_S.
const [FEW, MANY] = [50, 300];
const LONGEST_WAIT_S = 5;

/** One key sends requests as fast as possible for hours. Each answer adds an entry to the log. */
export const overLimit: Fault = {
  fault: 'one key far over its limit',
  figure: `the log grows by at most ${PACE} entries a second beside the limit; only 200 and 429, each in the log; others unhurt`,
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const greedy = await stage.account('--requests-per-minute', `${LIMIT}`);
      const { origin } = stage.service;
      const alone = await ask(origin + FLEET, stage.key, during(3));
      const few = await far(stage, greedy, FEW, extent === 'short' ? 20 : 480);
      const many = await far(stage, greedy, MANY, extent === 'short' ? 8 : 120);
      // Measured again, so that a machine that became busy does not count as harm to others.
      const after = await ask(origin + FLEET, stage.key, during(3));
      const median = Math.max(quantile(alone, 0.5), quantile(after, 0.5));
      const answers = [...few.answers, ...many.answers];
      const { missing, twice, outOfOrder } = await judge(stage, answers);
      const others = [...few.others, ...many.others];
      const [slowest] = answers.map(({ ms }) => ms).toSorted((a, b) => b - a);
      return new Seen()
        .atMost(few.rate, 1.05 * PACE + LIMIT / 60, `${FEW} connections: entries a second`)
        .atLeast(few.rate, PACE / 2, 'and')
        .none(
          answers.filter(({ status }) => status !== 200 && status !== 429).length,
          `of ${answers.length} other than 200 and 429`,
        )
        .atMost(
          many.rate,
          1.05 * (MANY / LONGEST_WAIT_S) + LIMIT / 60,
          `${MANY} connections: entries a second`,
        )
        .atMost((slowest ?? 0) / 1_000, LONGEST_WAIT_S + LONGEST_ANSWER_MS / 1_000, 'slowest answer', ' s')
        .none(few.broken + many.broken, 'broken off')
        .none(missing + twice + outOfOrder, 'missing, duplicates or out of order')
        .none(others.filter(Number.isNaN).length, `of ${others.length} of others failed`)
        .atMost(quantile(others, 0.5), 2 * median + 5, `their median ${Math.round(median)} ms →`, ' ms');
    }),
};

/** Sends requests with one key on several connections. The rate is that of entries after the burst. */
async function far(
  stage: Stage,
  { key, keyId }: { key: string; keyId: number },
  width: number,
  seconds: number,
) {
  const entries = async () => {
    const text = 'select count(*)::int as count from activity where api_key_id = $1';
    const [row] = await stage.query<{ count: number }>(text, [keyId]);
    return row?.count ?? 0;
  };
  const { origin } = stage.service;
  const load = startLoad(key, () => origin, { width, pauseMs: 0, paths: [FLEET] });
  const asking = ask(origin + FLEET, stage.key, during(seconds));
  await wait(BURST_MS);
  const [from, began] = [await entries(), performance.now()];
  const others = await asking;
  const rate = ((await entries()) - from) / ((performance.now() - began) / 1_000);
  await load.stop();
  return { answers: load.answers, broken: load.broken, others, rate };
}
