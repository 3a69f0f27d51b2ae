import { expect, test } from 'vitest';
import { type Command, matching } from './command-groups.ts';

const command = (label: string, detail?: string): Command => ({
  id: label,
  label,
  icon: 'search',
  run: () => {},
  ...(detail !== undefined && { detail }),
});

const GROUPS = [
  { label: 'Pages', commands: [command('Fleet'), command('API keys')] },
  { label: 'Connections', commands: [command('shop', 'db.example.com')] },
];

const found = (text: string) =>
  matching(GROUPS, text).map(({ label, commands }) => [label, ...commands.map((one) => one.label)]);

test('a command is found by parts of words in any order, its detail included', () => {
  expect(found('')).toEqual([
    ['Pages', 'Fleet', 'API keys'],
    ['Connections', 'shop'],
  ]);
  expect(found('  KEY api')).toEqual([['Pages', 'API keys']]);
  expect(found('shop example')).toEqual([['Connections', 'shop']]);
  expect(found('fleet shop')).toEqual([]);
  expect(found('.*')).toEqual([]);
});
