import { expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { command, commandJson } from './command.ts';
import type { Connection } from './records.ts';

interface Listed {
  level: string;
  of: string;
  check_id: string;
  name: string;
  value: number;
  changed_by: string | null;
}

interface Applied {
  changes: { action: string; what: string; name: string; from: object; to: object }[];
  unnamed: { name: string }[];
}

const at = (account: number) => ['--account', String(account)];
const set = (account: number, threshold: string, ...more: string[]) =>
  commandJson<{ changed: number }>([
    'threshold',
    'change',
    ...at(account),
    '--threshold',
    threshold,
    ...more,
  ]);
const listed = async (account: number) =>
  (await commandJson<Listed[]>(['threshold', 'list', ...at(account)])).map(
    ({ level, of, check_id, name, value, changed_by }) =>
      `${level} ${of} ${check_id}.${name}=${value} by ${changed_by}`,
  );

test('commands set thresholds of an account and of tags, list, export and preview them', async () => {
  const { id: account } = await makeAccount();
  await commandJson<Connection>([
    'connection',
    'add',
    ...at(account),
    '--name',
    'shop',
    '--url',
    'postgres://w@db.example.com/shop',
    '--threshold',
    'PG_DEAD_TUPLES.warning=0.3',
  ]);
  expect(await set(account, 'pg_dead_tuples.warning=0.2')).toEqual({ changed: 1 });
  expect(await set(account, 'PG_DEAD_TUPLES.warning=0.2')).toEqual({ changed: 0 });
  await set(account, 'PG_CONN_SATURATION.warning=0.95', '--tag', 'ENV:Test');
  await set(account, 'PG_CONN_SATURATION.critical=0.99', '--tag', 'env:test');
  await set(account, 'PG_CONN_SATURATION.critical=', '--tag', 'env:test');
  expect(await listed(account)).toEqual([
    'account  PG_DEAD_TUPLES.warning=0.2 by command line',
    'tag env:test PG_CONN_SATURATION.warning=0.95 by command line',
    'connection shop PG_DEAD_TUPLES.warning=0.3 by null',
  ]);
  const preview = ['threshold', 'preview', ...at(account), '--threshold', 'PG_DEAD_TUPLES.warning=0.3'];
  expect(await commandJson(preview)).toMatchObject({ connections: 0, unchanged: 1, findings: [] });
  const { stdout } = await command(preview);
  expect(stdout).toMatch(/^connections +0$/m);
  for (const [options, message] of [
    [['--threshold', 'PG_NONE.warning=1'], 'There is no check PG_NONE'],
    [['--threshold', 'PG_DEAD_TUPLES.colour=1'], 'PG_DEAD_TUPLES has no threshold colour'],
    [['--threshold', 'PG_DEAD_TUPLES.warning=1', '--tag', 'a b'], 'A tag is a label'],
    [['--threshold', 'PG_CONN_SATURATION.critical=0.1'], 'would be reached before warning 0.8 (the default)'],
    [['--threshold', 'PG_DEAD_TUPLES.warning=-1'], '--threshold must be CHECK_ID.name=number'],
  ] as const) {
    const { exit, stderr } = await command(['threshold', 'change', ...at(account), ...options]);
    expect([exit === 0, stderr.includes(message)], stderr).toEqual([false, true]);
  }
});

test('an exported file is applied to another account, which has the same thresholds then', async () => {
  const [one, two] = [await makeAccount(), await makeAccount()];
  await set(one.id, 'PG_DEAD_TUPLES.warning=0.25');
  await set(one.id, 'PG_DEAD_TUPLES.minimum_rows=1000000', '--tag', 'team:é');
  await set(two.id, 'PG_DEAD_TUPLES.naps=9');
  await set(two.id, 'PG_DEAD_TUPLES.naps=9', '--tag', 'pci');
  const text = (await command(['threshold', 'export', ...at(one.id)])).stdout;
  const { name } = await commandJson<{ name: string }>([
    'account',
    'change',
    String(two.id),
    '--name',
    `t${two.id}`,
  ]);
  const file = text.replace(/name: ".*"/, `name: ${JSON.stringify(name)}`);
  const apply = (...options: string[]) =>
    commandJson<Applied>(['apply', '-f', '-', ...options], {
      environment: inject('environment'),
      input: file,
    });
  const applied = await apply();
  expect(applied.changes.map(({ action, what, name: of }) => `${action} ${what} ${of}`)).toEqual([
    'change thresholds all connections',
    'add thresholds team:é',
  ]);
  expect(applied.changes[0]).toMatchObject({
    from: { 'PG_DEAD_TUPLES.naps': 9, 'PG_DEAD_TUPLES.warning': null },
    to: { 'PG_DEAD_TUPLES.naps': null, 'PG_DEAD_TUPLES.warning': 0.25 },
  });
  expect(applied.unnamed.map(({ name: of }) => of)).toEqual(['pci']);
  expect((await apply()).changes).toEqual([]);
  expect((await apply('--prune')).changes.map(({ action, name: of }) => `${action} ${of}`)).toEqual([
    'remove pci',
  ]);
  expect(await listed(two.id)).toEqual(await listed(one.id));
  const log = (await readLog(two.key)).filter(({ action_type }) => action_type === 'threshold_changed');
  expect(log.map(({ properties }) => properties['tag'])).toEqual([null, 'pci', null, 'team:é', 'pci']);
  const wrong = (thresholds: string) =>
    command(['apply', '-f', '-'], {
      environment: inject('environment'),
      input: `accounts:\n  - name: ${name}\n    plan: enterprise\n    tag_thresholds:\n      ${thresholds}\n`,
    });
  for (const [thresholds, message] of [
    ['"a b": {PG_DEAD_TUPLES: {warning: 1}}', 'A tag is a label'],
    ['pci: {PG_NONE: {warning: 1}}', 'There is no such check'],
    ['pci: {PG_DEAD_TUPLES: {warning: -1}}', 'A number from 0 (default: 0.1).'],
    ['{PCI: {PG_DEAD_TUPLES: {warning: 1}}, pci: {}}', 'Two names are the same tag'],
  ] as const)
    expect((await wrong(thresholds)).stderr).toContain(message);
});
