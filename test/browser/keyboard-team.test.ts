import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  closeWindows,
  inspect,
  keepPicture,
  openWindow,
  violations,
  visit,
  type Window,
} from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { actOn, focused, tabTo } from './keyboard.ts';

let service: ConsoleAccount;
let owner: Person;
let opened: Window;
let page: Page;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 3, tickets: 10, activity: 200 });
  owner = await service.owner();
});

beforeEach(async () => {
  opened = await openWindow(service.origin, owner);
  page = opened.page;
  return () => opened.close();
});

afterAll(closeWindows);

interface Member {
  id: number;
  name: string;
  version: string;
  status: string;
  roles: string[];
}

async function memberOf(name: string): Promise<Member> {
  const { data } = await service.ask<{ data: Member[] }>(owner, 'GET', '/members');
  const found = data.find((member) => member.name === name);
  if (!found) throw new Error(`There is no member ${name}.`);
  return found;
}

test('an invited member joins through the link and has the assigned roles', async () => {
  await visit(page, '/team');
  await tabTo(page, 'Invite member');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Name');
  await page.keyboard.type('Grace Hopper');
  await tabTo(page, 'E-mail address');
  await page.keyboard.type('grace@example.com');
  await tabTo(page, /^Operator/);
  await page.keyboard.press('Space');
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'team-invite');
  await tabTo(page, 'Invite');
  await page.keyboard.press('Enter');
  const link = (await page.locator('pre[aria-label="invitation link"]').textContent()) ?? '';
  expect(link.startsWith(`${service.origin}/link/`)).toBe(true);
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await tabTo(page, 'Done');
  await page.keyboard.press('Enter');
  const row = page.locator('.table-item').filter({ hasText: 'grace@example.com' });
  await row.getByText('Invited', { exact: true }).waitFor();
  await row.getByText(/link expires/).waitFor();
  await expect.poll(() => focused(page)).not.toBe('');

  // Who is signed in already is told so, and may keep the session.
  const signedIn = await openWindow(service.origin, owner);
  await visit(signedIn.page, new URL(link).pathname);
  await signedIn.page.getByText(`You are signed in as ${owner.email}.`, { exact: false }).waitFor();
  await inspect(signedIn.page, 'link-signed-in');
  await signedIn.page.getByRole('link', { name: 'go back to the console' }).click();
  await signedIn.page.waitForURL('**/fleet');
  expect(signedIn.complaints).toEqual([]);
  await signedIn.close();

  const guest = await openWindow(service.origin, null);
  await visit(guest.page, new URL(link).pathname);
  await guest.page.getByLabel('Password', { exact: true }).fill('a sentence that Grace keeps');
  await guest.page.getByRole('button', { name: 'Sign in' }).click();
  await guest.page.waitForURL('**/fleet');
  await guest.close();
  const grace = await memberOf('Grace Hopper');
  expect([grace.status, grace.roles]).toEqual(['active', ['operator', 'viewer']]);
  expect(opened.complaints).toEqual([]);
});

test('an existing member’s e-mail address is reported beside its field', async () => {
  await visit(page, '/team');
  await page.getByRole('button', { name: 'Invite member' }).click();
  await page.getByLabel('Name').fill('Another Ada');
  await page.getByLabel('E-mail address').fill(owner.email);
  await page.keyboard.press('Enter');
  await page.getByText('already has a member with this e-mail address').waitFor();
  expect(await page.getByLabel('E-mail address').getAttribute('aria-invalid')).toBe('true');
});

test('an edit conflict on a member is reported and overwrites nothing', async () => {
  await service.member('Barbara Liskov', ['viewer']);
  await visit(page, '/team');
  await actOn(page, 'Barbara Liskov', 'Edit…');
  await page.getByRole('dialog').waitFor();
  const { id, version } = await memberOf('Barbara Liskov');
  await service.ask(owner, 'PATCH', `/members/${id}`, { version, roles: ['operator', 'auditor'] });
  await tabTo(page, /^Administrator/);
  await page.keyboard.press('Space');
  await tabTo(page, 'Save');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'Ada Lovelace changed it' }).waitFor();
  await page.getByText('with the roles operator, auditor').waitFor();
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'team-conflict');
  expect((await memberOf('Barbara Liskov')).roles).toEqual(['operator', 'auditor']);
  await tabTo(page, 'Use current values');
  await page.keyboard.press('Enter');
  expect(await page.getByRole('checkbox', { name: /^Operator/ }).isChecked()).toBe(true);
  expect(await page.getByRole('checkbox', { name: /^Administrator/ }).isChecked()).toBe(false);
  await tabTo(page, 'Save');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('a member is suspended, reactivated and removed', async () => {
  await service.member('Donald Knuth', ['viewer']);
  await visit(page, '/team');
  const row = page.locator('.table-item').filter({ hasText: 'Donald Knuth' });
  for (const [action, button, word] of [
    ['Suspend…', 'Suspend', 'Suspended'],
    ['Reactivate…', 'Reactivate', 'Active'],
  ] as const) {
    await actOn(page, 'Donald Knuth', action);
    await page.getByRole('alertdialog').waitFor();
    expect(await violations(page)).toEqual([]);
    await tabTo(page, button);
    await page.keyboard.press('Enter');
    await row.getByText(word, { exact: true }).waitFor();
    await expect.poll(() => focused(page)).toMatch(/^Actions for Donald Knuth/);
  }
  await actOn(page, 'Donald Knuth', 'Remove…');
  await tabTo(page, 'Remove');
  await page.keyboard.press('Enter');
  await row.waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).not.toBe('');
});

