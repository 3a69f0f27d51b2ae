import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Extent, Fault } from '../fault.ts';
import { judgeDeliveries } from './judge-deliveries.ts';
import { type NotifiedStage, onNotifiedStage } from './notified-stage.ts';

const SETTLE_S = 120;

/** kill -9 of PostgreSQL while the service sends, and a store whose disk is full for a while. */
export const notifyStore: Fault = {
  fault: 'kill -9 of the store amid deliveries, and a full disk',
  figure: 'nothing lost, duplicates with the same webhook-id, exactly one entry each',
  async provoke(extent: Extent) {
    const folder = mkdtempSync(join(tmpdir(), 'dbvitals-full-'));
    // Only this run sees the mount, because run.ts has its own mount namespace.
    run('mount', '-t', 'tmpfs', '-o', 'size=400m,mode=711', 'tmpfs', folder);
    try {
      return await onNotifiedStage(async (stage) => {
        const [times, wanted] = extent === 'short' ? [2, 400] : [8, 4_000];
        const destinations = await stage.destinations(2, 4);
        const each = wanted / destinations.length;
        for (const destination of destinations) await stage.queue(destination, each);
        const { got } = stage.receiver;
        for (let time = 1; time <= times; time += 1) {
          const enough = (wanted * time) / (times + 2);
          for (const until = Date.now() + 60_000; got.length < enough && Date.now() < until; ) await wait(5);
          process.kill(postmaster(stage), 'SIGKILL');
          await wait(500);
        }
        await fill(folder);
        await wait(3_000);
        await fill(folder); // fills space that was freed in the meantime
        await wait(3_000);
        rmSync(join(folder, 'ballast'), { recursive: true });
        const isSettled = await stage.settled(SETTLE_S);
        const seen = await judgeDeliveries(stage, wanted);
        return seen.atLeast(times, times, 'kills').holds(`settled within ${SETTLE_S} s`, isSettled);
      }, folder);
    } finally {
      run('umount', folder);
      rmSync(folder, { recursive: true });
    }
  },
};

function postmaster({ storeFolder }: NotifiedStage): number {
  return Number(readFileSync(join(storeFolder, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

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
