import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { expect, inject } from 'vitest';
import { hostedCommand } from './fixture-command.ts';
import { bareEnvironment, commandFolder, type Environment, MAIN, startProcess } from './running-service.ts';

/** How a command ended. */
export interface Outcome {
  exit: number | null;
  stdout: string;
  stderr: string;
}

/** How a command runs. */
interface CommandOptions {
  /** Settings, and no other; by default those of the run's store. */
  environment?: Environment;
  input?: string;
  /** For commands that run at the same time, or that end a process. */
  ownProcess?: boolean;
}

/** Runs `dbvitals …` to its end. */
export async function command(
  args: string[],
  { environment = inject('environment'), input = '', ownProcess = false }: CommandOptions = {},
): Promise<Outcome> {
  if (!ownProcess) return hostedCommand(args, environment, input);
  const { child, ended } = startProcess(args, environment, input);
  const outcome = { stdout: '', stderr: '' };
  child.stdout?.on('data', (text: string) => {
    outcome.stdout += text;
  });
  child.stderr?.on('data', (text: string) => {
    outcome.stderr += text;
  });
  return { exit: await ended, ...outcome };
}

/** Runs a command that must succeed, with `--json`, and gives the one value that it printed. */
export async function commandJson<T>(args: string[], options: CommandOptions = {}): Promise<T> {
  const { exit, stdout, stderr } = await command([...args, '--json'], options);
  expect(exit, `dbvitals ${args.join(' ')}: ${stderr}`).toBe(0);
  return JSON.parse(stdout);
}

/** How a command must end whose standard output is a full disk. */
export const FULL_DEVICE = {
  status: 1,
  stderr: "error: Can't write to standard output (ENOSPC): the output is incomplete.\n",
};

/** Runs `dbvitals …` with a full disk as its standard output. */
export function intoFullDevice(args: string[], environment: Environment) {
  const folder = commandFolder();
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { ...bareEnvironment(folder), ...environment },
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  rmSync(folder, { recursive: true });
  return { status, stderr };
}
