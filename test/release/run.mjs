// Runs the stages of stages.json: the gate, and one of the five parts, which the commit's hash chooses. `--part c` chooses for
// one's own run, `--release` runs all parts, `--stage NAME` only those whose names begin so, in a checkout that is installed.
// `--list` only prints them. Plain JavaScript, because the first stage installs the Node that runs the other files.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { killGroup, makeGroup, makeGroups, readSeconds, removeGroups } from './control-group.mjs';

const PARTS = ['a', 'b', 'c', 'd', 'e'];
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const { values } = parseArgs({
  options: {
    list: { type: 'boolean' },
    part: { type: 'string' },
    release: { type: 'boolean' },
    stage: { type: 'string' },
  },
});
const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
const commit = git('rev-parse', 'HEAD');
const isClean = () => git('status', '--porcelain') === '';
const wasClean = isClean();
const part = values.part ?? PARTS[Number.parseInt(commit.slice(0, 8), 16) % PARTS.length];
if (!PARTS.includes(part)) throw new Error(`There is no part ${part}, but ${PARTS.join(', ')}.`);

const stages = readStages();
const chosen = values.part === undefined ? `chosen by commit ${commit.slice(0, 12)}` : 'chosen by --part';
const extent = values.release ? 'all five parts' : `part ${part} of five, ${chosen}`;
console.log(values.stage === undefined ? `The gate, and ${extent}.` : 'Single stages.');
if (values.list) {
  for (const { part: of, how, name, command } of stages)
    console.log(`${of.padEnd(5)} ${how.padEnd(6)} ${name.padEnd(34)} ${command}`);
  process.exit();
}

const began = performance.now();
const groups = makeGroups();
const kept = mkdtempSync(join(tmpdir(), 'dbvitals-stages-'));
const environment = {
  ...process.env,
  DBVITALS_TEST_EXCHANGES: join(kept, 'exchanges'), // what the contract suite asked and got, for Prism
  DBVITALS_TEST_PACKAGE: join(kept, 'package'), // packed once
  DBVITALS_TEST_PART: values.release ? 'all' : part, // of the long lists of cases
};
mkdirSync(environment.DBVITALS_TEST_EXCHANGES);
mkdirSync(environment.DBVITALS_TEST_PACKAGE);
const running = new Map();
const ended = [];

let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => {
    isEnding = true;
    void clean().finally(() => process.exit(130));
  });
try {
  await runAll();
  repeatRed();
} finally {
  await clean();
}
report();

function readStages() {
  const all = JSON.parse(readFileSync(join(ROOT, 'test/release/stages.json'), 'utf8'));
  if (values.stage !== undefined) return all.filter(({ name }) => name.startsWith(values.stage));
  return all.filter((stage) => values.release || stage.part === 'gate' || stage.part === part);
}

async function runAll() {
  const first = stages[0];
  const installing = startInstalling();
  for (const stage of stages) {
    if (stage.debian || stage.npm || stage.roots) await installing.ended;
    while (!hasRoom(stage.how)) await Promise.race([...running.values()].map((one) => one.ended));
    const isLost = ended.some(({ name, code }) => code !== 0 && [installing.name, first.name].includes(name));
    if (isLost && stage !== first) break;
    start(stage);
  }
  await Promise.all([...running.values()].map((one) => one.ended));
}

/** What the stages need comes over the network beside the first of them, which installs the Node that this takes. */
function startInstalling() {
  const list = (of) => stages.flatMap((stage) => stage[of] ?? []);
  const wanted = [
    ...list('debian'),
    ...list('npm').map((folder) => `npm:${folder}`),
    ...list('roots').map((root) => `root:${root}`),
  ];
  const mark = join(kept, 'begun');
  writeFileSync(mark, '');
  const install = `exec node_modules/.bin/node test/release/install.ts ${[...new Set(wanted)].join(' ')}`;
  const until = `until [ node_modules/.package-lock.json -nt '${mark}' ]; do sleep 1; done`;
  const command = stages[0]?.command.startsWith('npm ci') ? `${until}; ${install}` : install;
  return start({ name: 'what the stages need', how: 'beside', command });
}

function hasRoom(how) {
  const count = (...kinds) => [...running.values()].filter((one) => kinds.includes(one.how)).length;
  if (how === 'alone') return count('alone', 'core', 'waits') === 0;
  return count('alone') === 0 && (how === 'waits' || count('core') < availableParallelism());
}

