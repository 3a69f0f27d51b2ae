import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { recordOutput } from '../secret-scan.ts';
import { COMPILED, type Environment, MAIN } from './running-service.ts';

/** A command that the host runs. */
export interface HostedCommand {
  args: string[];
  environment: Environment;
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
  const { PATH = '', HOME = '' } = process.env;
  const child = fork(join(import.meta.dirname, 'command-host.ts'), [MAIN], {
    cwd: tmpdir(),
    env: { PATH, HOME, NODE_COMPILE_CACHE: COMPILED },
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

/**
 * Runs `dbvitals … --json` for a fixture, on the run's store unless `environment` names another, and gives the value that
 * it printed. The commands of a test file run one after another in one process that stays: each takes 0.03 s of a core
 * instead of 0.17 s. Tests of a command itself use `command` and `commandJson`, which start a process.
 */
export async function fixtureJson<T>(args: string[], settings?: Environment): Promise<T> {
  const environment = settings ?? inject('environment');
  const { PATH = '', HOME = '' } = process.env;
  const words = [...args, '--json'];
  const running = previous.then(() =>
    runHosted({ args: words, environment: { PATH, HOME, ...environment } }),
  );
  previous = running.catch(() => {});
  const { exit, stdout, stderr } = await running;
  recordOutput(words, environment, '', stdout + stderr);
  if (exit !== 0) throw new Error(`dbvitals ${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}
