import { expect, test } from 'vitest';
import { makeAccount } from './account.ts';
import { command, commandJson } from './command.ts';

const account = makeAccount();

interface Window {
  id: number;
  name: string;
  state: string;
  starts_at: string;
  ends_at: string;
}

const inAccount = async () => ['--account', String((await account).id)];
const add = async (...options: string[]) => ['maintenance', 'add', ...(await inAccount()), ...options];

test('windows: add once and each week, list, remove', async () => {
  const once = await commandJson<Window>(await add('--name', 'New disks', '--for', '2h'));
  expect(once.state).toBe('active');
  expect(Date.parse(once.ends_at) - Date.parse(once.starts_at)).toBeCloseTo(7_200_000, -5);
  const weekly = await commandJson<Window>(
    await add(
      '--name',
      'Updates',
      '--every',
      'sun',
      '--every',
      'sat',
      '--at',
      '02:00',
      '--time-zone',
      'europe/berlin',
      '--for',
      '90m',
    ),
  );
  expect(weekly).toMatchObject({
    weekdays: [6, 7],
    start_time: '02:00',
    time_zone: 'Europe/Berlin',
    minutes: 90,
    connections: { ids: null, names: null },
  });
  const coming = await commandJson<Window>(await add('--name', 'Later', '--from', '2h', '--for', '1h'));
  expect(coming.state).toBe('coming');
  const human = await command(['maintenance', 'list', ...(await inAccount())]);
  expect(human.stdout).toMatch(/New disks\s+active\s+all .*\n/);
  expect(human.stdout).toContain('sat, sun 02:00 Europe/Berlin, 90 min');
  expect((await commandJson<Window>(['maintenance', 'remove', String(once.id)])).state).toBe('past');
  const listed = await commandJson<Window[]>(['maintenance', 'list', ...(await inAccount())]);
  expect(listed.find(({ id }) => id === once.id)?.state).toBe('past');
  const again = await command(['maintenance', 'remove', String(once.id)]);
  expect([again.exit, again.stderr]).toEqual([1, expect.stringContaining('no active or coming')]);
});

test.each([
  [['--until', '2020-01-31T18:00:00Z'], /The window is in the past/],
  [['--from', '2h', '--until', '2020-01-31'], /must end after it starts/],
  [['--from', 'soon', '--for', '1h'], /--from must be a date-time/],
  [[], /Give either --until or --for/],
  [['--for', '1h', '--at', '02:00'], /give --every too/],
  [['--every', 'sun', '--for', '1h'], /needs --every, --at and --for/],
  [['--every', 'sun', '--at', '25:00', '--for', '1h'], /hours and minutes/],
  [
    ['--every', 'sun', '--at', '02:00', '--for', '1h', '--time-zone', 'Berlin'],
    /Did you mean Europe\/Berlin/,
  ],
  [['--for', '1h', '--connection', 'nothing-*'], /No connection matches "nothing-\*"/],
  [['--for', '1h', '--connection', '999999999'], /There is no connection 999999999/],
])('maintenance add %j gets one sentence', async (options, sentence) => {
  const { exit, stderr, stdout } = await command(await add('--name', 'X', ...options));
  expect(exit).toBeGreaterThan(0);
  expect(stdout).toBe('');
  expect(stderr).toMatch(sentence);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

test('apply brings recurring windows to the desired state', async () => {
  const file = (windows: string) => `
accounts:
  - name: Windows by file
    plan: business
    maintenance:
${windows}`;
  const apply = (text: string, options: string[] = []) =>
    commandJson<{ changes: { action: string; name: string; changed: string[] }[] }>(
      ['apply', '-f', '-', ...options],
      { input: text },
    );
  const window = (lasts: string) => `
      - { name: Updates, every: [sun, sat], at: "02:00", for: ${lasts}, time_zone: Europe/Berlin }`;
  const first = await apply(file(window('2h')));
  expect(first.changes.map(({ action, name }) => `${action} ${name}`)).toEqual([
    'add Windows by file',
    'add Updates',
  ]);
  expect((await apply(file(window('120m')))).changes).toEqual([]);
  expect((await apply(file(window('3h')))).changes).toMatchObject([
    { action: 'change', changed: ['minutes'] },
  ]);
  expect((await apply(file('      []'), ['--prune'])).changes).toMatchObject([
    { action: 'remove', name: 'Updates' },
  ]);
  const wrong = file('      - { name: X, every: [sun], at: "02:00", for: 7d, time_zone: UTC }');
  const { exit, stderr } = await command(['apply', '-f', '-'], { input: wrong });
  expect(exit).toBe(2);
  expect(stderr).toMatch(/maintenance\[0\]: This window would never end/);
});
