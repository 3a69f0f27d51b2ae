import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  closeWindows,
  keepPicture,
  openWindow,
  settled,
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
});

beforeEach(async () => {
  owner = await service.owner();
  opened = await openWindow(service.origin, owner);
  page = opened.page;
  return () => opened.close();
});

afterAll(closeWindows);

interface Issued {
  id: number;
  key: string;
}

const create = (name: string, expires_in: number | null = 86_400 * 90) =>
  service.ask<Issued>(owner, 'POST', '/keys', { name, expires_in });

/** The status of the API's answer to a request with the key. */
async function statusOf(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${service.origin}/api/v1/health/fleet`, { headers })).status;
}

/** The new key, which the page shows only once. */
async function shownKey(): Promise<string> {
  const key = await page.getByRole('dialog').locator('pre[aria-label="API key"]').textContent();
  expect(key).toMatch(/^dbv_live_/);
  return key ?? '';
}

async function storeAndClose(): Promise<void> {
  await tabTo(page, /^I have stored the key/);
  await page.keyboard.press('Space');
  await tabTo(page, 'Done');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

test('a new key is shown once, until the user confirms storing it, and its first request is reported', async () => {
  await visit(page, '/keys');
  await tabTo(page, 'Create key');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('Enterprise plan').waitFor();
  expect(await focused(page)).toBe('Name');
  expect(await page.getByRole('dialog').textContent()).toContain('100 requests per minute');
  expect(await violations(page)).toEqual([]);
  await page.keyboard.type('Grafana, by hand');
  await page.keyboard.press('Enter');
  const key = await shownKey();
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'key-created');
  for (const [x, y] of [
    [5, 5],
    [700, 5],
  ] as const) {
    await page.keyboard.press('Escape');
    await page.mouse.click(x, y);
  }
  expect(await shownKey()).toBe(key);
  expect(await page.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
  await tabTo(page, 'Copy API key');
  await page.keyboard.press('Enter');
  await page.getByRole('status').filter({ hasText: 'API key copied' }).waitFor({ state: 'attached' });
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
  const curl = (await page.locator('pre[aria-label="curl command"]').textContent()) ?? '';
  expect(curl).toBe(`curl -H 'Authorization: Bearer ${key}' ${service.origin}/api/v1/health/fleet`);
  await page.getByText('Waiting for the first request').waitFor();
  // The meter counts the current minute, so the request must not fall into the minute before.
  const left = 60_000 - (Date.now() % 60_000);
  if (left < 20_000) await wait(left);
  expect(await statusOf(key)).toBe(200);
  await page.getByText('The first request has arrived:').waitFor();
  await storeAndClose();
  expect(await page.content()).not.toContain(key);
  await page.getByRole('link', { name: 'Grafana, by hand' }).waitFor();
  const meter = page.getByRole('meter', { name: 'Requests this minute, Grafana, by hand' });
  await expect.poll(() => meter.getAttribute('aria-valuetext')).toBe('1 of 100');
  await expect.poll(() => focused(page)).not.toBe('');
  expect(opened.complaints).toEqual([]);
});

test('a URL opens the form with its fields filled in', async () => {
  await visit(page, '/keys?create=1&name=Vector&note=in%20the%20vault');
  await page.getByRole('dialog').waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('Vector');
  expect(await page.getByLabel('Note').inputValue()).toBe('in the vault');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('');
});

test('Escape asks before it drops a form with entries, and no group at all is explained in words', async () => {
  await visit(page, '/keys?create=1');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('Vector');
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Discard your changes?' }).waitFor();
  await page.getByRole('button', { name: 'Keep editing' }).click();
  expect(await page.getByLabel('Name').inputValue()).toBe('Vector');
  await tabTo(page, /All endpoints of the plan/);
  await page.keyboard.press('ArrowDown');
  await tabTo(page, 'Health');
  await page.keyboard.press('Space');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Choose at least one group of endpoints.').first().waitFor();
});

test('a key without expiry can be created', async () => {
  await visit(page, '/keys?create=1&name=forever');
  await tabTo(page, /90 days/);
  await page.keyboard.press('Enter');
  await page.getByRole('listbox').waitFor();
  await page.keyboard.type('Never');
  await page.keyboard.press('Enter');
  await page.getByText('You get no expiry warning').waitFor();
  await tabTo(page, 'Create key');
  await page.keyboard.press('Enter');
  await shownKey();
  await page.getByText('It does not expire').waitFor();
});

test('after regenerating with an overlap of 15 minutes, the rows are linked and the old key counts down', async () => {
  const old = await create('regenerated');
  expect(await statusOf(old.key)).toBe(200);
  await visit(page, '/keys');
  await actOn(page, 'regenerated', 'Regenerate…');
  await page.getByRole('radio', { name: 'After 1 hour', checked: true }).waitFor();
  await tabTo(page, 'After 1 hour');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await page.getByRole('radio', { name: 'After 1 minute', checked: true }).waitFor();
  await page.keyboard.press('ArrowDown');
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'key-regenerate');
  await tabTo(page, 'Regenerate');
  await page.keyboard.press('Enter');
  const key = await shownKey();
  await page.getByText(/The old key works until .* Time left: 14 min/).waitFor();
  expect([await statusOf(old.key), await statusOf(key)]).toEqual([200, 200]);
  await storeAndClose();
  const rows = page.locator('.table-item').filter({ hasText: 'regenerated' });
  await expect.poll(() => rows.count()).toBe(2);
  expect(await rows.nth(0).textContent()).toContain(`replaces key ${old.id}`);
  expect(await rows.nth(1).textContent()).toMatch(/Being replaced.*ends in 14 min/);
  await rows
    .nth(1)
    .getByRole('link', { name: /^key \d+$/ })
    .press('Enter');
  await page.getByRole('heading', { level: 1, name: 'regenerated' }).waitFor();
});

test('after regenerating without overlap, the old key is rejected', async () => {
  const old = await create('at once');
  await visit(page, '/keys');
  await actOn(page, 'at once', 'Regenerate…');
  await page.getByRole('radio', { name: 'Immediately', checked: true }).waitFor(); // the default for a key that was never used
  await tabTo(page, 'Regenerate');
  await page.keyboard.press('Enter');
  const key = await shownKey();
  await page.getByText('The old key is no longer accepted.').waitFor();
  expect([await statusOf(old.key), await statusOf(key)]).toEqual([401, 200]);
});

test('a key that expires soon shows a warning, and no overlap exceeds its expiry', async () => {
  await create('short', 3 * 3_600);
  await service.statement(
    `update api_key set created_at = created_at - interval '1 day' where account_id = ${service.accountId} and name = 'short'`,
  );
  await visit(page, '/keys');
  const warning = page.getByRole('region', { name: 'Keys that expire soon' });
  await warning.getByText('short').waitFor();
  await keepPicture(page, 'key-expiring');
  await tabTo(page, 'Regenerate short');
  await page.keyboard.press('Enter');
  const choices = await page.getByRole('radio').count();
  expect(choices).toBe(5); // at once, 1 min, 15 min, 1 h, when it expires
  await page.getByText('When it expires').waitFor();
});

test('revoking a key in use requires typing its name, and takes effect at once', async () => {
  const { key } = await create('in use');
  expect(await statusOf(key)).toBe(200);
  await visit(page, '/keys');
  await actOn(page, 'in use', 'Revoke…');
  const dialog = page.getByRole('alertdialog');
  await dialog.getByText('clients that use it will stop working').waitFor();
  await expect.poll(() => focused(page)).toBe('Key name');
  await page.keyboard.type('in us');
  expect(await dialog.getByRole('button', { name: 'Revoke key' }).isDisabled()).toBe(true);
  await page.keyboard.press('Enter');
  expect(await statusOf(key)).toBe(200);
  await page.keyboard.type('e');
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'key-revoke');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Key revoked' }).waitFor();
  expect(await statusOf(key)).toBe(401);
  await expect.poll(() => focused(page)).toBe('Close');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page
    .locator('.table-item')
    .filter({ hasText: 'in use' })
    .getByText('Revoked', { exact: true })
    .waitFor();
  await expect.poll(() => focused(page)).not.toBe('');
});

test('revoking requires the name of a key used meanwhile, and reports a revocation elsewhere', async () => {
  const { id, key } = await create('meanwhile');
  await visit(page, '/keys');
  await actOn(page, 'meanwhile', 'Revoke…');
  await page.getByText('This key was never used.').waitFor();
  expect(await statusOf(key)).toBe(200);
  await tabTo(page, 'Revoke key');
  await page.keyboard.press('Enter');
  await page.getByText('This key was used within the last hour').waitFor();
  await service.command('key', 'revoke', String(id));
  await expect.poll(() => focused(page)).toBe('Key name');
  await page.keyboard.type('meanwhile');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'is already revoked' }).waitFor();
  expect(await violations(page)).toEqual([]);
});

test('a key’s page lists its requests, which link to entries of the log', async () => {
  const { id, key } = await create('asks');
  for (let n = 0; n < 3; n++) await statusOf(key);
  await visit(page, '/keys');
  await tabTo(page, 'asks');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'asks' }).waitFor();
  await expect.poll(() => focused(page)).toBe('asks');
  await settled(page);
  const requests = page.getByRole('table', { name: 'Requests', exact: true });
  await requests.waitFor();
  expect(await requests.getAttribute('aria-rowcount')).toBe('4');
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'key');
  expect(new URL(page.url()).searchParams.get('key')).toBe(String(id));
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/activity\?entry=\d+/);
});

test('a new key stays visible until the user confirms storing it, despite Back or an ended session', async () => {
  await visit(page, '/team');
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('kept');
  await page.keyboard.press('Enter');
  const key = await shownKey();
  for (let n = 0; n < 3; n++) {
    await page.evaluate('history.back()');
    await page.waitForTimeout(200);
  }
  await page.getByRole('status').filter({ hasText: 'Tick “I have stored the key” first.' }).waitFor();
  await service.ask(owner, 'POST', '/sign-out');
  await page.waitForResponse(
    (response) => response.url().endsWith('/keys/windows') && response.status() === 401,
  );
  await page.waitForTimeout(500);
  expect(await shownKey()).toBe(key);
  await tabTo(page, /^I have stored the key/);
  await page.keyboard.press('Space');
  await tabTo(page, 'Done');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('a member without permission sees why they can’t create a key, also at the form’s own address', async () => {
  const auditor = await service.member('Edsger Dijkstra', ['auditor']);
  const window = await openWindow(service.origin, auditor);
  await visit(window.page, '/keys?create=1&name=Vector');
  await window.page.getByRole('dialog').getByText('keys:write').waitFor();
  expect(await violations(window.page)).toEqual([]);
  await window.page.keyboard.press('Escape');
  expect(await window.page.getByRole('button', { name: /^Actions for|Create key/ }).count()).toBe(0);
  await window.close();
});

test('names and notes are shown as text, even if they contain HTML', async () => {
  const name = '<img src=x onerror=alert(1)> \u202egpj.exe';
  await service.ask(owner, 'POST', '/keys', { name, note: '<script>alert(2)</script>', expires_in: null });
  await visit(page, '/keys');
  await page.getByText('<img src=x').first().waitFor();
  expect(await page.locator('main img, main script').count()).toBe(0);
  await create('n'.repeat(200));
  await visit(page, '/keys');
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(opened.complaints).toEqual([]);
});
