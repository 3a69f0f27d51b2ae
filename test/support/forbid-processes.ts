import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

// For unit tests: starting a process fails in every way. A store is a process too.
for (const name of ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync']) {
  const fail = () => {
    throw new Error(
      `A unit test starts no process and no store. This one calls ${name}: name it *.store.test.ts.`,
    );
  };
  Object.assign(childProcess, { [name]: fail });
}
syncBuiltinESMExports();
