import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { fillAccount, makeAccount, makeKey } from './account.ts';
import { readLog } from './activity-log.ts';
import { ask, each } from './ask.ts';
import { command } from './command.ts';
import type { Entry } from './records.ts';
import { bareEnvironment, commandFolder, MAIN, startProcess, temporaryFolder } from './running-service.ts';

const tail = (...options: string[]) => ['activity', 'tail', '--url', inject('origin'), ...options];

/** The ids of whole lines. */
function idsOf(output: string): number[] {
  return output
    .split('\n')
    .slice(0, -1)
    .map((line): Entry => JSON.parse(line))
    .map(({ id }) => id);
}

const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

function stateFile(): string {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  return join(folder.path, 'state');
}

test('the log as the API gives it, one object a line: whole, after an id, the last ones', async () => {
  const { key } = await makeAccount();
  await each(upTo(130), 8, () => ask('/api/v1/health/fleet', { key }));
  const environment = { DBVITALS_API_KEY: key };
  const whole = await command(tail('--after-id', '0'), { environment });
  expect(whole).toMatchObject({ exit: 0, stderr: '' });
  const entries = whole.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(entries.slice(0, 130)).toEqual((await readLog(key)).slice(0, 130));
  const last = entries.at(-1).id;
  expect(entries.map(({ id }) => id)).toEqual(upTo(last));

  const later = await command(tail('--after-id', String(last)), { environment });
  expect(idsOf(later.stdout)[0]).toBe(last + 1);
  const latest = await command(tail(), { environment });
  expect(idsOf(latest.stdout).length).toBeGreaterThanOrEqual(20);
  expect(idsOf(latest.stdout).length).toBeLessThan(25);
});

test('following with a state file: repeated kills lose no entry and repeat few', async () => {
  const { id, key } = await makeAccount();
  const { key: busy } = await makeKey(id, 'busy');
  const state = stateFile();
  const printed: number[] = [];
  const arriving = each(upTo(600), 2, async () => {
    await ask('/api/v1/health/fleet', { key: busy });
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
  for (const signal of ['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
    const following = startProcess(tail('--follow', '--after-id', '0', '--state', state), {
      DBVITALS_API_KEY: key,
    });
    await following.says(/\n/);
    await expect.poll(() => existsSync(state)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await following.stop(signal)).toBe(signal === 'SIGTERM' ? 0 : null);
    const ids = idsOf(following.output());
    const { after_id: kept } = JSON.parse(readFileSync(state, 'utf8'));
    expect(kept).toBeLessThanOrEqual(ids.at(-1) ?? 0);
    if (signal === 'SIGTERM') expect(kept).toBe(ids.at(-1));
    expect(ids[0]).toBeLessThanOrEqual((printed.at(-1) ?? 0) + 1);
    printed.push(...ids);
  }
  await arriving;
  const rest = await command(tail('--after-id', '0', '--state', state), {
    environment: { DBVITALS_API_KEY: key },
  });
  printed.push(...idsOf(rest.stdout));
  const last = printed.at(-1) ?? 0;
  expect(last).toBeGreaterThan(600);
  expect([...new Set(printed)].toSorted((a, b) => a - b)).toEqual(upTo(last));
  expect(printed.length).toBeLessThan(last * 3);
  expect(existsSync(`${state}.new`)).toBe(false);
});

test('a kill in the middle of a long log repeats at most 100 lines, and loses none', async () => {
  const { id, key } = await makeAccount();
  await fillAccount(id, { connections: 0, tickets: 0, activity: 2_000 });
  const state = stateFile();
  const environment = { DBVITALS_API_KEY: key };
  const printed: number[] = [];
  for (let kills = 0; kills < 4; kills += 1) {
    const following = startProcess(tail('--follow', '--after-id', '0', '--state', state), environment);
    await following.says(/^(?:[^\n]*\n){150}/);
    await following.stop('SIGKILL');
    const ids = idsOf(following.output());
    const { after_id: kept } = JSON.parse(readFileSync(state, 'utf8'));
    const last = ids.at(-1) ?? 0;
    expect(last - kept, `${ids.length} lines`).toBeGreaterThanOrEqual(0);
    expect(last - kept, `${ids.length} lines`).toBeLessThanOrEqual(100);
    printed.push(...ids);
  }
  const rest = await command(tail('--after-id', '0', '--state', state), { environment });
  printed.push(...idsOf(rest.stdout));
  const last = printed.at(-1) ?? 0;
  expect(last).toBeGreaterThan(2_000);
  expect([...new Set(printed)].toSorted((a, b) => a - b)).toEqual(upTo(last));
  expect(printed.length - last).toBeLessThanOrEqual(400);
});

test('a closed pipe ends it quietly', async () => {
  const { key } = await makeAccount();
  const folder = commandFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pipe = '{ "$0" "$@"; echo "exit $?" >&2; } | head -n 2';
  const args = [MAIN, ...tail('--after-id', '0', '--follow')];
  const { stdout, stderr } = spawnSync('sh', ['-c', pipe, process.execPath, ...args], {
    cwd: folder,
    env: { ...bareEnvironment(folder), DBVITALS_API_KEY: key },
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect(idsOf(stdout)).toEqual([1, 2]);
  expect(stderr).toBe('exit 0\n');
});

test('every error is one sentence without the key', async () => {
  const { key } = await makeAccount();
  const other = stateFile();
  writeFileSync(other, 'the last 10 entries\n');
  const environment = { DBVITALS_API_KEY: key };
  const wrong: [string[], Record<string, string>, number, RegExp][] = [
    [tail(), {}, 2, /Set DBVITALS_API_KEY/],
    [tail(), { DBVITALS_API_KEY: `${key} ${key}` }, 2, /DBVITALS_API_KEY must be/],
    [tail('--follow'), { DBVITALS_API_KEY: 'dbv_live_nonsense' }, 1, /use a live key/],
    [tail('--account', '1'), environment, 2, /--account .* or --url/],
    [tail('--state', other), environment, 2, /is not a state file/],
    [tail('--state', '/no/such/folder/state'), environment, 1, /ENOENT/],
    [['activity', 'tail'], environment, 2, /--account .* or --url/],
    [['activity', 'tail', '--account', '1', '--state', 'x'], environment, 2, /--state needs --url/],
    [['activity', 'tail', '--url', `http://${key}@127.0.0.1`], environment, 2, /--url must be/],
    [['activity', 'tail', '--url', '127.0.0.1:8080'], environment, 2, /--url must be/],
    [['exporter', '--url', inject('origin')], {}, 2, /Set DBVITALS_API_KEY/],
    [['exporter', '--url', inject('origin'), '--listen', 'nonsense'], environment, 2, /--listen must be/],
    [
      ['exporter', '--url', inject('origin'), '--listen', '203.0.113.1:1'],
      environment,
      1,
      /is not available/,
    ],
    [['exporter'], environment, 2, /--url/],
  ];
  await each(wrong, 2, async ([words, settings, code, said]) => {
    const { exit, stdout, stderr } = await command(words, { environment: settings });
    expect(stderr, words.join(' ')).toMatch(said);
    expect(stderr.trimEnd()).not.toContain('\n');
    expect(stdout + stderr).not.toContain(key);
    expect(exit, words.join(' ')).toBe(code);
  });
  expect(readFileSync(other, 'utf8')).toBe('the last 10 entries\n');
});
