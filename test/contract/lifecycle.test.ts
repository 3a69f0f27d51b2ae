import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { COMPILED, copyEmptyStore, MAIN, temporaryFolder } from './running-service.ts';

const folder = temporaryFolder();
const dataFolder = join(folder.path, 'data');

afterAll(() => folder.remove());

interface Line {
  level: number;
  msg?: string;
}

/** A service at LOG_LEVEL info, its output by pipes: standard output, and the lines of standard error. */
function startPiped(args: string[]) {
  const { PATH = '' } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE: COMPILED, PORT: '0', DBVITALS_DATA_DIR: dataFolder };
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder.path, env });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  /** Fails where a line is no JSON object. */
  const lines = () =>
    said.err
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  const told = (msg: string) => lines().filter((line) => line.msg === msg);
  const until = (msg: string, count = 1) => expect.poll(() => told(msg).length).toBeGreaterThanOrEqual(count);
  const stop = async () => {
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    return (await closed)[0] as number | null;
  };
  return { said, lines, told, until, stop };
}

const postmaster = () =>
  Number(readFileSync(join(dataFolder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

test('a service by a pipe: the first start in the same words, each line of the log a JSON object, its life in it', async () => {
  // The first start of all, so that PostgreSQL is prepared too.
  const service = startPiped(['serve', '--no-monitor']);
  try {
    await service.until('dbvitals is ready');
    const before = postmaster();
    process.kill(before, 'SIGKILL');
    await service.until('the connection to PostgreSQL is back');
    expect(postmaster()).not.toBe(before);
  } finally {
    expect(await service.stop()).toBe(0);
  }
  const order = service.lines().flatMap(({ msg }) => (msg === undefined ? [] : [msg]));
  expect(
    order.filter((msg) => !/^(health check completed|the store|notifications|Server listening)/.test(msg)),
  ).toEqual([
    'preparing PostgreSQL (once, a few seconds)',
    'starting PostgreSQL',
    'dbvitals starts',
    'dbvitals is ready',
    'the connection to PostgreSQL was lost',
    'starting PostgreSQL',
    'the connection to PostgreSQL is back',
    'dbvitals stops: requests under way are answered first',
    'dbvitals has stopped',
  ]);
  expect(service.told('the connection to PostgreSQL was lost')).toMatchObject([{ level: 40 }]);
  expect(service.told('dbvitals is ready')).toMatchObject([{ url: expect.stringMatching(/^http:/) }]);
  expect(service.said.out).toMatch(/^dbvitals is ready on http:\/\/127\.0\.0\.1:\d+\n/);
  expect(service.said.out).toMatch(/^ {2}API key {6}dbv_live_\w{49} \(shown once/m);
  expect(service.said.out).toMatch(
    /^ {2}If a journal or log keeps this output, create another key and revoke this one: .* key revoke 1$/m,
  );
  expect(existsSync(join(dataFolder, 'postgres', 'postmaster.pid'))).toBe(false);
});

test('a monitor logs its lifecycle too when its output is a pipe', async () => {
  copyEmptyStore({ DBVITALS_DATA_DIR: dataFolder });
  const monitor = startPiped(['monitor']);
  await monitor.until('the monitor runs health checks that are due');
  expect(await monitor.stop()).toBe(0);
  expect(monitor.told('the monitor has stopped')).toHaveLength(1);
  expect(monitor.said.out).toBe('');
});
