import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { COMPILED } from './contract/running-service.ts';
import { storeFolder } from './store.ts';

/** Makes once for all files of a run what each would make anew: compiled code, and the store of which test stores are copies. */
export default function setup(): () => void {
  process.env['NODE_COMPILE_CACHE'] ??= COMPILED;
  if (process.env['DBVITALS_TEST_STORE']) return () => {}; // by the other project
  const { above, folder } = storeFolder();
  // In a process of its own: Vitest's own resolves no packages by `import.meta`.
  execFileSync(process.execPath, [fileURLToPath(new URL('make-store.ts', import.meta.url)), folder]);
  process.env['DBVITALS_TEST_STORE'] = folder;
  return () => rmSync(above, { recursive: true, force: true });
}
