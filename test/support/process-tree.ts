import { readdirSync, readFileSync } from 'node:fs';

/** A process that exists and is no zombie. */
export function isAlive(pid: number): boolean {
  return parentOf(pid) !== null;
}

/** Pauses processes and all their descendants. Returns all of them, the ancestors first. */
export function freeze(roots: readonly number[]): number[] {
  const found = [...roots];
  // A process that was paused starts no other, so the list ends.
  for (const pid of found) {
    send(pid, 'SIGSTOP');
    for (const child of childrenOf(pid)) if (!found.includes(child)) found.push(child);
  }
  return found;
}

/** Sends a signal to a process that may have ended. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The processes that a process started and that run. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((each) => parentOf(each) === pid);
}

/** Those of them that run a worker of this name, the oldest first. The process of a test file has other children too. */
export function findWorkers(pid: number, worker: string): number[] {
  return childrenOf(pid).filter((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, 'latin1').includes(worker);
    } catch {
      return false; // it ended
    }
  });
}

/** null = there is no such process. */
function parentOf(pid: number): number | null {
  if (!Number.isInteger(pid)) return null;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may contain blanks.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? null : Number(parent);
  } catch {
    return null;
  }
}
