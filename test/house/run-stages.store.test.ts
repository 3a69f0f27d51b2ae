import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

// What runs the stages of CI, in a repository whose stages are shell commands.
const ROOT = join(import.meta.dirname, '../..');
let folder: string;
const place = (...names: string[]) => join(folder, ...names);

interface Stage {
  part?: string;
  how?: string;
  name: string;
  command: string;
  npm?: string[];
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dbvitals-stages-test-'));
  mkdirSync(place('test/release'), { recursive: true });
  mkdirSync(place('node_modules/.bin'), { recursive: true });
  symlinkSync(process.execPath, place('node_modules/.bin/node'));
  writeFileSync(place('.gitignore'), 'node_modules\nseen\n');
  writeFileSync(place('test/release/install.ts'), `console.log('installed', ...process.argv.slice(2));`);
  for (const name of ['run.mjs', 'control-group.mjs'])
    cpSync(join(ROOT, 'test/release', name), place('test/release', name));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();

/** Commits these stages, of the gate and for a core each unless they say otherwise. */
function commit(stages: Stage[]): void {
  const all = stages.map((stage) => ({ part: 'gate', how: 'core', ...stage }));
  writeFileSync(place('test/release/stages.json'), JSON.stringify(all));
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '--quiet', '-m', 'Test');
}

function run(stages: Stage[], ...args: string[]) {
  commit(stages);
  const { status, stdout } = spawnSync(process.execPath, ['test/release/run.mjs', ...args], {
    cwd: folder,
    env: { ...process.env, TMPDIR: folder },
    encoding: 'utf8',
  });
  return { status, stdout };
}

const PARTS = ['a', 'b', 'c', 'd', 'e'].map((part) => ({
  part,
  name: `stage ${part}`,
  command: `echo ran-${part}`,
}));

test("the gate and one part run, which the commit's hash chooses or --part names; --release runs all and records the commit", () => {
  const chosen = run([{ name: 'first', command: 'echo ran-first' }, ...PARTS]);
  const part = 'abcde'[Number.parseInt(git('rev-parse', 'HEAD').slice(0, 8), 16) % 5];
  expect(chosen.stdout).toMatch(new RegExp(`^The gate, and part ${part} of five, chosen by commit`));
  expect(chosen.stdout.match(/^ran-.*$/gm)?.toSorted()).toEqual([`ran-${part}`, 'ran-first']); // beside each other
  expect(chosen.stdout).toMatch(/\nAll 2 stages are green: 0:0\d minutes, \d+ s of processor time\.\n$/);
  expect(chosen.status).toBe(0);
  expect(existsSync(place('.git/dbvitals-release'))).toBe(false);

  expect(
    run([...PARTS, { name: 'more', command: 'true' }], '--part', 'c').stdout.match(/^ran-.*$/gm),
  ).toEqual(['ran-c']);
  const all = run(PARTS.toReversed(), '--release');
  expect(all.stdout.match(/^ran-.*$/gm)?.toSorted()).toEqual(PARTS.map(({ part }) => `ran-${part}`));
  expect(readFileSync(place('.git/dbvitals-release'), 'utf8').trim()).toBe(git('rev-parse', 'HEAD'));
});

test('a red stage does not stop the others, and the run fails; a checkout that is not installed ends it', () => {
  const after = [{ name: 'after', command: 'echo ran-after', npm: ['test/clients'] }];
  const red = run([
    { name: 'red', command: 'echo ran-red; exit 3' },
    { name: 'alone', how: 'alone', command: 'true' },
    ...after,
  ]);
  expect(red.stdout.match(/^ran-.*$/gm)).toEqual(['ran-red', 'ran-red']); // again, at the end
  expect(red.stdout).toMatch(/\nRED after .*: red\. Not begun: alone, after\.\n$/);

  const later = run([{ name: 'first', command: 'true' }, { name: 'red', command: 'exit 3' }, ...after]);
  expect(later.stdout).toMatch(/^installed npm:test\/clients\nran-after$|^ran-after$/m);
  expect(later.stdout).toMatch(/\nRED after .*: red\.\n$/);
  expect([red.status, later.status]).toEqual([1, 1]);
});

test('the end of a red stage is repeated before the table, also of one that left a server behind', () => {
  const command = 'seq 100; sleep 600 & echo its-error >&2; exit 3';
  const { stdout } = run([
    { name: 'apart', command: 'seq 100' },
    { name: 'alone', how: 'alone', command },
    { name: 'green', how: 'alone', command: 'true' },
    { name: 'core', command },
  ]);
  const [, ...repeated] = stdout.split(/^== the end of (?=\w+, which is RED:$)/m);
  expect(repeated.map((text) => text.split('\n').slice(0, 2))).toEqual([
    ['alone, which is RED:', '42'],
    ['core, which is RED:', '42'],
  ]);
  for (const text of repeated) expect(text).toContain('\n100\nits-error\n');
});

test('a stage that is judged by time has nothing beside it but what is installed', () => {
  const computing = ['one', 'two'].map((name) => ({
    name,
    command: `echo ${name} >>order; sleep 0.3; echo ${name} >>order`,
  }));
  const { stdout } = run([
    ...computing,
    { name: 'timed', how: 'alone', command: 'echo timed >>order; sleep 0.3; echo timed >>order' },
    { name: 'three', command: 'echo three >>order' },
  ]);
  expect(stdout).toContain('All 4 stages are green');
  const order = readFileSync(place('order'), 'utf8').trim().split('\n');
  expect(order.slice(0, 4).toSorted()).toEqual(['one', 'one', 'two', 'two']);
  expect(order.slice(4)).toEqual(['timed', 'timed', 'three']);
});

test('what stages leave running is killed, also when the run is ended', async () => {
  commit([{ name: 'first', how: 'alone', command: 'echo $$ >seen; sleep 600' }]);
  const child = spawn(process.execPath, ['test/release/run.mjs', '--part', 'a'], {
    cwd: folder,
    stdio: 'ignore',
  });
  await expect.poll(() => existsSync(place('seen')) && readFileSync(place('seen'), 'utf8') !== '').toBe(true);
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(130);
  const pid = Number(readFileSync(place('seen'), 'utf8'));
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
});
