import { readFileSync } from 'node:fs';

const TICKS_A_SECOND = 100; // of /proc, on every Linux

/** The processor time of a server since its start, with that of its child processes. */
export function cpuSeconds(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Number);
  return [String(pid), ...children].reduce((sum, each) => sum + ownSeconds(each), 0);
}

/** Of a process, and of its children that ended. */
function ownSeconds(pid: string): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND;
  } catch {
    return 0; // it ended meanwhile, and its parent has its time
  }
}
