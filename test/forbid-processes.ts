import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

// For the unit tier: every way to start a process fails, and a store is a process.
for (const name of ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync']) {
  const fail = () => {
    throw new Error(
      `A unit test starts no process and no store. This one calls ${name}: name it *.store.test.ts.`,
    );
  };
  Object.assign(childProcess, { [name]: fail });
}
syncBuiltinESMExports();
