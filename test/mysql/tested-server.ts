import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type RootProgram, rootGalera, rootPlugins, rootProgram } from '../roots/root-program.ts';

/** The servers that `npm run test:mysql` tests. MariaDB 10.11 is this machine's, the others come from the root folders. */
export const SERVERS = ['mariadb-10.11', 'mariadb-11.8', 'mysql-9.7'] as const;

export type ServerName = (typeof SERVERS)[number];

/** The server that these tests run on. */
export const TESTED: ServerName =
  SERVERS.find((name) => name === process.env['TEST_MYSQL_SERVER']) ?? 'mariadb-10.11';

export function isMysql(server: ServerName): boolean {
  return server === 'mysql-9.7';
}

/** Whether the tests run on MySQL. */
export const ON_MYSQL = isMysql(TESTED);

/** The engine of a connection to the tested server. */
export const ENGINE = ON_MYSQL ? 'mysql' : 'mariadb';

/** Resets the counters of the server. `flush status` of MariaDB 11.8 resets only those of its session. */
export const FLUSH_STATUS = TESTED === 'mariadb-11.8' ? 'flush global status' : 'flush status';

/** Whether the server that requires TLS answers a login without it as one with a wrong password. */
export const HIDES_REQUIRED_TLS = TESTED === 'mariadb-10.11';

/** A program of the server; throws a message that says what to install. */
export function serverProgram(name: RootProgram, server: ServerName = TESTED): string {
  if (server !== 'mariadb-10.11') return rootProgram(name);
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/bin'];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found) return found;
  throw new Error(
    `These tests start a MariaDB of their own, and ${name} is not installed: "apt-get install mariadb-server-core" on Debian.`,
  );
}

/** The path of the tested MariaDB's Galera; throws a message that says what to install. */
export function galeraProvider(): string {
  if (TESTED !== 'mariadb-10.11') return rootGalera();
  const found = ['/usr/lib/galera', '/usr/lib64/galera-4']
    .map((folder) => join(folder, 'libgalera_smm.so'))
    .find(existsSync);
  if (found) return found;
  throw new Error('These tests need Galera: "apt-get install galera-4" on Debian.');
}

/** The folder of the tested MariaDB's plugins, with those that Debian packages separately; throws a message that says what to install. */
export function pluginFolder(): string {
  const folder = TESTED === 'mariadb-10.11' ? '/usr/lib/mysql/plugin' : rootPlugins();
  if (existsSync(join(folder, 'auth_ed25519.so'))) return folder;
  throw new Error(
    `These tests log in by ed25519, whose plugin is not in ${folder}: "apt-get install mariadb-server" on Debian.`,
  );
}

/** A table expression with the column `seq`: the numbers `from` to `to`, both included. */
export function numbers(from: number, to: number): string {
  return ON_MYSQL
    ? `(with recursive counted (seq) as (select ${from} union all select seq + 1 from counted where seq < ${to})
        select seq from counted) as numbers`
    : `seq_${from}_to_${to}`;
}

/** The statement for the tested engine. */
export function dialect<T>(statements: { mysql: T; mariadb: T }): T {
  return statements[ENGINE];
}

/** Creates the data folder of a new server whose superuser logs in as `username`: on MySQL with `password`, on MariaDB by socket. */
export function createData(
  server: ServerName,
  folder: string,
  temporary: string,
  username: string,
  password: string,
): void {
  const common = ['--no-defaults', `--datadir=${folder}`, `--tmpdir=${temporary}`, `--user=${username}`];
  if (isMysql(server)) {
    const made = process.env['TEST_MYSQL_DATA'];
    if (made) {
      execFileSync('cp', ['-a', made, folder]);
      rmSync(join(folder, 'auto.cnf'), { force: true }); // each server makes its own UUID
      return;
    }
    const start = join(temporary, 'start.sql');
    execFileSync('sh', ['-c', 'cat > "$1"', 'sh', start], {
      input: `alter user root@localhost identified by '${password}';\n`,
    });
    execFileSync(serverProgram('mysqld', server), [
      ...common,
      '--initialize-insecure',
      '--secure-file-priv=NULL',
      '--innodb-undo-log-truncate=OFF',
      `--init-file=${start}`,
      `--log-error=${join(temporary, 'initialize.log')}`,
    ]);
    return;
  }
  execFileSync(serverProgram('mariadb-install-db', server), [
    ...common,
    '--auth-root-authentication-method=socket',
    `--auth-root-socket-user=${username}`,
    '--skip-test-db',
    '--skip-name-resolve',
  ]);
}
