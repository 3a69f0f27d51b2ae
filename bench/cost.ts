import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serverPid } from '../src/store/server.ts';

// Linux always reports processor time in hundredths of a second.
const TICKS = 100;

/** A process's processor time so far, in seconds; `withEnded` adds its ended children. */
export function cpuSeconds(pid: number, withEnded = false): number {
  const fields = statOf(pid);
  const ticks = Number(fields[11]) + Number(fields[12]);
  return (withEnded ? ticks + Number(fields[13]) + Number(fields[14]) : ticks) / TICKS;
}

/** The process id of the PostgreSQL whose files are in a folder; throws when none runs. */
export function postmasterOf(folder: string): number {
  const pid = serverPid(folder);
  if (pid === null) throw new Error(`No PostgreSQL runs in ${folder}.`);
  return pid;
}

/** The process id of a data folder's embedded PostgreSQL; throws when none runs. */
export function postgresOf(dataDir: string): number {
  return postmasterOf(join(dataDir, 'postgres'));
}

/** The processor time of all processes of a server so far, in seconds: its main process, and those that it started. */
export function serverSeconds(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(statOf(Number(name))[1]) === pid)
    .map((name) => cpuSeconds(Number(name)));
  return children.reduce((sum, seconds) => sum + seconds, cpuSeconds(pid, true));
}

/** A process's current and peak resident memory, in MB. */
export function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (field: RegExp) => (Number(field.exec(status)?.[1]) * 1024) / 1e6;
  return { now: megabytes(/VmRSS:\s+(\d+)/), peak: megabytes(/VmHWM:\s+(\d+)/) };
}

/** The fields of /proc/PID/stat after the name, starting with the state; zeros when the process has ended. */
function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  } catch {
    return new Array(15).fill('0');
  }
}
