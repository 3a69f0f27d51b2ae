import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../contract/free-port.ts';
import {
  COMPILED,
  embeddedUrl,
  type Service,
  startService,
  temporaryFolder,
} from '../contract/running-service.ts';
import { linesNotPrinted } from '../support/page-commands.ts';
import { blocksOf, commandsOf, operatePage, putCommand } from './operate-page.ts';

// Commands run in one folder, beside a running service, as on an operator's machine.
const PAGES = ['provision', 'backup', 'upgrade', 'restore', 'secure'];
// These pages are tested by `npm run test:package`, test/contract/operate-monitor.test.ts, test/contract/page-commands.test.ts, and, as
// they need two cells, test/faults/account-move.ts with src/store/directory/move/*.store.test.ts.
const OTHERS = ['collector', 'install', 'monitor', 'move-account', 'tune'];

const folder = temporaryFolder();
const place = (...names: string[]) => join(folder.path, ...names);
let service: Service;
/** Replacements for paths in the pages that differ here. */
let here: [string, string][];

beforeAll(async () => {
  for (const name of ['etc', 'home', 'work']) mkdirSync(place(name));
  chmodSync(place('work'), 0o711);
  putCommand(place('bin'));
  const data = place('work', '.dbvitals');
  service = await startService({ DBVITALS_DATA_DIR: data }, ['--no-monitor']);
  const { DATABASE_URL = '', DBVITALS_SECRET_KEY = '' } = embeddedUrl(data);
  writeFileSync(place('etc', 'database-url'), DATABASE_URL, { mode: 0o600 });
  writeFileSync(place('etc', 'secret.key'), DBVITALS_SECRET_KEY, { mode: 0o600 });
  here = [
    ['127.0.0.1:8080', new URL(service.origin).host],
    ['/etc/dbvitals', '../etc'], // relative to the folder where blocks run
  ];
});

afterAll(async () => {
  await service?.stop();
  folder.remove();
});

/** Runs a block as pasted into a shell and returns its output. A block that keeps running is stopped, and must exit cleanly. */
async function run(block: string, home = place('home')): Promise<string> {
  const stays = /^.*\bdbvitals (?:serve|monitor)\b.*$/m;
  const free = String(await freePort());
  const script = here
    .reduce((text, [said, meant]) => text.replaceAll(said, meant), block)
    .replace(/METRICS_PORT=\d+/, `METRICS_PORT=${free}`)
    .replace(stays, (line) => line.replace('dbvitals', 'exec dbvitals'));
  const shell = spawn('sh', ['-ec', script], {
    cwd: place('work'),
    env: {
      PATH: `${place('bin')}:${process.env['PATH']}`,
      HOME: home,
      NODE_COMPILE_CACHE: COMPILED,
      PORT: '0',
      // The running service uses the folder, so a second service needs another one.
      ...(stays.test(block) && { DBVITALS_DATA_DIR: place('work', 'another') }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  const ended = new Promise<number | null>((resolve) => shell.once('close', resolve));
  if (stays.test(block)) {
    const works = () => /ready on |the monitor runs/.test(output);
    await expect.poll(() => shell.exitCode !== null || works()).toBe(true);
    shell.kill('SIGTERM');
  }
  expect({ exit: await ended, output }, script).toEqual({ exit: 0, output: expect.any(String) });
  return output;
}

test('every page is tested', () => {
  const names = readdirSync(join(import.meta.dirname, '../../docs/operate')).map((name) =>
    name.replace('.md', ''),
  );
  expect(names.toSorted()).toEqual([...PAGES, ...OTHERS].toSorted());
});

test.each([...PAGES, '../scaling'])('the commands in %s.md work', async (name) => {
  const blocks = blocksOf(operatePage(name));
  expect(blocks).not.toEqual([]);
  for (const { script, output } of blocks) {
    const printed = await run(script);
    // What follows may be another command. An upgrade has nothing to do here.
    const isOutput =
      !output.some((line) => /\bdbvitals [a-z]/.test(line)) && !script.includes('migrate --plan');
    if (isOutput) expect(linesNotPrinted(output, printed), `${script}${printed}`).toEqual([]);
  }
});

test('secure.md moves the secret key out of the data folder, which is the service user’s home under systemd', async () => {
  const home = place('work', '.dbvitals');
  const [doctor = '', move = ''] = commandsOf(operatePage('secure'));
  expect(await run(doctor, home)).toMatch(
    /^warning +secret +The secret key is in the same folder as the store/m,
  );
  const after = await run(move, home);
  expect(after).toMatch(/^ok +secret +The secret key comes from /m);
  expect(after).not.toMatch(/^warning +secret/m);
});

/** Runs a crontab job as cron does: in the user's home, with sh and a minimal environment. */
async function runAsCron(crontab: string): Promise<{ exit: number | null; output: string }> {
  const lines = crontab.trim().split('\n');
  const settings = lines.filter((line) => /^\w+=/.test(line)).map((line) => line.split('='));
  const [job = ''] = lines.filter((line) => !/^\w+=/.test(line));
  const [, work = ''] = /^(?:\S+\s+){5}(.*)$/.exec(job) ?? [];
  expect(work).not.toContain('%'); // cron replaces % by a newline
  const shell = spawn('/bin/sh', ['-c', work], {
    cwd: place('home'),
    env: { HOME: place('home'), LOGNAME: 'dbvitals', PATH: '/usr/bin:/bin', ...Object.fromEntries(settings) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  return { exit: await new Promise((resolve) => shell.once('close', resolve)), output };
}

test('the nightly job of backup.md works in the environment of cron, and doctor reports a failure', async () => {
  const [, crontab = ''] = /^```crontab\n(.*?)^```$/ms.exec(operatePage('backup')) ?? [];
  const here = crontab
    .replace('/usr/local/bin', place('bin'))
    .replace('/var/lib/dbvitals', place('work', '.dbvitals'))
    .replace('/var/backups/dbvitals', '../var/backups'); // relative to the home, because the folder's name contains a space
  expect(await runAsCron(here)).toEqual({
    exit: 0,
    output: expect.stringMatching(/: \d+ rows of \d+ tables/),
  });
  expect(readdirSync(place('var', 'backups'))).toEqual([
    expect.stringMatching(/^dbvitals-[0-9a-f]{16}-\d{8}T\d{9}Z\.backup$/),
  ]);
  // No store was created in the home.
  expect(readdirSync(place('home')).filter((name) => name.startsWith('.dbvitals'))).toEqual([]);
  const doctor = here.replace(/dbvitals backup .*/, 'dbvitals doctor');
  expect((await runAsCron(doctor)).output).toMatch(/^ok +backup +The last backup was made at/m);

  writeFileSync(place('file'), '');
  const failing = await runAsCron(here.replace('../var/backups', '../file/backups'));
  expect(failing).toEqual({
    exit: 1,
    output: expect.stringMatching(/^error: The folder .* can't be created/),
  });
  expect(await runAsCron(doctor)).toEqual({
    exit: 1,
    output: expect.stringMatching(
      /^error +backup +The last backup failed at .*: The folder .* can't be created/m,
    ),
  });
});
