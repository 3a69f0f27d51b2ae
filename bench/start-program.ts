import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PROGRAM, SHIPPED_FLAGS } from '../test/support/shipped-flags.ts';
import type { TestStore } from '../test/support/store.ts';
import { EMPTY_FOLDER } from './empty-folder.ts';

/** Starts `dbvitals monitor` or `dbvitals serve` on the store, as it is shipped. */
export function startProgram(
  { address, deps }: TestStore,
  command: 'monitor' | 'serve',
  environment: NodeJS.ProcessEnv = {},
): ChildProcess {
  const { host = '', password } = address[0] ?? {};
  return spawn(process.execPath, [...SHIPPED_FLAGS, PROGRAM, command], {
    cwd: EMPTY_FOLDER,
    env: {
      ...process.env,
      DATABASE_URL: `postgres://postgres:${password}@${encodeURIComponent(host)}/store`,
      DBVITALS_SECRET_KEY: deps.secret[0].toString('hex'),
      LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/** Ends it as an operator does. */
export async function stopProgram(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null) return;
  program.kill('SIGTERM');
  await once(program, 'exit');
}
