import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { PATIENCE_MS } from '../support/patience.ts';

/** The path of a program; throws a message that names the Debian package to install. */
export function debianProgram(name: string, debianPackage: string): string {
  const folders = ['/usr/sbin', '/usr/bin', ...(process.env['PATH'] ?? '').split(delimiter)];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found) return found;
  throw new Error(
    `${name} is not installed: "apt-get install ${debianPackage}" on Debian, then run this again.`,
  );
}

/** A program that runs for a test. What it prints is in the error when it ends too early. */
export class RunningProgram {
  readonly #child: ChildProcess;
  #printed = '';

  constructor(path: string, options: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.#child = spawn(path, options, { stdio: ['ignore', 'pipe', 'pipe'], env });
    const keep = (chunk: Buffer) => {
      this.#printed = `${this.#printed}${chunk}`.slice(-20_000);
    };
    this.#child.stdout?.on('data', keep);
    this.#child.stderr?.on('data', keep);
  }

  /** What it printed so far. */
  get printed(): string {
    return this.#printed;
  }

  /** Waits until `isReady` holds. */
  async ready(isReady: () => Promise<boolean>, ms = PATIENCE_MS): Promise<void> {
    const end = Date.now() + ms;
    while (!(await isReady().catch(() => false))) {
      if (this.#child.exitCode !== null || Date.now() > end)
        throw new Error(`Did not start:\n${this.#printed}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill(signal);
    await ended;
  }
}
