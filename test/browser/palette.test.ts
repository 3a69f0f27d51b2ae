import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, inspect, openWindow, visit } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused } from './keyboard.ts';

let service: ConsoleAccount;
let owner: Person;
let viewer: Person;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 6, tickets: 30, activity: 50 });
  owner = await service.owner();
  viewer = await service.member('Vera Viewer', ['viewer']);
});

afterAll(closeWindows);

test('by keyboard alone: go to a page, a connection and a ticket, and do something', async () => {
  const { page, complaints, close } = await openWindow(service.origin, owner);
  await visit(page, '/fleet');
  const field = page.getByRole('combobox', { name: 'Page, connection, ticket or action' });
  const active = () =>
    page.evaluate<string>(
      `(() => {
        const field = document.activeElement;
        const option = document.getElementById(field?.getAttribute('aria-activedescendant') ?? '');
        const list = document.getElementById(field?.getAttribute('aria-controls') ?? '');
        return option?.getAttribute('aria-selected') === 'true' && list?.contains(option) ? option.textContent : '';
      })()`,
    );
  await page.keyboard.press('Control+K');
  await field.waitFor();
  await expect.poll(() => focused(page)).toBe('Page, connection, ticket or action');
  await expect.poll(active).toBe('Fleet');
  await page.keyboard.press('ArrowUp');
  await expect.poll(active).toBe('Sign out');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect.poll(active).toBe('Tickets');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/tickets');
  await expect.poll(() => focused(page)).toBe('Tickets');

  // Also from a text field, and with the Mac's key.
  await page.keyboard.press('/');
  await page.keyboard.press('Meta+K');
  await field.waitFor();
  await page.keyboard.type('primary');
  const connection = page.getByRole('group', { name: 'Connections' }).getByRole('option').first();
  await connection.waitFor();
  await page
    .getByRole('status')
    .getByText(/^\d+ results$/)
    .waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/connections\/\d+$/);

  await page.keyboard.press('Control+K');
  await page.keyboard.type('index');
  await page.getByRole('group', { name: 'Tickets' }).getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/tickets\?.*ticket=\d+/);

  await page.keyboard.press('Control+K');
  await page.keyboard.type('dark');
  await expect.poll(active).toBe('Use dark theme');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark');

  await page.keyboard.press('Control+K');
  await page.keyboard.type('no such thing');
  await page.getByText('Nothing matches.').waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
  await close();
});

test('it offers only what the member may do', async () => {
  const { page, close } = await openWindow(service.origin, viewer);
  await visit(page, '/fleet');
  await page.keyboard.press('Control+K');
  await page.getByRole('listbox').waitFor();
  const labels = await page.getByRole('option').allTextContents();
  expect(labels).toContain('Fleet');
  for (const denied of ['Activity', 'API keys', 'Add connection', 'Create API key'])
    expect(labels).not.toContain(denied);
  await close();
});

test('axe finds no violations in the palette, and it fits the window', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, '/fleet');
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox', { name: /^Page, connection/ }).waitFor();
  await page.keyboard.type('a');
  const group = page.getByRole('group', { name: 'Connections' });
  await group.waitFor();
  await inspect(page, 'palette');
  expect(await group.count()).toBe(1);
  await close();
});
