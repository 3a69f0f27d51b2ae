import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pack } from '../package/pack.ts';
import { blocks } from '../package/page.ts';
import { checkDeployment } from './deployment.ts';
import { engine } from './engine.ts';

// Builds the image and runs it with Podman, as in docs/operate/install.md. The base image would need an image registry, so
// it is built here from Debian, Node 24 and npm. Requires Linux x64, root, and the Debian packages in CONTRIBUTING.md.

const ROOT = join(import.meta.dirname, '../..');
const BASE = 'docker.io/library/node:24-trixie-slim';
const LONGEST_SECONDS = 120;
const HEALTHY_SECONDS = 60;

const scratch = mkdtempSync(join(tmpdir(), 'dbvitals-image-'));
const place = (name: string) => join(scratch, name);
const npm = process.env['npm_execpath'] ?? '';
mkdirSync(place('work'));
const env: NodeJS.ProcessEnv = { ...process.env };
try {
  checkDeployment(scratch);

  pack(place('work'));
  for (const file of ['Dockerfile', '.dockerignore']) copyFileSync(join(ROOT, file), place(`work/${file}`));

  const certificates = process.env['NODE_EXTRA_CA_CERTS'];
  const registry = shell('npm config get registry');
  Object.assign(
    env,
    engine(scratch, `registry=${registry}${certificates ? `cafile=${certificates}\n` : ''}`),
  );
  makeBase();

  const [build = '', run = '', look = '', stop = ''] = blocks('## As an image', 4);
  const began = performance.now();
  shell(build);
  console.log(`built in ${since(began)} s, ${(Number(inspect('{{.Size}}', 'image')) / 1e6).toFixed(0)} MB`);

  const label = inspect('{{index .Config.Labels "org.opencontainers.image.version"}}', 'image').trim();
  assert.match(label, /^\d+\.\d+\.\d+\+\S+$/);

  shell(run);
  await becomesHealthy();
  const [, key = ''] = await says(/API key\s+(dbv_live_\S+)/);
  const ask = `fetch('http://127.0.0.1:8080/api/v1/health/fleet', { headers: { authorization: 'Bearer ${key}' } }).then(({ status }) => console.log(status))`;
  assert.equal(inside(['node', '-e', ask]), '200\n');
  assert(Number(since(began)) < LONGEST_SECONDS);
  console.log(`from the file to the first answered request: ${since(began)} s`);

  assert.match(shell(look), /^score \d+/m);
  assert.equal(inside(['dbvitals', '--version']), `${label}\n`);
  assert.match(
    inside(['sh', '-c', 'id -u; touch /x /opt/dbvitals/x 2>&1 || true']),
    /^10001\n.*\/x.*Read-only.*\n.*Read-only/,
  );
  const status = inside(['cat', '/proc/1/status']);
  for (const line of [/^CapBnd:\t0+$/m, /^NoNewPrivs:\t1$/m]) assert.match(status, line);

  shell(stop);
  assert.equal(inspect('{{.State.ExitCode}}', 'container'), '0\n');
  // The data survives a stop of the container, and the service reports when it is unhealthy.
  shell('docker start dbvitals');
  await becomesHealthy();
  const signal = (name: string) =>
    inside(['sh', '-c', `kill -${name} $(grep -l ^postgres /proc/[0-9]*/comm | cut -d/ -f3)`]);
  signal('STOP');
  assert.notEqual(healthCheck(), 0);
  signal('CONT');
  await becomesHealthy();
  assert.equal(inside(['node', '-e', ask]), '200\n');

  // User 10001 can read Compose's secrets, including the URL. The store in the URL does not exist.
  shell(blocks('### With Compose', 1).join(''));
  const given = { DATABASE_URL_FILE: 'database-url', DBVITALS_SECRET_KEY_FILE: 'secret-key' };
  const mounted = Object.entries(given).map(
    ([name, file]) =>
      `--env ${name}=/run/secrets/${file} --volume "$PWD/secrets/${file}":/run/secrets/${file}:ro`,
  );
  assert.match(
    shell(`docker run --rm ${mounted.join(' ')} dbvitals account list 2>&1 || true`),
    /^error: Can't connect to the store/m,
  );

  const asRoot =
    'docker run --rm --user 0 --entrypoint sh --env npm_config_prefix=/opt/dbvitals dbvitals -ec';
  const [unit = ''] = blocks('## With systemd', 1);
  const prepared = `userdel dbvitals; mkdir -p /etc/systemd/system; ${unit} cat /etc/systemd/system/*.service; id dbvitals`;
  assert.match(shell(`${asRoot} '${prepared}'`), /^ExecStart=dbvitals serve$/m);
} finally {
  spawnSync('docker', ['rm', '--force', '--volumes', 'dbvitals'], { env });
  spawnSync('docker', ['rmi', '--all', '--force'], { env });
  spawnSync('umount', [place('images/overlay')]);
  rmSync(scratch, { recursive: true, force: true });
}

/** Debian with this machine's Node and npm, at the paths of the official image. */
function makeBase(): void {
  const root = place('root');
  shell(`debootstrap --variant=minbase trixie ${root} >&2`);
  mkdirSync(join(root, 'usr/local/lib/node_modules'), { recursive: true });
  copyFileSync(process.execPath, join(root, 'usr/local/bin/node'));
  cpSync(join(dirname(npm), '..'), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  shell(`tar -C ${root} -c . | docker import - ${BASE} >&2`);
  rmSync(root, { recursive: true });
}

/** Runs a command in the file's folder and returns its output. Throws when it fails. */
function shell(script: string): string {
  return execFileSync('sh', ['-ec', script], {
    cwd: place('work'),
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function inside(command: string[]): string {
  return execFileSync('docker', ['exec', 'dbvitals', ...command], { env, encoding: 'utf8' });
}

function inspect(format: string, kind: 'container' | 'image'): string {
  return shell(`docker inspect --type ${kind} --format '${format}' dbvitals`);
}

function healthCheck(): number | null {
  return spawnSync('docker', ['healthcheck', 'run', 'dbvitals'], { env }).status;
}

async function becomesHealthy(): Promise<void> {
  for (const began = performance.now(); healthCheck() !== 0; await wait(500)) {
    assert(Number(since(began)) < HEALTHY_SECONDS, shell('docker logs dbvitals 2>&1'));
  }
}

async function says(pattern: RegExp): Promise<RegExpExecArray> {
  for (const began = performance.now(); ; await wait(200)) {
    const found = pattern.exec(shell('docker logs dbvitals 2>&1'));
    if (found) return found;
    assert(Number(since(began)) < HEALTHY_SECONDS);
  }
}

function since(began: number): string {
  return ((performance.now() - began) / 1_000).toFixed(1);
}
