import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from './fault.ts';
import { judge } from './judge.ts';
import type { Load } from './load.ts';
import { onStage, type Stage } from './stage.ts';

/** The service's two seconds, plus the time for request and answer on a busy machine. */
export const LONGEST_ANSWER_MS = 2_500;

/** kill -9 of PostgreSQL: in turn the whole server, and the session that admits requests. */
export const killStore: Fault = {
  fault: 'kill -9 of PostgreSQL',
  figure: '10 times: missing 0; no request hangs over 2 s; serving again within 10 s',
  provoke: (extent: Extent) =>
    endAgain(extent === 'short' ? 4 : 10, async (stage, time) => {
      const admitting = `select pid from pg_stat_activity where application_name = 'dbvitals writer' limit 1`;
      const pid = time % 2 === 0 ? postmaster(stage) : Number((await stage.query(admitting))[0]?.['pid']);
      process.kill(pid, 'SIGKILL');
    }),
};

/** A stop as in `pg_ctl restart -m fast`; the service that holds the store restarts PostgreSQL. */
export const restartStore: Fault = {
  fault: 'restart of PostgreSQL under load (fast)',
  figure: 'only 200s and 500 envelopes; missing 0',
  provoke: (extent: Extent) =>
    endAgain(extent === 'short' ? 2 : 5, async (stage) => {
      process.kill(postmaster(stage), 'SIGINT');
    }),
};

function postmaster({ storeFolder }: Stage): number {
  return Number(readFileSync(join(storeFolder, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

function endAgain(times: number, end: (stage: Stage, time: number) => Promise<void>): Promise<Seen> {
  return onStage(async (stage) => {
    const load = stage.load({ width: 12, pauseMs: 2 });
    let slowest = 0;
    let refused = 0;
    for (let time = 0; time < times; time += 1) {
      await served(load, performance.now(), 100);
      const ended = performance.now();
      await end(stage, time);
      await wait(100);
      slowest = Math.max(slowest, (await served(load, performance.now(), 1)) - ended);
      refused += load.answers.filter(({ started, status }) => started > ended && status === 500).length;
    }
    await load.stop();
    const { missing, twice, outOfOrder } = await judge(stage, load.answers);
    return new Seen()
      .none(missing, `in ${times} times and ${load.answers.length} answers missing`)
      .none(twice, 'duplicates')
      .none(outOfOrder, 'out of order')
      .atLeast(refused, 1, '500s')
      .none(load.odd.length, 'other than 200 and 500')
      .none(load.broken, 'broken off')
      .atMost(longest(load), LONGEST_ANSWER_MS / 1_000, 'slowest answer', ' s')
      .atMost(slowest / 1_000, 10, 'serving again after', ' s');
  });
}

/** Waits for `count` answers of 200 to requests sent after an instant. Returns when the last request was sent. */
export async function served(load: Load, after: number, count: number): Promise<number> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await wait(10)) {
    const good = load.answers
      .slice(-2_000)
      .filter(({ started, status }) => status === 200 && started > after);
    const nth = good[count - 1];
    if (nth) return nth.started + nth.ms;
  }
  throw new Error(`The service gave no ${count} answers of 200 within a minute.`);
}

/** In seconds. */
export function longest({ answers }: Load): number {
  return answers.reduce((most, { ms }) => Math.max(most, ms), 0) / 1_000;
}
