import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { closeWindows, openWindow, PHONE, settled, violations, visit, type Window } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused, press, tabTo, write } from './keyboard.ts';

let service: ConsoleAccount;
let owner: Person;
let opened: Window;
let page: Page;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 14, tickets: 40, activity: 100 });
  owner = await service.owner();
});

afterAll(closeWindows);

beforeEach(async () => {
  await opened?.close();
  opened = await openWindow(service.origin, owner);
  page = opened.page;
});

const title = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

interface Row {
  id: number;
  name: string;
  status: string;
  score: number | null;
}

const fleet = async () => (await service.ask<{ data: Row[] }>(owner, 'GET', '/fleet')).data;

test('a few keys lead to the worst database, its findings and the SQL to run', async () => {
  const [worst] = await fleet();
  await visit(page, '/');
  await title('Fleet');
  await settled(page);
  await page.keyboard.press('j');
  expect(await focused(page)).toContain(worst?.name);
  await page.keyboard.press('Enter');
  await title(worst?.name ?? '');
  await settled(page);
  const problem = page.getByRole('region', { name: 'What is wrong now' }).getByRole('link').first();
  await press(page, (await problem.textContent()) ?? '');
  await page.getByRole('heading', { name: 'What to run' }).first().waitFor();
  await press(page, 'Copy SQL');
  await page.getByRole('status').filter({ hasText: 'SQL copied' }).waitFor({ state: 'attached' });
  const sql = await page.getByRole('group', { name: 'SQL' }).first().textContent();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(sql);
  expect(opened.complaints).toEqual([]);
});

test('the fleet filters by status and name, and the URL holds the filters', async () => {
  const critical = (await fleet()).filter(({ status }) => status === 'critical');
  await visit(page, '/fleet');
  await tabTo(page, /^Critical/);
  await page.keyboard.press('Space');
  await page.waitForURL(/status=critical/);
  await expect.poll(() => page.locator('.table-item').count()).toBe(critical.length);
  await page.keyboard.press('/');
  const name = critical[0]?.name ?? '';
  await page.keyboard.type(name);
  await page.waitForURL((url) => url.searchParams.get('q') === name);
  await expect.poll(() => page.locator('.table-item').first().textContent()).toContain(name);
  await page.reload();
  await settled(page);
  expect(await page.locator('.table-item').first().textContent()).toContain(name);
  expect(await page.locator('.table-item').count()).toBeLessThanOrEqual(critical.length);
});

test('a finding is silenced with a note, and the silence is ended', async () => {
  const [worst] = await fleet();
  await visit(page, `/connections/${worst?.id}?tab=findings`);
  await press(page, /^Silence/);
  await page.getByRole('dialog', { name: 'Silence finding' }).waitFor();
  await write(page, 'Note', 'known since Monday');
  await press(page, 'Silence');
  await page.getByRole('heading', { level: 2, name: 'Silences' }).waitFor();
  await page.getByText('known since Monday').waitFor();
  await press(page, /^End silence of/);
  await page.getByRole('alertdialog').waitFor();
  await press(page, 'End silence');
  await page.getByRole('heading', { level: 2, name: 'Silences' }).waitFor({ state: 'detached' });
});

test('a test before saving reports a database that can’t be reached', async () => {
  await visit(page, '/connections/new');
  await write(page, 'Name', 'nobody there');
  await write(page, 'Connection URL', 'postgres://watcher:unspoken-watcher@127.0.0.1:1/shop');
  await press(page, 'Test connection');
  await page.getByText('Could not connect', { exact: true }).waitFor({ timeout: 60_000 });
  expect((await fleet()).map(({ name }) => name)).not.toContain('nobody there');
});

test('on a phone, the SQL that creates the login comes before the form', async () => {
  await page.setViewportSize(PHONE);
  await visit(page, '/connections/new');
  await press(page, 'Show SQL');
  await page.getByRole('group', { name: 'SQL' }).waitFor();
  await tabTo(page, /Where the server runs/);
  await tabTo(page, /^Name/);
  expect(await violations(page)).toEqual([]);
  expect(opened.complaints).toEqual([]);
});

test('an edit conflict on a connection names the earlier editor and overwrites nothing', async () => {
  const subject = (await fleet()).at(-1);
  await visit(page, `/connections/${subject?.id}?tab=settings`);
  await press(page, 'Edit');
  await page.getByRole('dialog', { name: 'Edit connection' }).waitFor();
  await write(page, 'Name', 'renamed by the later');
  const detail = await service.ask<{ settings: { version: number } }>(
    owner,
    'GET',
    `/connections/${subject?.id}`,
  );
  await service.ask(owner, 'PATCH', `/connections/${subject?.id}`, {
    version: detail.settings.version,
    name: 'renamed by the first',
  });
  await page.keyboard.press('Enter');
  const told = page.getByRole('alert').filter({ hasText: 'Nothing was saved' });
  await told.waitFor();
  expect(await told.textContent()).toContain('Ada Lovelace');
  expect((await fleet()).map(({ name }) => name)).toContain('renamed by the first');
  await page.keyboard.press('Escape');
});
