import { expect, test } from 'vitest';
import { makeAccount } from './account.ts';
import { command, commandJson } from './command.ts';

const account = makeAccount();

interface Rule {
  id: number;
  name: string;
  preset: string | null;
}

const inAccount = async () => ['--account', String((await account).id)];

test('a new account starts with three rules', async () => {
  const made = await commandJson<{ id: number }>([
    'account',
    'create',
    '--name',
    'With presets',
    '--plan',
    'business',
  ]);
  const rules = await commandJson<Rule[]>(['alert', 'rule', 'list', '--account', String(made.id)]);
  expect(rules.map(({ name }) => name)).toEqual([
    'Score below 50',
    'Unreachable for 10 minutes',
    'No check for three intervals',
  ]);
  expect(await commandJson(['alert', 'list', '--account', String(made.id)])).toEqual([]);
});

test('rules: add, change, remove', async () => {
  const of = await inAccount();
  const when = 'PG_CONN_SATURATION.connections_used_ratio >= 0.9';
  const options = [
    '--clear',
    '0.8',
    '--for',
    '10m',
    '--runs',
    '2',
    '--severity',
    'critical',
    '--remind',
    'none',
  ];
  const added = await commandJson<Rule>(['alert', 'rule', 'add', ...of, '--when', when, ...options]);
  expect(added).toMatchObject({
    name: when,
    metric: 'measure',
    check_id: 'PG_CONN_SATURATION',
    measure: 'connections_used_ratio',
    operator: '>=',
    threshold: 0.9,
    clear_threshold: 0.8,
    for_seconds: 600,
    for_runs: 2,
    severity: 'critical',
    reminder_seconds: null,
    is_enabled: true,
    connection_ids: null,
  });
  const id = String(added.id);
  const changed = await commandJson([
    'alert',
    'rule',
    'change',
    id,
    '--no-clear',
    '--disable',
    '--remind',
    '6h',
  ]);
  expect(changed).toMatchObject({ clear_threshold: null, is_enabled: false, reminder_seconds: 21_600 });
  const human = await command(['alert', 'rule', 'list', ...of]);
  expect(human.stdout).toContain(`${when}  600 s, 2 runs  critical`);
  await commandJson(['alert', 'rule', 'remove', id]);
  expect(await command(['alert', 'rule', 'remove', id])).toMatchObject({
    exit: 1,
    stderr: `error: There is no alert rule ${id}: see "alert rule list".\n`,
  });
});

test.each([
  [
    'findings_warning PG_XID_WRAPAROUN >= 1',
    'There is no check PG_XID_WRAPAROUN: did you mean PG_XID_WRAPAROUND?',
  ],
  [
    'score < 50 --clear 40',
    'The clearing value is on the wrong side: it must be at or above the threshold 50.',
  ],
  ['score < 50 --connection nothing-*', 'This rule can never hold: no connection matches.'],
  ['score < 50 --destination 999999', 'There is no destination 999999 in this account.'],
])('%s is rejected with a sentence', async (written, sentence) => {
  const [when = '', ...options] = written.split(/ (?=--)/);
  const words = options.flatMap((option) => option.split(' '));
  const { exit, stderr } = await command([
    'alert',
    'rule',
    'add',
    ...(await inAccount()),
    '--when',
    when,
    ...words,
  ]);
  expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(sentence) });
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

test('an alert that does not exist is said', async () => {
  const { exit, stderr } = await command(['alert', 'acknowledge', '999999', '--note', 'On it.']);
  expect({ exit, stderr }).toEqual({
    exit: 1,
    stderr: 'error: There is no open alert 999999: see "alert list".\n',
  });
});

interface Difference {
  action: string;
  name: string;
  changed: string[];
}

