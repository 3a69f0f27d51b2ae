import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGES = 'apt-get install postgresql patroni etcd-server';

/** The folder of PostgreSQL's programs, and Patroni's version. Throws a sentence that names the packages if a program is missing. */
export function patroniPrograms(): { postgres: string; version: string } {
  const [version] = ['patroni', 'etcd'].map((program) => {
    const { error, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
    if (error)
      throw new Error(`${program} is not installed: run "${PACKAGES}", then npm run test:patroni again.`);
    return stdout.trim().replace(/^\D+/, '');
  });
  const above = '/usr/lib/postgresql';
  const found = statSync(above, { throwIfNoEntry: false }) ? readdirSync(above) : [];
  const [newest] = found
    .filter((version) => statSync(join(above, version, 'bin/postgres'), { throwIfNoEntry: false }))
    .toSorted((a, b) => Number(b) - Number(a));
  if (!newest)
    throw new Error(`PostgreSQL is not installed: run "${PACKAGES}", then npm run test:patroni again.`);
  return { postgres: join(above, newest, 'bin'), version: version ?? '' };
}

/**
 * Whether this Patroni, over etcd's API v3, lets a node that was paused take the lead back from its successor, which loses what
 * the successor has committed. Fixed in 3.0.3 (https://github.com/patroni/patroni/pull/2689).
 */
export function overwritesLeader(version: string): boolean {
  return version.localeCompare('3.0.3', 'en', { numeric: true }) < 0;
}
