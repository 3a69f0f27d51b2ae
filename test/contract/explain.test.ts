import { expect, test } from 'vitest';
import { command, commandJson } from './command.ts';

test('check explain prints the page of a check', async () => {
  const { exit, stdout, stderr } = await command(['check', 'explain', 'pg_password_expiring']);
  expect([exit, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^# PG_PASSWORD_EXPIRING: Password expires\n\n## What it measures\n/);
  for (const heading of ['Why it matters', 'Thresholds', 'Privilege', 'How to fix', 'How to silence']) {
    expect(stdout).toContain(`\n## ${heading}\n`);
  }
});

test('check explain --json gives the page and what the check is', async () => {
  const { stdout } = await command(['check', 'explain', 'PG_PASSWORD_EXPIRING']);
  expect(await commandJson(['check', 'explain', 'PG_PASSWORD_EXPIRING'])).toEqual({
    id: 'PG_PASSWORD_EXPIRING',
    title: 'Password expires',
    category: 'security',
    worst: 'critical',
    thresholds: { warning_days: 7, critical_days: 1 },
    page: stdout,
  });
  for (const id of ['CONN_UNREACHABLE', 'CONN_AUTH_FAILED', 'PG_PRIVILEGE_MISSING']) {
    expect(await commandJson(['check', 'explain', id])).toMatchObject({ id, thresholds: {} });
  }
});

test.each([['PG_NONE'], ['../../README'], ['']])('check explain %j: exit 2 and one sentence', async (id) => {
  const { exit, stdout, stderr } = await command(['check', 'explain', id]);
  expect([exit, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^error: There is no check [^\n]{10,300}\n$/);
});
