import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/**
 * The memory of a process and its descendants, in MB. PSS counts a shared page only once. Anonymous memory is what no file of the disk
 * backs: what a control group has without the file cache, but for the kernel's part.
 */
export function memoryOf(pid: number): { pss: number; rss: number; anonymous: number; processes: number } {
  const pids = descendantsOf(pid);
  const sum = { pss: 0, rss: 0, anonymous: 0, processes: pids.size };
  for (const each of pids) {
    const text = read(`/proc/${each}/smaps_rollup`);
    sum.pss += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
    sum.anonymous += Number(/^Anonymous:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
    sum.rss += Number(/^Rss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
  }
  return sum;
}

/** A process and its descendants. */
export function descendantsOf(pid: number): ReadonlySet<number> {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const [, parent] = /\) \S (\d+)/.exec(read(`/proc/${name}/stat`)) ?? [];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const pids = new Set([pid]);
  for (let grown = true; grown; ) {
    const size = pids.size;
    for (const [child, parent] of parents) if (pids.has(parent)) pids.add(child);
    grown = pids.size > size;
  }
  return pids;
}

/** '' when the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The time of all processors since boot, in milliseconds. */
export function cpuTimes(): { idle: number; all: number } {
  const times = cpus().map(({ times }) => times);
  return {
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    all: times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0),
  };
}

/** The processor utilization since `before`, in %. */
export function busyShare(before: { idle: number; all: number }): number {
  const now = cpuTimes();
  return 100 * (1 - (now.idle - before.idle) / (now.all - before.all));
}
