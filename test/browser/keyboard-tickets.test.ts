import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, openWindow, settled, visit, type Window } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused, press, tabTo } from './keyboard.ts';

let service: ConsoleAccount;
let owner: Person;
let opened: Window;
let page: Page;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 14, tickets: 300, activity: 3_000 });
  owner = await service.owner();
  opened = await openWindow(service.origin, owner);
  page = opened.page;
});

afterAll(closeWindows);

const selected = () => new URL(page.url()).searchParams;

test('tickets: j and k move through the list, Enter opens a ticket, Escape closes it and focuses its row', async () => {
  await visit(page, '/tickets?status=all');
  await page.locator('.table-item').first().waitFor();
  await page.keyboard.press('j');
  const first = await focused(page);
  await page.keyboard.press('j');
  expect(await page.evaluate('document.activeElement.closest(".table-item").dataset.index')).toBe('1');
  await page.keyboard.press('k');
  expect(await focused(page)).toBe(first);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 3, name: 'History' }).waitFor();
  expect(await focused(page)).toBe(first);
  expect(selected().get('ticket')).toMatch(/^\d+$/);
  await page.keyboard.press('Escape');
  await page.locator('.row-link:focus').waitFor();
  expect(await focused(page)).toBe(first);
  expect(selected().has('ticket')).toBe(false);
  expect(opened.complaints).toEqual([]);
});

test('tickets: typing in the search with a ticket open stays in the search', async () => {
  await visit(page, '/tickets?status=all');
  await page.locator('.table-item').first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 3, name: 'History' }).waitFor();
  await page.keyboard.press('/');
  // The search closes the ticket. Outside the search these letters are actions.
  await page.keyboard.type('e');
  await page.waitForURL(({ searchParams }) => searchParams.get('q') === 'e' && !searchParams.has('ticket'));
  await settled(page);
  await page.keyboard.type('s');
  await page.waitForURL(({ searchParams }) => searchParams.get('q') === 'es');
  expect(await page.locator('[data-shortcut="/"]').inputValue()).toBe('es');
  expect(opened.complaints).toEqual([]);
});

test('tickets: filters by severity, state and connection are in the URL', async () => {
  await visit(page, '/tickets');
  await tabTo(page, /^Open/);
  for (let chip = 0; chip < 5; chip += 1) await page.keyboard.press('ArrowRight');
  expect(await focused(page)).toMatch(/^Resolved/);
  await page.keyboard.press('Space');
  await press(page, 'Filter');
  await tabTo(page, /^Critical/);
  await page.keyboard.press('Space');
  await page.waitForURL(/severity=critical/);
  await settled(page);
  expect([...selected()]).toEqual(
    expect.arrayContaining([
      ['status', 'resolved'],
      ['severity', 'critical'],
    ]),
  );
  const name = (await page.locator('.row-place bdi').first().textContent()) ?? '';
  await tabTo(page, 'Connection');
  await page.keyboard.type(name);
  await page.getByRole('option').first().waitFor();
  // Wait until the results for the whole name replace those for its beginning.
  await expect.poll(() => page.getByRole('option').filter({ hasNotText: name }).count()).toBe(0);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/connection_id=\d+/);
  // The previous list stays visible until the answer arrives.
  const shown = () => page.locator('.row-place').allInnerTexts();
  await expect.poll(async () => (await shown()).filter((of) => !of.startsWith(name))).toEqual([]);
  const names = await shown();
  expect(names.length).toBeGreaterThan(0);
  // The URL alone restores the list.
  const address = page.url();
  await visit(page, address);
  expect(await page.locator('.row-place').allInnerTexts()).toEqual(names);
  await tabTo(page, /show all connections/);
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => !url.searchParams.has('connection_id'));
});