test('apply brings rules to the desired state, also those that a new account starts with', async () => {
  const file = (rules: string) => `
accounts:
  - name: Rules by file
    plan: business
    alert_rules:
${rules}`;
  const apply = (text: string, options: string[] = []) =>
    commandJson<{ changes: Difference[]; unnamed: Difference[] }>(['apply', '-f', '-', ...options], {
      input: text,
    });
  const wanted = `
      - { name: Score below 50, when: score < 60, clear: 65, runs: 2, severity: critical }
      - { name: Sequences, when: days_left PG_SEQUENCE_EXHAUSTION < 14, severity: info }`;
  const first = await apply(file(wanted), ['--prune']);
  expect(first.changes.map(({ action, name }) => `${action} ${name}`)).toEqual([
    'add Rules by file',
    'change Score below 50',
    'add Sequences',
  ]);
  expect(first.changes[1]?.changed).toEqual(['when', 'clear']);
  expect((await apply(file(wanted), ['--prune'])).changes).toEqual([]);
  // What every account starts with stays, even where the list is empty; it is disabled by name.
  const none = `${file('').replace('alert_rules:', 'alert_rules: []')}`;
  expect((await apply(none)).unnamed.map(({ name }) => name)).toEqual(['Sequences']);
  const pruned = await apply(none, ['--prune']);
  expect(pruned.changes.map(({ action, name }) => `${action} ${name}`)).toEqual(['remove Sequences']);
  const off = file('      - { name: Score below 50, when: score < 60, clear: 65, runs: 2, enabled: false }');
  expect((await apply(off, ['--prune'])).changes.map(({ changed }) => changed)).toEqual([
    ['severity', 'enabled'],
  ]);
  const wrong = file('      - { name: Never, when: score < 0 }\n      - { name: X, when: scroe < 1 }');
  const { exit, stderr } = await command(['apply', '-f', '-'], { input: wrong });
  expect(exit).toBe(2);
  expect(stderr).toMatch(/:6:\d+: accounts\[0\]\.alert_rules\[0\]: This rule can never hold/m);
  expect(stderr).toMatch(
    /:7:\d+: accounts\[0\]\.alert_rules\[1\]\.when: A condition compares .* Did you mean score\?/m,
  );
});

test('apply sends the alerts of a rule to the destinations that it names, and to all if it names none', async () => {
  const apply = (destinations: string, rule: string) =>
    command(['apply', '-f', '-'], {
      input: `
accounts:
  - name: Destinations of rules
    plan: business
    destinations: [${destinations}]
    alert_rules:
      - { name: Low, when: score < 60${rule} }`,
    });
  const chat = '{ name: Chat, channel: webhook, url: "https://hooks.example.com/chat" }';
  const pager = '{ name: Pager, channel: webhook, url: "https://hooks.example.com/pager" }';

  const wrong = await apply(chat, ', destinations: [Chat, Pgaer]');
  expect(wrong).toMatchObject({ exit: 2, stdout: '' });
  expect(wrong.stderr).toMatch(
    /alert_rules\[0\]\.destinations: The account has no destination with one of these names\./,
  );

  expect(await apply(`${chat}, ${pager}`, ', destinations: [Pager]')).toMatchObject({ exit: 0 });
  const accounts = await commandJson<{ id: number; name: string }[]>(['account', 'list']);
  const id = String(accounts.find(({ name }) => name === 'Destinations of rules')?.id);
  const destinations = await commandJson<{ id: number; name: string }[]>([
    'destination',
    'list',
    '--account',
    id,
  ]);
  const pagerId = destinations.find(({ name }) => name === 'Pager')?.id;
  const named = async () => {
    const rules = await commandJson<(Rule & { destination_ids: number[] | null })[]>([
      'alert',
      'rule',
      'list',
      '--account',
      id,
    ]);
    return rules.find(({ name }) => name === 'Low')?.destination_ids;
  };
  expect(await named()).toEqual([pagerId]);
  expect((await apply(`${chat}, ${pager}`, ', destinations: [Pager]')).stdout).toMatch(/No differences/);
  expect((await apply(`${chat}, ${pager}`, '')).stdout).toContain('destinations Pager -> all');
  expect(await named()).toBeNull();
});
