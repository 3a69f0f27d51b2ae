import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { recordOutput } from '../support/secret-scan.ts';
import { bareEnvironment, commandFolder, type Environment, MAIN } from './running-service.ts';

/** A command that the host runs. */
export interface HostedCommand {
  args: string[];
  environment: Environment;
  /** All that it reads from standard input. */
  input: string;
  /** Where it works. */
  folder: string;
}

/** How a hosted command ended. */
export interface HostedResult {
  exit: number;
  stdout: string;
  stderr: string;
}

let host: { child: ChildProcess; ended: AbortSignal } | undefined;
let previous: Promise<unknown> = Promise.resolve();

function startHost() {
  const child = fork(join(import.meta.dirname, 'command-host.ts'), [MAIN], {
    cwd: '/',
    env: bareEnvironment('/'),
    execArgv: [],
  });
  const ended = new AbortController();
  child.once('exit', (code) =>
    ended.abort(new Error(`the process of the fixtures' commands ended with ${code}`)),
  );
  child.unref();
  child.channel?.unref();
  return { child, ended: ended.signal };
}

async function runHosted(command: HostedCommand): Promise<HostedResult> {
  host ??= startHost();
  const { child, ended } = host;
  child.channel?.ref(); // so that the test file's own process waits for the answer
  const answer = once(child, 'message', { signal: ended });
  child.send(command);
  const [result] = await answer;
  child.channel?.unref();
  return result;
}

async function inFolder(args: string[], environment: Environment, input: string): Promise<HostedResult> {
  const folder = commandFolder();
  try {
    const all = { ...bareEnvironment(folder), ...environment };
    return await runHosted({ args, environment: all, input, folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs `dbvitals …` with these settings and no other. The commands of a test file run one after another in one process that
 * stays: each takes 0.03 s of a core, and in a process of its own 0.17 s.
 */
export async function hostedCommand(
  args: string[],
  environment: Environment,
  input = '',
): Promise<HostedResult> {
  const running = previous.then(() => inFolder(args, environment, input));
  previous = running.catch(() => {});
  const result = await running;
  recordOutput(args, environment, input, result.stdout + result.stderr);
  return result;
}

/**
 * Runs `dbvitals … --json` for a fixture, on the run's store unless `environment` names another, and gives the value that
 * it printed.
 */
export async function fixtureJson<T>(args: string[], settings?: Environment): Promise<T> {
  const { exit, stdout, stderr } = await hostedCommand(
    [...args, '--json'],
    settings ?? inject('environment'),
  );
  if (exit !== 0) throw new Error(`dbvitals ${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}
