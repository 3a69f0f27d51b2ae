import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bareEnvironment, COMPILED, MAIN } from '../contract/running-service.ts';
import { makeMemoryFolder } from './memory-folder.ts';
import { storeFolder } from './store.ts';

/** Creates shared parts once per run: compiled code, and the template stores that test files copy. */
export default function setup(): () => void {
  process.env['NODE_COMPILE_CACHE'] ??= COMPILED;
  if (process.env['DBVITALS_TEST_STORE']) return () => {}; // the other project has done it
  const memory = process.env['TMPDIR'] === undefined ? makeMemoryFolder() : null;
  if (memory !== null) process.env['TMPDIR'] = memory;
  const { above, folder } = storeFolder();
  const data = join(above, 'data');
  // In separate processes, because Vitest does not resolve packages with `import.meta`.
  execFileSync(process.execPath, [join(import.meta.dirname, 'make-store.ts'), folder]);
  execFileSync(process.execPath, [MAIN, 'migrate'], {
    cwd: above,
    env: { ...bareEnvironment(above), DBVITALS_DATA_DIR: data },
  });
  process.env['DBVITALS_TEST_STORE'] = folder;
  process.env['DBVITALS_TEST_DATA'] = data;
  return () => {
    for (const made of [above, memory]) if (made !== null) rmSync(made, { recursive: true, force: true });
  };
}
