import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from './contract/free-port.ts';
import {
  COMPILED,
  embeddedUrl,
  type Service,
  startService,
  temporaryFolder,
} from './contract/running-service.ts';
import { commandsOf, operatePage, putCommand } from './operate-page.ts';

// As an operator comes by them: in one folder, beside a service that runs there.
const PAGES = ['provision', 'scale', 'backup', 'upgrade', 'restore', 'secure'];
// Run elsewhere: by `npm run test:package`, and by test/contract/operate-monitor.test.ts.
const OTHERS = ['install', 'monitor', 'tune'];

const folder = temporaryFolder();
const place = (...names: string[]) => join(folder.path, ...names);
let service: Service;
/** What pages say, and what stands for it here: places that only one machine has. */
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
    ['/etc/dbvitals', '../etc'], // from the folder where blocks run
  ];
});

afterAll(async () => {
  await service?.stop();
  folder.remove();
});

/** Runs a block as a person pastes it and gives what it printed; one that serves or watches is told to end once it does, and ends well. */
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
      // The folder is the running service's: one more serves from another.
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
    await expect.poll(() => shell.exitCode !== null || works(), { timeout: 40_000 }).toBe(true);
    shell.kill('SIGTERM');
  }
  expect({ exit: await ended, output }, script).toEqual({ exit: 0, output: expect.any(String) });
  return output;
}

test('every page is here', () => {
  const names = readdirSync(join(import.meta.dirname, '../docs/operate')).map((name) =>
    name.replace('.md', ''),
  );
  expect(names.toSorted()).toEqual([...PAGES, ...OTHERS].toSorted());
});

test.each(PAGES)('the commands of %s.md do what they say', async (name) => {
  const blocks = commandsOf(operatePage(name));
  expect(blocks).not.toEqual([]);
  for (const block of blocks) await run(block);
});

test('secure.md moves the secret key out of the data folder, which is the home of the service user under systemd', async () => {
  const home = place('work', '.dbvitals');
  const [doctor = '', move = ''] = commandsOf(operatePage('secure'));
  expect(await run(doctor, home)).toMatch(
    /^warning +secret +The secret key is in the same folder as the store/m,
  );
  const after = await run(move, home);
  expect(after).toMatch(/^ok +secret +The secret key comes from /m);
  expect(after).not.toMatch(/^warning +secret/m);
});

/** Runs a job of a crontab as cron does: in the user's home, by sh, with what the crontab sets and next to nothing else. */
async function runAsCron(crontab: string): Promise<{ exit: number | null; output: string }> {
  const lines = crontab.trim().split('\n');
  const settings = lines.filter((line) => /^\w+=/.test(line)).map((line) => line.split('='));
  const [job = ''] = lines.filter((line) => !/^\w+=/.test(line));
  const [, work = ''] = /^(?:\S+\s+){5}(.*)$/.exec(job) ?? [];
  expect(work).not.toContain('%'); // cron makes a line end of it
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

test('the nightly job of backup.md works in the environment of cron, and doctor tells when it fails', async () => {
  const [, crontab = ''] = /^```crontab\n(.*?)^```$/ms.exec(operatePage('backup')) ?? [];
  const here = crontab
    .replace('/usr/local/bin', place('bin'))
    .replace('/var/lib/dbvitals', place('work', '.dbvitals'))
    .replace('/var/backups/dbvitals', '../var/backups'); // from the home, for the folder's name has a blank
  expect(await runAsCron(here)).toEqual({
    exit: 0,
    output: expect.stringMatching(/: \d+ rows of \d+ tables/),
  });
  expect(readdirSync(place('var', 'backups'))).toEqual([
    expect.stringMatching(/^dbvitals-\d{8}T\d{6}Z\.backup$/),
  ]);
  // No store was made in the home.
  expect(readdirSync(place('home')).filter((name) => name.startsWith('.dbvitals'))).toEqual([]);
  const doctor = here.replace(/dbvitals backup .*/, 'dbvitals doctor');
  expect((await runAsCron(doctor)).output).toMatch(/^ok +backup +The last backup was made at/m);

  writeFileSync(place('file'), '');
  const failing = await runAsCron(here.replace('../var/backups', '../file/backups'));
  expect(failing).toEqual({ exit: 1, output: expect.stringMatching(/^error: The folder .* can't be made/) });
  expect(await runAsCron(doctor)).toEqual({
    exit: 1,
    output: expect.stringMatching(
      /^error +backup +The last backup failed at .*: The folder .* can't be made/m,
    ),
  });
});
