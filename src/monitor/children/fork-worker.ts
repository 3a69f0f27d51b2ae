import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { childEnvironment } from '../../platform/network/child-environment.ts';

const HEAP_MB = 128;

/**
 * Starts a child process that talks to watched servers, with little memory and no variable of this process. `worker` is its
 * file's path below `monitor/`, without extension. Its standard error is a pipe if `keepsOutput` (default: false). `semiSpaceMb` is V8's
 * space for new objects (default: 1).
 */
export function forkWorker(
  worker: string,
  { keepsOutput = false, semiSpaceMb = 1 }: { keepsOutput?: boolean; semiSpaceMb?: number } = {},
): ChildProcess {
  return fork(join(import.meta.dirname, '..', `${worker}${extname(import.meta.filename)}`), {
    execArgv: [
      `--max-old-space-size=${HEAP_MB}`,
      '--v8-pool-size=1',
      `--min-semi-space-size=${semiSpaceMb}`,
      `--max-semi-space-size=${semiSpaceMb}`,
      '--use-system-ca',
      '--no-warnings',
    ],
    env: { ...childEnvironment(), NODE_COMPILE_CACHE: compileCache() },
    stdio: ['ignore', 'ignore', keepsOutput ? 'pipe' : 'ignore', 'ipc'],
  });
}

/** Whether a child of this process was started before, which compiled the code for the others. */
export function hasCompileCache(): boolean {
  return cache !== null;
}

let cache: string | null = null;

// The compile cache of this process if it has one, or else a private folder: in a shared folder, another user could
// plant code that would run here.
function compileCache(): string {
  cache ??= process.env['NODE_COMPILE_CACHE'] || ownFolder();
  return cache;
}

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-cache-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
