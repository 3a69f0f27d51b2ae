import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** A client that runs in the background. */
export interface Program {
  /** Its output so far. */
  output(): string;
  stop(): Promise<void>;
}

/** Starts a client with a minimal environment plus the given variables. */
export function startProgram(
  path: string,
  args: string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Program {
  const { PATH = '' } = process.env;
  const child = spawn(path, args, {
    cwd,
    env: { PATH, HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'close');
  process.once('exit', () => child.kill('SIGKILL')); // when the run is interrupted
  return {
    output: () => output,
    stop: async () => {
      child.kill('SIGTERM');
      const killed = sleep(10_000, undefined, { ref: false }).then(() => child.kill('SIGKILL'));
      await Promise.race([ended, killed]);
    },
  };
}

/** Polls every 250 ms until there is a result; undefined after `seconds`. */
export async function eventually<T>(
  look: () => T | undefined | Promise<T | undefined>,
  seconds: number,
): Promise<T | undefined> {
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(250);
  }
  return undefined;
}
