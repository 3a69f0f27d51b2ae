import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from './fault.ts';
import { judge } from './judge.ts';
import type { Load } from './load.ts';
import { startProxy } from './proxy.ts';
import { onStage, type Stage } from './stage.ts';
import { LONGEST_ANSWER_MS, longest, served } from './store-ends.ts';

// The memory that waiting requests may use, in MiB, including garbage that is not collected yet.
const ROOM_TO_WAIT = 48;

/** Another session locks a table, so the gate waits. */
export const slowStore: Fault = {
  fault: 'PostgreSQL slow (`lock table activity` for 30 s)',
  figure: '500 within 2 s each; memory flat; recovered within 1 s',
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const load = stage.load({ width: 64, pauseMs: 5 });
      const locker = await stage.superuser();
      return endure(stage, load, stage.service.pid, extent, 1, async (hold) => {
        await locker.query('begin');
        await locker.query('lock table activity');
        await hold();
        await locker.query('rollback');
      });
    }),
};

/** A network that loses every packet between service and store. */
export const blackHole: Fault = {
  fault: 'black hole to PostgreSQL',
  figure: '500 within 2 s each; memory flat; healed within 5 s',
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const proxy = await startProxy(join(stage.storeFolder, '.s.PGSQL.5432'));
      try {
        const service = await stage.instance({ DATABASE_URL: stage.storeUrl('127.0.0.1', proxy.port) });
        const load = stage.load({ origin: () => service.origin, width: 64, pauseMs: 5 });
        return await endure(stage, load, service.pid, extent, 5, async (hold) => {
          proxy.swallow();
          await hold();
          proxy.heal();
        });
      } finally {
        proxy.heal();
        await proxy.close();
      }
    }),
};

async function endure(
  stage: Stage,
  load: Load,
  pid: number,
  extent: Extent,
  recovered: number,
  hang: (hold: () => Promise<void>) => Promise<void>,
): Promise<Seen> {
  const seconds = extent === 'short' ? 10 : 30;
  await served(load, performance.now(), 5_000 / 5);
  const before = resident(pid);
  let most = before;
  let begun = 0;
  let healed = 0;
  await hang(async () => {
    begun = performance.now();
    for (let tick = 0; tick < seconds * 5; tick += 1) {
      await wait(200);
      most = Math.max(most, resident(pid));
    }
    healed = performance.now();
  });
  const again = (await served(load, healed - LONGEST_ANSWER_MS, 1)) - healed;
  await served(load, performance.now(), 100);
  await load.stop();
  const meanwhile = load.answers.filter(({ started }) => started > begun + 500 && started < healed - 2_500);
  const { missing, twice, outOfOrder } = await judge(stage, load.answers);
  return new Seen()
    .atLeast(meanwhile.length, 64 * 2, `in ${seconds} s answers`)
    .none(meanwhile.filter(({ status }) => status !== 500).length, 'other than 500')
    .atMost(longest(load), LONGEST_ANSWER_MS / 1_000, 'slowest', ' s')
    .atMost(most - before, ROOM_TO_WAIT, 'resident memory grew by', ' MiB')
    .atMost(again / 1_000, recovered, 'recovered after', ' s')
    .none(load.odd.length + load.broken, 'odd or broken off')
    .none(missing, 'missing')
    .none(twice + outOfOrder, 'duplicates or out of order');
}

/** Resident memory of a process in MiB. */
export function resident(pid: number): number {
  const [, kib = 'NaN'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1_024;
}
