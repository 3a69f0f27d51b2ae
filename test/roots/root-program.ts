import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOTS, type Root } from './roots.ts';

const PG = 'usr/lib/postgresql/17/bin';
const PLUGINS = 'usr/lib/mysql/plugin';

/** A program to its root folder and its path there. */
const PROGRAMS = {
  mysqld: ['sid', 'usr/sbin/mysqld'],
  mysql: ['sid', 'usr/bin/mysql'],
  mysqldump: ['sid', 'usr/bin/mysqldump'],
  mariadbd: ['trixie', 'usr/sbin/mariadbd'],
  mariadb: ['trixie', 'usr/bin/mariadb'],
  'mariadb-dump': ['trixie', 'usr/bin/mariadb-dump'],
  'mariadb-install-db': ['trixie', 'usr/bin/mariadb-install-db'],
  postgres: ['trixie', `${PG}/postgres`],
  initdb: ['trixie', `${PG}/initdb`],
  pg_ctl: ['trixie', `${PG}/pg_ctl`],
  psql: ['trixie', `${PG}/psql`],
  pgbouncer: ['trixie', 'usr/sbin/pgbouncer'],
} as const satisfies Record<string, readonly [Root, string]>;

/** MySQL 9.7: `mysqld`, `mysql`, `mysqldump`. MariaDB 11.8: `mariadbd`, `mariadb`, `mariadb-dump`, `mariadb-install-db`. PgBouncer 1.24. PostgreSQL 17: the others. */
export type RootProgram = keyof typeof PROGRAMS;

/** The tools of `mariadb-install-db`. */
const TOOLS = ['usr/bin/my_print_defaults', 'usr/bin/resolveip'];

/**
 * The path of a program of a root folder, for `spawn`, `execFile` and shells. Any user can run it. It sees this machine's
 * files, so data folders, sockets and certificates have the same paths for it and for the test. Throws if the root is missing.
 */
export function rootProgram(program: RootProgram): string {
  const [root, path] = PROGRAMS[program];
  if (!existsSync(join(ROOTS, root)))
    throw new Error(`There is no ${join(ROOTS, root)}: run "npm run test:roots" as root, on Debian.`);
  return scripts(root)(path);
}

/** The folder of PostgreSQL 17's programs, with `bin`, `lib` and `share`, as `TEST_POSTGRES_PROGRAMS` takes it. */
export function rootPostgres(): string {
  return dirname(dirname(rootProgram('postgres')));
}

/** The Galera of MariaDB 11.8, for `wsrep_provider`. */
export const rootGalera = (): string => join(ROOTS, 'trixie/usr/lib/galera/libgalera_smm.so');

/** The plugins of MariaDB 11.8. */
export const rootPlugins = (): string => join(ROOTS, 'trixie', PLUGINS);

/** PostgreSQL's programs start each other, and find their files, by their own path. So the scripts' paths mirror the root's. */
function scripts(root: Root): (path: string) => string {
  const folder = join(ROOTS, root);
  const mirror = join(ROOTS, 'programs', root);
  const libraries = 'usr/lib/x86_64-linux-gnu';
  for (const shared of ['usr/share', 'usr/lib/postgresql/17/lib', libraries])
    link(join(folder, shared), join(mirror, shared));
  const loaded = (path: string, more: string) => {
    const script = join(mirror, path);
    const loader = `'${folder}/usr/lib64/ld-linux-x86-64.so.2' --library-path '${join(folder, libraries)}'`;
    // The root's own loader and libraries: this machine's may be older.
    write(script, `exec ${loader} --argv0 '${script}' '${join(folder, path)}' "$@" ${more}`);
    return script;
  };
  // Not the root's own folder: MariaDB looks there for the `sh` of a state transfer, which would need the root's loader.
  const server = `--basedir='${mirror}/usr' --plugin-dir='${folder}/${PLUGINS}'`;
  for (const [of, path] of Object.values(PROGRAMS)) {
    if (of !== root) continue;
    if (path.endsWith('install-db'))
      write(join(mirror, path), `exec '${join(folder, path)}' "$@" --basedir='${mirror}/usr'`);
    else loaded(path, /(mysqld|mariadbd)$/.test(path) ? server : '');
  }
  for (const path of TOOLS) loaded(path, '');
  return (path) => join(mirror, path);
}

function link(target: string, path: string): void {
  if (existsSync(path) || !existsSync(target)) return;
  mkdirSync(dirname(path), { recursive: true });
  try {
    symlinkSync(target, path);
  } catch (error) {
    if (!existsSync(path)) throw error; // another process has made it meanwhile
  }
}

function write(path: string, line: string): void {
  const text = `#!/bin/sh\n${line}\n`;
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  mkdirSync(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, text, { mode: 0o755 });
  renameSync(fresh, path);
}