function start({ name, how, command }) {
  console.log(`\n== ${clock()} ${name}: begins`);
  const at = ended.length + running.size;
  const group = groups && makeGroup(groups, `${at}`);
  const times = join(kept, `${at}.times`);
  const file = join(kept, `${at}.out`);
  const written = openSync(file, 'w'); // stays open: a server that is left behind may write when its folder is gone
  const output = how === 'alone' ? 'pipe' : written;
  const script = '[ -z "$2" ] || echo $$ >"$2/cgroup.procs"; bash -c "$1"; code=$?; times >"$3"; exit $code';
  const child = spawn('bash', ['-c', script, 'bash', command, group ?? '', times], {
    cwd: ROOT,
    env: environment,
    stdio: ['ignore', output, output],
    detached: true, // a process group of its own
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      process.stdout.write(chunk);
      writeSync(written, chunk);
    });
  const from = performance.now();
  const one = { name, how, child, ended: waitFor(child).then(end) };
  running.set(name, one);
  return one;

  function end(code) {
    if (isEnding) return new Promise(() => {}); // its files are gone
    running.delete(name);
    const seconds = group ? readSeconds(group) : readTimes(times);
    if (group) killGroup(group);
    ended.push({ name, how, code, file, wall: (performance.now() - from) / 1_000, ...seconds });
    if (how !== 'alone') process.stdout.write(`\n== ${clock()} ${name}:\n${readFileSync(file, 'utf8')}`);
    console.log(`== ${clock()} ${name}: ${colour(code)}`);
  }
}

/** The exit code. A server that a stage left to itself may hold its output open; this waits a second for the rest of it. */
async function waitFor(child) {
  const closed = once(child, 'close');
  const [code] = await once(child, 'exit');
  await Promise.race([closed, wait(1_000, undefined, { ref: false })]);
  return code;
}

/** Without a control group: what bash has waited for, which leaves out servers that were left to themselves. */
function readTimes(file) {
  try {
    const [user = 0, system = 0] = [
      ...(readFileSync(file, 'utf8').split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g),
    ].map(([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds));
    return { user, system };
  } catch {
    return { user: 0, system: 0 };
  }
}

function colour(code) {
  return code === 0 ? 'green' : 'RED';
}

function clock() {
  const seconds = Math.floor((performance.now() - began) / 1_000);
  return `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, '0')}`;
}

async function clean() {
  for (const { child } of running.values()) {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {} // it has ended
  }
  if (groups) await removeGroups(groups);
  rmSync(kept, { recursive: true, force: true });
}

/** The last lines of what failed, at the end, because whoever keeps a long output often keeps its end only. */
function repeatRed() {
  for (const { name, code, file } of ended) {
    if (code === 0) continue;
    console.log(`\n== the end of ${name}, which is RED:`);
    console.log(readFileSync(file, 'utf8').trimEnd().split('\n').slice(-60).join('\n'));
  }
}

function report() {
  const cpu = ended.reduce((sum, one) => sum + one.user + one.system, 0);
  const figures = (...all) => all.map((figure) => Math.round(figure).toString().padStart(7)).join('');
  console.log(
    `\n${'stage'.padEnd(34)} ${'wall s'.padStart(13)}${'user s'.padStart(7)}${'sys s'.padStart(7)}`,
  );
  for (const one of ended)
    console.log(
      `${one.name.padEnd(34)} ${colour(one.code).padEnd(6)}${figures(one.wall, one.user, one.system)}`,
    );
  const left = stages.filter(({ name }) => !ended.some((one) => one.name === name)).map(({ name }) => name);
  const red = ended.filter(({ code }) => code !== 0).map(({ name }) => name);
  const took = `${clock()} minutes, ${Math.round(cpu).toLocaleString('en')} s of processor time`;
  if (red.length > 0) {
    process.exitCode = 1;
    console.log(
      `\nRED after ${took}: ${red.join(', ')}.${left.length > 0 ? ` Not begun: ${left.join(', ')}.` : ''}`,
    );
    return;
  }
  console.log(`\nAll ${stages.length} stages are green: ${took}.`);
  if (values.release) recordRelease();
}

/** Says for `npm run release-check` that everything is green on this commit. */
function recordRelease() {
  if (!wasClean || !isClean() || git('rev-parse', 'HEAD') !== commit)
    return console.log('Not recorded for npm run release-check: the checkout is not exactly a commit.');
  writeFileSync(join(ROOT, git('rev-parse', '--git-path', 'dbvitals-release')), `${commit}\n`);
}
