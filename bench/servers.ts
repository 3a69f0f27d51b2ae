import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SHIPPED_FLAGS } from '../test/support/shipped-flags.ts';
import { EMPTY_FOLDER } from './empty-folder.ts';

/** A server that the benchmark started. */
export interface Server {
  pid: number;
  port: number;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** The built program, which the package and the image run. */
const PROGRAM = join(root, 'dist/src/dbvitals.js');
const children = new Set<ChildProcess>();
const folders: string[] = [];

/** Builds the program that is measured. A checkout takes 25 MB more, because Node strips its types. */
export function buildProgram(): void {
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['--project', 'tsconfig.build.json'], { cwd: root });
  execFileSync(process.execPath, ['src/config/write-build-version.ts'], { cwd: root });
}

/** An empty data folder; {@link removeDataDirs} removes it. */
export function makeDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-bench-'));
  folders.push(folder);
  return folder;
}

/**
 * Starts the service with the flags of the package's command, without the monitor; `flags` are more flags for Node, `program` is that
 * of another checkout.
 */
export function startService(
  dataDir: string,
  flags: readonly string[] = [],
  program = PROGRAM,
): Promise<Server> {
  return startServer([...SHIPPED_FLAGS, ...flags, program, 'serve', '--no-monitor'], { dataDir });
}

/** Starts a server of `bench/` with `input` on its standard input. */
export function startRival(command: string[], given: { dataDir?: string; input?: Buffer }): Promise<Server> {
  return startServer([join(root, 'bench', command[0] ?? ''), ...command.slice(1)], given);
}

/** Runs a `dbvitals` command and waits for it. Throws when it fails. */
export async function runCommand(dataDir: string, command: string[]): Promise<void> {
  const child = startNode([...SHIPPED_FLAGS, PROGRAM, ...command], dataDir);
  child.stdout?.resume();
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`dbvitals ${command.join(' ')} failed.`);
}

/** Stops all started servers, the last one first. */
export async function stopServers(): Promise<void> {
  for (const child of [...children].reverse()) await stop(child);
}

/** Removes the data folders. No server may be running on them. */
export function removeDataDirs(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

function startNode(command: string[], dataDir = ''): ChildProcess {
  const child = spawn(process.execPath, command, {
    cwd: EMPTY_FOLDER,
    env: {
      PATH: process.env['PATH'],
      DBVITALS_DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'warn',
      DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

async function startServer(
  command: string[],
  { dataDir, input }: { dataDir?: string; input?: Buffer },
): Promise<Server> {
  const child = startNode(command, dataDir);
  child.stdin?.end(input);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let said = '';
  child.stdout?.on('data', (text) => {
    said += text;
    const port = /ready on http:\/\/[^:]+:(\d+)/.exec(said)?.[1];
    if (port !== undefined) resolve(Number(port));
  });
  child.once('exit', () => reject(new Error(`${command.join(' ')} did not start.`)));
  return { port: await promise, pid: child.pid ?? 0, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
