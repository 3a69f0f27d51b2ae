import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { PROGRAM, SHIPPED_FLAGS } from '../support/shipped-flags.ts';
import { bareEnvironment, copyEmptyStore, temporaryFolder } from './running-service.ts';

// The README's own commands, in a checkout without a .env: npm, its shell, env and the program.
const ROOT = join(import.meta.dirname, '../..');
const folder = temporaryFolder();
const checkout = join(folder.path, 'checkout');
mkdirSync(checkout);
copyFileSync(join(ROOT, 'package.json'), join(checkout, 'package.json'));
for (const name of ['src', 'migrations', 'node_modules', 'console', 'client'])
  symlinkSync(join(ROOT, name), join(checkout, name));
const dataFolder = join(folder.path, 'data');
copyEmptyStore({ DBVITALS_DATA_DIR: dataFolder });

afterAll(() => folder.remove());

/** Starts npm, waits until the program says `ready`, sends npm alone a signal, and gives npm's exit code once all it started has ended. */
async function stopped(args: string[], ready: RegExp, signal: NodeJS.Signals) {
  const env = { ...bareEnvironment(folder.path), PORT: '0', DBVITALS_DATA_DIR: dataFolder };
  const npm = spawn('npm', args, { cwd: checkout, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [npm.stdout, npm.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  // Its output is closed when the last process that has it ends: npm, the shell, the program.
  const closed = once(npm, 'close').then(() => true);
  try {
    await expect.poll(() => ready.test(said) || npm.exitCode !== null).toBe(true);
    npm.kill(signal);
    const ended = await Promise.race([closed, wait(10_000, false, { ref: false })]);
    return { code: npm.exitCode, ended, said };
  } finally {
    if (npm.pid && isGroup(npm.pid)) process.kill(-npm.pid, 'SIGKILL');
  }
}

function isGroup(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

const SERVE = ['start', '--', '--no-monitor'];
const MONITOR = ['run', '-s', 'dbvitals', '--', 'monitor'];

test.each([
  ['npm start', SERVE, 'SIGTERM'],
  ['npm start', SERVE, 'SIGINT'],
  ['npm start by bash', ['--script-shell=bash', ...SERVE], 'SIGTERM'],
  ['npm run dbvitals -- monitor', MONITOR, 'SIGTERM'],
] as const)('%s %j ends on %s, and leaves neither port nor store', async (_, args, signal) => {
  const { code, ended, said } = await stopped([...args], /ready on |the monitor runs/, signal);
  expect({ code, ended }, said).toEqual({ code: 0, ended: true });
  const [, origin] = /ready on (\S+)/.exec(said) ?? [];
  if (origin) await expect(fetch(`${origin}/livez`)).rejects.toThrow('fetch failed');
  expect(existsSync(join(dataFolder, 'postgres', 'postmaster.pid'))).toBe(false);
});

test("tune.md names the flags of the program's first line, which no script repeats", () => {
  const page = readFileSync(join(ROOT, 'docs/operate/tune.md'), 'utf8');
  expect(page).toContain(`\`${SHIPPED_FLAGS.join(' ')}\``);
  expect(readFileSync(join(ROOT, 'package.json'), 'utf8')).not.toContain('semi-space');
});

// The program as a Node that calls itself so would run it.
function asNode(version: string) {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`;
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
  return spawnSync(process.execPath, [...flags, PROGRAM, '--version'], { encoding: 'utf8' });
}

test('a Node before the one that package.json, README.md and install.md name is refused in a sentence', () => {
  for (const old of ['20.19.0', '23.11.0', '24.0.0', '24.6.2']) {
    const { status, stdout, stderr } = asNode(old);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(
      /^dbvitals needs Node 24\.7 or later and this is [^\n]*: install a newer Node\.\n$/,
    );
  }
  for (const good of ['24.7.0', '24.10.1', '25.0.0', '26.1.0']) expect(asNode(good).status).toBe(0);
  expect(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).engines).toEqual({ node: '>=24.7' });
  for (const page of ['README.md', 'docs/operate/install.md'])
    expect(readFileSync(join(ROOT, page), 'utf8')).toContain('Node 24.7 or later');
});
