import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from './fault.ts';
import { judge } from './judge.ts';
import { setStage } from './stage.ts';
import { LONGEST_ANSWER_MS, longest, served } from './store-ends.ts';

/** The store's file system, with tables and WAL, fills up and later has space again. */
export const diskFull: Fault = {
  fault: 'disk full (a small tmpfs)',
  figure: '500s, then recovery unaided; missing 0',
  async provoke(extent: Extent) {
    const folder = mkdtempSync(join(tmpdir(), 'dbvitals-full-'));
    // Only this run sees the mount, because run.ts has its own mount namespace.
    run('mount', '-t', 'tmpfs', '-o', 'size=400m,mode=711', 'tmpfs', folder);
    try {
      const stage = await setStage({}, folder);
      try {
        const times = extent === 'short' ? 1 : 3;
        const load = stage.load({ width: 16, pauseMs: 1 });
        let [refused, slowest, wronglyReady] = [0, 0, 0];
        const ready = async () => (await fetch(`${stage.service.origin}/readyz`)).status === 200;
        for (let time = 0; time < times; time += 1) {
          await served(load, performance.now(), 300);
          const filled = performance.now();
          await fill(folder);
          const failed = () =>
            load.answers.filter(({ started, status }) => started > filled && status === 500).length;
          for (let ticks = 0; failed() === 0 && ticks < 600; ticks += 1) {
            await wait(100);
            await fill(folder); // fills space that was freed in the meantime
          }
          await wait(3_000);
          if (await ready()) wronglyReady += 1;
          refused += failed();
          const freed = performance.now();
          rmSync(join(folder, 'ballast'), { recursive: true });
          slowest = Math.max(slowest, (await served(load, freed, 1)) - freed);
        }
        await load.stop();
        const lines = stage.service.output().split('\n');
        const { missing, twice, outOfOrder } = await judge(stage, load.answers);
        return new Seen()
          .atLeast(refused, times, `in ${times} times 500s`)
          .none(load.odd.length + load.broken, 'other than 200 and 500')
          .atMost(longest(load), LONGEST_ANSWER_MS / 1_000, 'slowest answer', ' s')
          .none(wronglyReady, 'times ready while full')
          .atMost(slowest / 1_000, 30, 'well again after', ' s')
          .atMost(lines.filter((line) => line.includes('"level":50')).length, 5 * times, 'errors in the log')
          .none(missing, `of ${load.answers.length} answers missing`)
          .none(twice + outOfOrder, 'duplicates or out of order');
      } finally {
        await stage.stop();
      }
    } finally {
      run('umount', folder);
      rmSync(folder, { recursive: true });
    }
  },
};

let files = 0;

/** Fills the file system to the last block. */
async function fill(folder: string): Promise<void> {
  files += 1;
  const script = 'mkdir -p "$1/ballast" && cat /dev/zero > "$1/ballast/$2" 2>/dev/null';
  await once(spawn('sh', ['-c', script, 'sh', folder, `${files}`]), 'close');
}

function run(program: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} (as root, on Linux) is required: ${error ?? stderr}`);
}
