import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { recordOutput } from '../support/secret-scan.ts';

/** Settings of a process of ours, over an otherwise bare environment. */
export type Environment = Record<string, string>;

/** A process of the real command. */
export interface Process {
  pid: number;
  /** Everything it printed so far. */
  output(): string;
  /** Resolves when it has printed what matches; rejects when it ended or `seconds` passed without. */
  says(pattern: RegExp, seconds?: number): Promise<RegExpExecArray>;
  /** Sends the signal; resolves to the exit code, null when a signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Resolves to the exit code. */
  ended: Promise<number | null>;
}

export interface Service extends Process {
  /** Such as http://127.0.0.1:40123; with DBVITALS_BASE_PATH that too. */
  origin: string;
}

/** The program. */
export const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Compiled code, kept from run to run: commands are started by the hundred, and each takes 0.16 s of a core instead of 0.43 s. */
export const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/dbvitals-tests', import.meta.url));

/** A new, empty folder of one command, outside the checkout: its .env and its data folder are never used, nor any file of the user. */
export function commandFolder(): string {
  return mkdtempSync(join(tmpdir(), 'dbvitals-command-'));
}

/**
 * What a command takes over from this machine: the programs. `folder` is its home, and takes its temporary files. Tests that
 * count runs or connections are not about pulses: those that are turn them on.
 */
export function bareEnvironment(folder: string): Environment {
  const { PATH = '' } = process.env;
  return { PATH, HOME: folder, TMPDIR: folder, NODE_COMPILE_CACHE: COMPILED, DBVITALS_PULSE: 'no' };
}

/**
 * Starts `dbvitals …` with these settings and no other, in a folder that is removed when it has ended. `input` is all that
 * it reads, an open pipe where not given; `flags` are Node's.
 */
export function startProcess(
  args: string[],
  environment: Environment,
  input?: string,
  flags: readonly string[] = [],
): Process & { child: ChildProcess } {
  const folder = commandFolder();
  const child = spawn(process.execPath, [...flags, MAIN, ...args], {
    cwd: folder,
    env: { ...bareEnvironment(folder), ...environment },
    stdio: 'pipe',
  });
  child.once('close', () => rmSync(folder, { recursive: true, force: true }));
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.once('close', () => recordOutput(args, environment, input ?? '', output));
  if (input !== undefined) child.stdin.end(input);

  const says = (pattern: RegExp, seconds = 120) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const settle = (failure?: string) => {
        const match = pattern.exec(output);
        if (!match && failure === undefined) return;
        listeners.delete(settle);
        clearTimeout(timer);
        if (match) resolve(match);
        else reject(new Error(`${failure} before it said ${pattern}. It said:\n${output}`));
      };
      const timer = setTimeout(() => settle(`${seconds} s passed`), seconds * 1_000);
      listeners.add(settle);
      void ended.then((code) => settle(`it ended with ${code}`));
      settle();
    });

  return {
    child,
    pid: child.pid ?? 0,
    output: () => output,
    says,
    ended,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs `dbvitals … --json` to its end and gives the value that it printed; throws with its words when it fails. */
export async function runJson<T>(args: string[], environment: Environment): Promise<T> {
  const { child, ended, output } = startProcess([...args, '--json'], environment);
  let printed = '';
  child.stdout?.on('data', (text: string) => {
    printed += text;
  });
  if ((await ended) !== 0) throw new Error(`dbvitals ${args.join(' ')}: ${output()}`);
  return JSON.parse(printed);
}

/** Starts `dbvitals serve` on a free port and waits until it is ready. */
export async function startService(
  environment: Environment,
  args: string[] = [],
  flags: readonly string[] = [],
): Promise<Service> {
  const settings = { PORT: '0', LOG_LEVEL: 'warn', ...environment };
  copyEmptyStore(settings);
  const service = startProcess(['serve', ...args], settings, undefined, flags);
  const [, origin = ''] = await service.says(/ready on (https?:\/\/\S+)/);
  return { ...service, origin };
}

// The run's template (test/support/run-setup.ts), in place of a store that is not there yet: to make one takes 1.7 s, to copy it 0.1.
export function copyEmptyStore({ DATABASE_URL, DBVITALS_DATA_DIR }: Environment): void {
  const template = process.env['DBVITALS_TEST_DATA'];
  if (!template || DATABASE_URL || !DBVITALS_DATA_DIR || existsSync(join(DBVITALS_DATA_DIR, 'postgres')))
    return;
  mkdirSync(DBVITALS_DATA_DIR, { recursive: true, mode: 0o711 });
  execFileSync('cp', ['-a', join(template, 'postgres'), DBVITALS_DATA_DIR]);
}

/** A new folder that the embedded server's own user may enter; its name holds a blank on purpose. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'dbvitals test-'));
  chmodSync(path, 0o711);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** How further services reach the embedded store of a data folder that a service runs. */
export function embeddedUrl(dataFolder: string): Environment {
  const socketFolder = join(dataFolder, 'postgres');
  const { owner } = JSON.parse(readFileSync(join(socketFolder, 'dbvitals.json'), 'utf8'));
  return {
    DATABASE_URL: `postgres://dbvitals_owner:${owner}@${encodeURIComponent(socketFolder)}/dbvitals`,
    DBVITALS_SECRET_KEY: readFileSync(join(dataFolder, 'secret.key'), 'utf8').trim(),
  };
}
