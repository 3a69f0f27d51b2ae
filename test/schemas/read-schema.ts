import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { ROOTS } from '../roots/roots.ts';
import { installOnce } from '../support/install-once.ts';
import { type Application, applications, type DebianFile } from './applications.ts';

const DEBIAN = join(ROOTS, 'schemas');
const here = fileURLToPath(new URL('.', import.meta.url));

type Engine = 'postgres' | 'mysql' | 'mariadb';

/** The schemas of an engine, by the application's name. Downloads what is missing: Debian packages need `apt-get` and its lists. */
export function readSchemas(engine: Engine): Map<string, string> {
  const found = applications.flatMap((application) => schemaOf(application, engine) ?? []);
  return new Map([...found, ...(engine === 'postgres' ? npmSchemas() : [])]);
}

function schemaOf(application: Application, engine: Engine): [string, string][] | null {
  if (engine === 'mysql' && application.mariadbOnly) return null;
  const files = application[engine === 'postgres' ? 'postgres' : 'mysql'];
  return files ? [[application.name, files.map(read).join('\n')]] : null;
}

function read({ package: debian, path }: DebianFile): string {
  const folder = join(DEBIAN, debian);
  if (!existsSync(folder)) download(debian, folder);
  const paths = globSync(join(folder, path)).toSorted();
  if (paths.length === 0) throw new Error(`The Debian package ${debian} has no ${path}.`);
  return paths.map((each) => text(each)).join('\n');
}

function text(path: string): string {
  const bytes = readFileSync(path);
  // PostgreSQL has plpgsql from the start since 9.0.
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes)
    .toString()
    .replace(/^CREATE LANGUAGE plpgsql;/m, '');
}

// Only unpacked: nothing of the package is installed or run.
function download(debian: string, folder: string): void {
  mkdirSync(DEBIAN, { recursive: true });
  const fresh = mkdtempSync(join(DEBIAN, 'new-'));
  execFileSync('apt-get', ['download', '-qq', '-o', 'APT::Sandbox::User=root', debian], { cwd: fresh });
  const [file = ''] = readdirSync(fresh);
  execFileSync('dpkg-deb', ['-x', join(fresh, file), join(fresh, 'files')]);
  renameSync(join(fresh, 'files'), folder);
}

/** Job queues of the npm registry, which make their own tables. */
function npmSchemas(): [string, string][] {
  installOnce('test/schemas');
  const installed = createRequire(join(here, 'package.json'));
  const worker = join(here, 'node_modules/graphile-worker/sql');
  const migrations = readdirSync(worker)
    .toSorted()
    .map((name) => readFileSync(join(worker, name), 'utf8').replaceAll(':GRAPHILE_WORKER_SCHEMA', 'worker'))
    .map((migration) => `begin;\n${migration}\ncommit;`);
  const { getConstructionPlans }: { getConstructionPlans(schema: string): string } = installed('pg-boss');
  return [
    ['graphile-worker', ['create schema worker;', ...migrations].join('\n')],
    ['pg-boss', getConstructionPlans('boss')],
  ];
}
