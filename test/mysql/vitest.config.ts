import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { patience } from '../support/patience.ts';
import { ON_MYSQL } from './tested-server.ts';

/** Tests of what one of the engines alone has. */
const MYSQL_ONLY = ['caching-sha2', 'group-replication'];
const MARIADB_ONLY = ['ed25519', 'galera'];

/** Tests on a MariaDB or MySQL, which `npm ci` does not install: `npm run test:mysql`. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/mysql/**/*.test.ts'],
    exclude: (ON_MYSQL ? MARIADB_ONLY : MYSQL_ONLY).map((name) => `test/mysql/${name}.test.ts`),
    globalSetup: ['test/mysql/setup.ts'],
    ...patience,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    reporters: ['./test/support/report.ts'],
  },
});
