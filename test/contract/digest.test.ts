import { expect, test } from 'vitest';
import { makeAccount } from './account.ts';
import { command, commandJson } from './command.ts';
import { time } from './records.ts';

const words = (id: number, ...more: string[]) => ['digest', '--account', String(id), ...more];

test('a digest of a quiet account takes two lines; as JSON and HTML it says the same', async () => {
  const { id } = await makeAccount();
  const added = [
    'connection',
    'add',
    '--account',
    String(id),
    '--name',
    'shop <1>',
    '--backup-expected',
    '26h',
  ];
  await commandJson([...added, '--url', 'postgres://w@db.example.com/shop']);
  const { stdout, exit } = await command(words(id));
  expect(exit).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/: 1 database, no score yet\. Nothing opened, and nothing is open\.$/);
  expect(lines[1]).toBe('Backups: all 1 as expected.');
  const digest = await commandJson<Record<string, unknown>>(words(id, '--days', '31'));
  expect(digest).toMatchObject({
    account: { id },
    from: time,
    until: time,
    connections: 1,
    score: { now: null, before: null },
    opened: { critical: 0, warning: 0, info: 0, first: [] },
    backups: { expected: 1, overdue: [], failed: [] },
  });
  const html = (await command(words(id, '--html', '--url', 'https://dbvitals.example.com/'))).stdout;
  expect(html).toMatch(/^<!doctype html>/);
  expect(html).toContain('<a href="https://dbvitals.example.com/fleet">');
  expect(html).toContain('Backups: all 1 as expected.');
});

test('sample data make a digest of one screen whose lines have links', async () => {
  const { id } = await makeAccount();
  await command([
    'sample-data',
    '--account',
    String(id),
    '--connections',
    '20',
    '--tickets',
    '200',
    '--activity',
    '500',
  ]);
  const { stdout } = await command(
    words(id, '--time-zone', 'Europe/Berlin', '--url', 'https://dbvitals.example.com'),
  );
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(70);
  expect(lines[1]).toMatch(/^20 databases, score \d+/);
  expect(stdout).toContain('Still open');
  const links = lines.filter((line) => line.startsWith('    '));
  expect(links.length).toBeGreaterThan(5);
  for (const link of links)
    expect(link).toMatch(
      /^ {4}https:\/\/dbvitals\.example\.com\/(?:tickets\?status=all&ticket=\d+|connections\/\d+)$/,
    );
});

test('the command says what is wrong', async () => {
  const { id } = await makeAccount();
  const refused = [
    await command(['digest']),
    await command(words(id, '--days', '32')),
    await command(words(id, '--html', '--json')),
    await command(words(id, '--time-zone', 'Europe/Berlinn')),
    await command(words(999_999_999)),
  ];
  expect(refused.map(({ exit }) => exit)).toEqual([2, 2, 2, 2, 1]);
  expect(refused[3]?.stderr).toContain('Europe/Berlin');
});
