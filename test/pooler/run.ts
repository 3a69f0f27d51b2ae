import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { createCluster, startServer, stopServer } from '../../src/store/server.ts';
import { runTests } from '../support/run-tests.ts';
import { PASSWORD, PROGRAMS, startBouncer } from './bouncer.ts';

/**
 * Runs parts of the black-box suite through each PgBouncer in transaction mode, with far fewer connections to the store than
 * the services have. Requires PgBouncer and `npm run test:roots`; takes two minutes.
 */
const above = mkdtempSync(join(tmpdir(), 'dbvitals-pooler-'));
chmodSync(above, 0o711);
const folder = join(above, 'pg');
const DBVITALS_SECRET_KEY = randomBytes(32).toString('hex'); // of the one store
try {
  // Not UTC, so that a setting lost in the pooler becomes visible.
  await createCluster(folder, PASSWORD, { timezone: 'Asia/Kolkata' });
  await startServer(folder, { listen_addresses: '', unix_socket_directories: '.' });
  const root = new pg.Client({ host: folder, user: 'postgres', password: PASSWORD, database: 'postgres' });
  await root.connect();
  await root.query(`create role dbvitals login createrole password '${PASSWORD}'`);
  await root.query('create database dbvitals owner dbvitals');
  await root.end();
  for (const program of Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[]) {
    console.log(`PgBouncer ${program}`);
    const code = await runThrough(program);
    process.exitCode ||= code;
  }
} finally {
  await stopServer(folder);
  rmSync(above, { recursive: true, force: true });
}

async function runThrough(program: keyof typeof PROGRAMS): Promise<number> {
  const bouncer = await startBouncer(
    folder,
    join(above, `pgbouncer-${program}`),
    (configuration) => configuration.replace(/^default_pool_size = .*$/m, 'default_pool_size = 2'),
    { program },
  );
  const login = `dbvitals:${PASSWORD}`;
  const code = await runTests(
    [
      '--config',
      join(import.meta.dirname, 'vitest.config.ts'),
      // It starts both itself.
      ...(program === 'installed' ? [] : ['--exclude', 'test/pooler/names.test.ts']),
      ...process.argv.slice(2),
    ],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: {
        ...process.env,
        DATABASE_URL: `postgres://${login}@${encodeURIComponent(folder)}/dbvitals`,
        DBVITALS_POOLER_URL: `postgres://${login}@127.0.0.1:${bouncer.port}/dbvitals`,
        DBVITALS_SECRET_KEY,
        TEST_PGBOUNCER: program,
      },
    },
  );
  await bouncer.stop();
  return code;
}