test('an administrator can’t assign a role above their own or edit an owner', async () => {
  const admin = await service.member('Ken Thompson', ['admin']);
  const window = await openWindow(service.origin, admin);
  await visit(window.page, '/team');
  const owners = window.page.locator('.table-item').filter({ hasText: owner.email });
  expect(await owners.getByRole('button').count()).toBe(0);
  await window.page.getByRole('button', { name: 'Invite member' }).click();
  expect(await window.page.getByRole('checkbox', { name: /^Owner/ }).isDisabled()).toBe(true);
  expect(await window.page.getByRole('checkbox', { name: /^Administrator/ }).isDisabled()).toBe(false);
  expect(await violations(window.page)).toEqual([]);
  await window.close();
});

test('the last owner can’t give up the role', async () => {
  const only = await service.createOwner('team');
  const window = await openWindow(service.origin, only);
  await visit(window.page, '/team');
  await window.page.getByRole('button', { name: /^Actions for/ }).click();
  await window.page.getByRole('menuitem', { name: 'Edit…' }).click();
  await window.page.getByRole('checkbox', { name: /^Owner/ }).press('Space');
  await window.page.getByRole('checkbox', { name: /^Viewer/ }).press('Space');
  await window.page.getByRole('button', { name: 'Save' }).click();
  await window.page.getByRole('alert').filter({ hasText: 'no owner who can sign in' }).waitFor();
  await window.close();
});

test('the matrix describes each role’s permissions in words', async () => {
  await visit(page, '/team');
  const matrix = page.getByRole('region', { name: 'Roles and permissions' });
  const { data } = await service.ask<{ data: { name: string; permissions: string[] }[] }>(
    owner,
    'GET',
    '/read/team/roles',
  );
  const heads = await matrix.locator('thead th').allInnerTexts();
  expect(heads.slice(1).map((text) => text.split('\n')[0])).toEqual(data.map(({ name }) => name));
  for (const row of await matrix.locator('tbody tr').all()) {
    const permission = (await row.locator('th code').textContent()) ?? '';
    const words = await row.locator('td .hidden-text').allInnerTexts();
    expect(words, permission).toEqual(
      data.map(({ permissions }) => (permissions.includes(permission) ? 'yes' : 'no')),
    );
  }
});

test('the account can be renamed, and an edit conflict is reported', async () => {
  await visit(page, '/account');
  await tabTo(page, 'Account name');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Renamed by hand');
  await page.keyboard.press('Enter');
  await page.getByRole('status').filter({ hasText: 'Account renamed' }).waitFor();
  const { version } = await service.ask<{ version: number }>(owner, 'GET', '/account');
  await service.ask(owner, 'PATCH', '/account', { version, name: 'Renamed meanwhile' });
  await tabTo(page, 'Account name');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Renamed again');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'Ada Lovelace changed it' }).waitFor();
  await page.getByText('The account is now called Renamed meanwhile').waitFor();
  expect((await service.ask<{ name: string }>(owner, 'GET', '/account')).name).toBe('Renamed meanwhile');
  expect(await violations(page)).toEqual([]);
});

test('a member whose sign-in is older than ten minutes confirms their identity, and the change is made', async () => {
  await service.statement(
    `update session set proved_at = proved_at - interval '10 minutes' where account_id = ${service.accountId}`,
  );
  await visit(page, '/team');
  await page.getByRole('button', { name: 'Invite member' }).click();
  await page.getByLabel('Name').fill('Joan Clarke');
  await page.getByLabel('E-mail address').fill('joan@example.com');
  await page.keyboard.press('Enter');
  const proof = page.getByRole('dialog', { name: 'Confirm your identity' });
  await proof.waitFor();
  expect(await violations(page)).toEqual([]);
  await expect.poll(() => focused(page)).toBe('Your password');
  await page.keyboard.type('none of hers at all');
  await page.keyboard.press('Enter');
  await proof.getByText('This is not your password').waitFor();
  await proof.getByLabel('Your password').fill(owner.password);
  await page.keyboard.press('Enter');
  await page.locator('pre[aria-label="invitation link"]').waitFor();
});
