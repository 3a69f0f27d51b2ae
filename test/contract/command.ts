import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { expect, inject } from 'vitest';
import { COMPILED, type Environment, MAIN, startProcess } from './running-service.ts';

/** How a command ended. */
export interface Outcome {
  exit: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `dbvitals …` to its end, on the run's store unless `environment` names another. */
export async function command(
  args: string[],
  options: { environment?: Environment; input?: string } = {},
): Promise<Outcome> {
  const { child, ended } = startProcess(
    args,
    options.environment ?? inject('environment'),
    options.input ?? '',
  );
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
export async function commandJson<T>(
  args: string[],
  options: { environment?: Environment; input?: string } = {},
): Promise<T> {
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
  const { PATH = '' } = process.env;
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    env: { PATH, NODE_COMPILE_CACHE: COMPILED, ...environment },
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  return { status, stderr };
}