test('tickets: the days of the filter are in the viewer’s time zone and inclusive', async () => {
  const { data } = await service.ask<{ data: { id: number; first_seen_at: string }[] }>(
    owner,
    'GET',
    '/read/ops/tickets?per_page=100&page=2',
  );
  const at = new Date(data[0]?.first_seen_at ?? 0);
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' }).format(at);
  await visit(page, `/tickets?status=all&from=${day}&to=${day}`);
  await page
    .getByRole('status')
    .filter({ hasText: /ticket/ })
    .waitFor();
  const times = await page
    .locator('.table-item time')
    .evaluateAll((all) => all.map((time) => time.getAttribute('datetime') ?? ''));
  expect(times.length).toBeGreaterThan(0);
  const days = times.map((time) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' }).format(new Date(time)),
  );
  expect([...new Set(days)]).toEqual([day]);
});

test('tickets: scrolling down loads the whole list, each ticket once', async () => {
  const { meta } = await service.ask<{ meta: { total: number } }>(owner, 'GET', '/read/ops/tickets');
  expect(meta.total).toBeGreaterThan(200);
  await visit(page, '/tickets?status=all');
  await expect
    .poll(async () => {
      await page.evaluate('scrollTo(0, 1e9)');
      return Number(await page.getByRole('table').getAttribute('aria-rowcount'));
    })
    .toBe(meta.total + 1);
});

test('activity: Enter opens an entry, adds it to the URL, and closes it again; its JSON is a button further', async () => {
  await visit(page, '/activity');
  await page.getByText(/^No gaps in/).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.locator('.table-detail').waitFor();
  expect(await page.evaluate('document.activeElement.getAttribute("aria-expanded")')).toBe('true');
  const opened = selected().get('entry');
  await page.keyboard.press('Enter');
  await page.locator('.table-detail').waitFor({ state: 'detached' });
  expect(selected().has('entry')).toBe(false);

  await page.keyboard.press('Enter');
  await tabTo(page, 'Show JSON');
  await page.keyboard.press('Enter');
  const entry: { id: number } = JSON.parse((await page.locator('.table-detail code').textContent()) ?? '');
  expect(String(entry.id)).toBe(opened);
});

test('activity: a filter by action is not checked for gaps', async () => {
  await visit(page, '/activity');
  await tabTo(page, /Action/);
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'Ticket opened' }).waitFor();
  await page.keyboard.type('Ticket o');
  await page.keyboard.press('Enter');
  await page.waitForURL(/action_type=ticket_opened/);
  await page.getByText('Gaps not checked').waitFor();
  const words = async () => [...new Set(await page.locator('.entry-sentence .row-link').allInnerTexts())];
  await expect.poll(words).toEqual(['The service opened']);
});

test('activity: the live tail shows new entries without a gap', async () => {
  await visit(page, '/activity');
  await tabTo(page, 'Live tail');
  await page.keyboard.press('Space');
  await page.waitForURL(/live=1/);
  await service.command(
    'connection',
    'add',
    '--account',
    String(service.accountId),
    '--name',
    'added meanwhile',
    '--url',
    'postgres://watcher@db.example.com:5432/shop',
  );
  await page.getByText('added meanwhile').first().waitFor();
  await page.getByText(/^No gaps in/).waitFor();
});

test('activity: the export contains the filtered entries, oldest first, each once', async () => {
  await visit(page, '/activity?action_type=ticket_opened');
  await tabTo(page, 'Export NDJSON');
  const download = page.waitForEvent('download');
  await page.keyboard.press('Enter');
  const stream = await (await download).createReadStream();
  let text = '';
  for await (const part of stream) text += part;
  const lines: { id: number; action_type: string }[] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { meta } = await service.ask<{ meta: { total: number } }>(
    owner,
    'GET',
    '/read/activity?action_type=ticket_opened',
  );
  expect(lines).toHaveLength(meta.total);
  expect(lines.map(({ id }) => id)).toEqual([...new Set(lines.map(({ id }) => id))].sort((a, b) => a - b));
  expect(new Set(lines.map(({ action_type }) => action_type))).toEqual(new Set(['ticket_opened']));
});
