import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CONNECTION_TABS } from '../../src/vocabulary/connection-tabs.ts';
import {
  closeWindows,
  keepPicture,
  openWindow,
  overflow,
  violations,
  visit,
  type Window,
} from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused, press, tabTo, write } from './keyboard.ts';

// Problems that new users of the console met in their first hours.

interface Finding {
  check_id: string;
  database: string;
  object: string | null;
  status: string;
  ticket_id: number | null;
}

let service: ConsoleAccount;
let owner: Person;
let stranger: Person;
let opened: Window;
let page: Page;
let worst = 0;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 14, tickets: 120, activity: 300 });
  owner = await service.owner();
  stranger = await service.createOwner('team');
  const fleet = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/fleet');
  worst = fleet.data[0]?.id ?? 0;
});

afterAll(closeWindows);

beforeEach(async () => {
  await opened?.close();
  opened = await openWindow(service.origin, owner);
  page = opened.page;
});

/** Whether the whole element is inside the window. */
async function isInView(element: Locator): Promise<boolean> {
  const box = await element.boundingBox();
  const { height } = page.viewportSize() ?? { height: 0 };
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}

/** The page's selected text. */
const selected = () => page.evaluate<string>('String(getSelection())');

test('a click anywhere on a row opens it, its text is selectable, and its tooltips appear', async () => {
  await visit(page, '/fleet');
  const row = page.locator('.table-item').first();
  const text = row.locator('[data-label="Worst finding"] bdi').first();
  const box = await text.boundingBox();
  if (!box) throw new Error('the first row shows no finding');
  await page.mouse.move(box.x + 2, box.y + 6);
  await page.mouse.down();
  await page.mouse.move(box.x + Math.min(60, box.width - 4), box.y + 6, { steps: 5 });
  await page.mouse.up();
  expect((await selected()).trim()).not.toBe('');
  expect(new URL(page.url()).pathname).toBe('/fleet');
  const time = await row.locator('time').first().boundingBox();
  const [x, y] = [(time?.x ?? 0) + 4, (time?.y ?? 0) + 6];
  expect(await page.evaluate(`document.elementFromPoint(${x}, ${y}).closest('[title]')?.title`)).toMatch(
    /UTC\)$/,
  );
  await page.evaluate('getSelection().removeAllRanges()');

  const apart = page.context().waitForEvent('page');
  await page.mouse.click(box.x + 4, box.y + 6, { button: 'middle' });
  await (await apart).waitForURL(`**/connections/${worst}`);
  await page.mouse.click(box.x + 4, box.y + 6);
  await page.waitForURL(`**/connections/${worst}`);
});

test('a finding links to its ticket, and a link to a finding scrolls to it', async () => {
  const { latest } = await service.ask<{ latest: { findings: Finding[] } }>(
    owner,
    'GET',
    `/connections/${worst}`,
  );
  const found = latest.findings.find(({ ticket_id }) => ticket_id !== null);
  const passed = latest.findings.findLast(({ status }) => status === 'ok');
  if (!found || !passed) throw new Error('the sample has no such findings');
  const keyOf = ({ check_id, database, object }: Finding) =>
    [check_id, database, object ?? ''].filter((part) => part !== '').join(':');

  await page.setViewportSize({ width: 1200, height: 500 });
  for (const finding of [passed, found]) {
    await visit(page, `/connections/${worst}?finding=${encodeURIComponent(keyOf(finding))}`);
    const button = page.locator('.finding-title button[aria-expanded="true"]');
    await expect.poll(() => isInView(button)).toBe(true);
    expect(await button.evaluate((element) => element.matches(':focus'))).toBe(true);
  }
  await page.getByRole('link', { name: `Ticket ${found.ticket_id}` }).click();
  await page.waitForURL(`**/tickets?connection_id=${worst}&status=open&ticket=${found.ticket_id}`);
  await page.locator('.ticket-panel').getByText(found.check_id, { exact: true }).waitFor();
});

test('the list and the panel show the same duration of a ticket', async () => {
  for (const status of ['open', 'resolved']) {
    const path = `/read/ops/tickets?status=${status}&per_page=1`;
    const { data } = await service.ask<{ data: { id: number }[] }>(owner, 'GET', path);
    // Rounded to hours with two decimals, this would be 8 min 24 s.
    const resolved = `account_id = ${service.accountId} and status = 'resolved' and ticket_id = ${data[0]?.id}`;
    await service.statement(
      `update ticket set resolved_at = first_seen_at + interval '8 min 7 s' where ${resolved}`,
    );
    await visit(page, `/tickets?status=${status}&sort=first_seen&ticket=${data[0]?.id}`);
    const facts = page.locator('.ticket-panel .facts dd');
    await facts.first().waitFor();
    const listed = page.locator('.table-item').first().locator('.ticket-state .small').last();
    const [, took] = /^(?:for|after) (.+)$/.exec((await listed.textContent()) ?? '') ?? [];
    expect(await facts.first().textContent()).toBe(took);
  }
});

test('the count of entries that wait for the next seal includes the live entries', async () => {
  await service.command('activity', 'seal');
  await visit(page, '/activity?live=1');
  await page.getByText(/^Entries 1 to [\d,]+ verified/).waitFor();
  for (let made = 0; made < 6; made += 1) {
    await service.ask(owner, 'POST', '/keys', { name: 'Twin', expires_in: 86_400 });
  }
  const state = page.getByText(/ for the next seal/);
  await expect
    .poll(async () => Number(/(\d+) entries wait/.exec((await state.textContent()) ?? '')?.[1]))
    .toBeGreaterThan(5);

  // Six keys with the same name have distinct labels.
  await visit(page, '/activity');
  await page.getByRole('button', { name: /^Filter/ }).click();
  await page.getByRole('button', { name: /API key/ }).click();
  const options = page.getByRole('option').filter({ hasText: 'Twin' });
  await expect.poll(() => options.count()).toBe(6);
  const names = await options.evaluateAll((all) =>
    all.map((option) => option.querySelector('[slot="label"]')?.textContent),
  );
  expect(new Set(names).size).toBe(6);
});

test('no list is wider than its window at any width', async () => {
  const wide: string[] = [];
  for (const path of [
    '/fleet',
    ...CONNECTION_TABS.map((tab) => `/connections/${worst}?tab=${tab}`),
    '/tickets',
    '/activity',
    '/keys',
    '/collectors',
    '/team',
    '/sessions',
  ]) {
    await visit(page, path);
    for (const width of [480, 640, 760, 820, 880, 960, 1024, 1120, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      const by = await overflow(page);
      const cut = await page.evaluate<number>(
        `Math.max(0, ...[...document.querySelectorAll('.table')].map((table) => table.scrollWidth - table.parentElement.clientWidth))`,
      );
      if (by > 0 || cut > 0) wide.push(`${path} at ${width}: ${by}, ${cut}`);
    }
  }
  expect(wide).toEqual([]);
});

test('a click is not lost when the field before it is found wrong, or right again', async () => {
  await visit(page, '/team');
  await page.getByRole('button', { name: 'Invite member' }).click();
  const dialog = page.getByRole('dialog');
  const invite = dialog.getByRole('button', { name: 'Invite', exact: true });
  const email = dialog.getByLabel('E-mail address');
  await dialog.getByLabel('Name').fill('Joan Clarke');
  /** Presses the mouse on the button, holds it, and releases it at the same point. */
  const pressAndRelease = async () => {
    const before = await invite.boundingBox();
    await page.mouse.move((before?.x ?? 0) + 8, (before?.y ?? 0) + (before?.height ?? 0) - 4);
    await page.mouse.down();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(Math.abs(((await invite.boundingBox())?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(2);
    await page.mouse.up();
  };
  await email.fill('joan');
  await pressAndRelease();
  await dialog.locator('.field-error').first().waitFor();
  await email.fill('joan.clarke@example.com');
  await pressAndRelease();
  await page.locator('pre[aria-label="invitation link"]').waitFor();
});

test('a link to an alert in a message of an older version opens the alert', async () => {
  for (const [path, search] of [
    ['/alerts/7', '?alert=7'],
    ['/alerts/rules', '?view=rules'],
  ] as const) {
    const response = await page.goto(path);
    expect(response?.status()).toBe(200);
    await page.waitForURL(`**/alerts${search}`);
  }
});

test('a Team account without databases sees only text that applies to it', async () => {
  const mine = await openWindow(service.origin, stranger);
  await visit(mine.page, '/tickets');
  await mine.page.getByText('No databases yet').waitFor();
  expect(await mine.page.getByText('No health check finds anything').count()).toBe(0);
  await keepPicture(mine.page, 'new-user-tickets.light');
  await visit(mine.page, '/fleet');
  await mine.page.getByText('No databases yet').waitFor();
  expect(await mine.page.getByRole('searchbox').count()).toBe(0);
  await visit(mine.page, '/keys');
  await mine.page.getByText('A key lets dashboards, monitors and collectors read health.').waitFor();
  expect(await violations(mine.page)).toEqual([]);
  await mine.close();
});

test.each(['/login', '/settings', '/connections'])('%s shows “Page not found” with links', async (path) => {
  const signedOut = await openWindow(service.origin, null);
  for (const look of [page, signedOut.page]) {
    const response = await look.goto(path);
    expect(response?.status()).toBe(404);
    await look.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await look.getByRole('link', { name: 'Sign in' }).waitFor();
    expect(await violations(look)).toEqual([]);
  }
  await keepPicture(page, `not-found${path.replace('/', '-')}.light`);
  await tabTo(page, 'Go to fleet');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor();
  await signedOut.close();
});

test('a member signs out everywhere by keyboard', async () => {
  const member = await service.member('Grace Hopper', ['viewer']);
  const theirs = await openWindow(service.origin, member);
  await visit(theirs.page, '/sessions');
  await press(theirs.page, 'Sign out everywhere');
  const dialog = theirs.page.getByRole('alertdialog', { name: 'Sign out everywhere?' });
  await dialog.waitFor();
  expect(await violations(theirs.page)).toEqual([]);
  await keepPicture(theirs.page, 'sign-out-everywhere.light');
  await press(theirs.page, 'Sign out everywhere');
  await theirs.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await expect(service.ask(member, 'GET', '/me')).rejects.toThrow('401');
  await theirs.close();
});

test('an edit can be tested, asks before it is discarded, and scrolls to an error of saving', async () => {
  const named = ['--account', String(service.accountId), '--name', 'our own store'];
  const added = ['connection', 'add', ...named, '--url', service.storeUrl()];
  const { id } = await service.command<{ id: number }>(...added);
  const dialog = page.getByRole('dialog', { name: 'Edit connection' });
  const asked = page.getByRole('alertdialog', { name: 'Discard your changes?' });
  await page.setViewportSize({ width: 1100, height: 600 });
  await visit(page, `/connections/${id}?tab=settings`);
  await press(page, 'Edit');
  await dialog.waitFor();
  await page.keyboard.press('Escape'); // closes without a question, as nothing was changed
  await dialog.waitFor({ state: 'detached' });

  await press(page, 'Edit');
  await write(page, 'Name', 'renamed');
  await page.keyboard.press('Escape');
  await asked.waitFor();
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'discard-changes.light');
  await page.keyboard.press('Escape');
  await asked.waitFor({ state: 'detached' });
  expect(await dialog.getByLabel('Name').inputValue()).toBe('renamed');
  await press(page, 'Test connection');
  const reached = dialog.getByText('Connected', { exact: true });
  await reached.waitFor();
  await expect.poll(() => isInView(reached)).toBe(true);
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'edit-tested.light');

  await write(page, 'Host', 'db.example.com');
  await press(page, 'Test connection');
  await expect.poll(() => focused(page)).toBe('Password'); // a new host requires the password again
  await expect.poll(() => isInView(dialog.getByRole('textbox', { name: 'Password' }))).toBe(true);

  await page.route('**/console/api/**', (route) => route.abort());
  await press(page, 'Save');
  const alert = dialog.getByRole('alert');
  await alert.getByText('The service is not reachable.').waitFor({ timeout: 30_000 });
  await expect.poll(() => isInView(alert)).toBe(true);
  expect(await alert.evaluate((element) => element.matches(':focus'))).toBe(true);
  await keepPicture(page, 'edit-not-saved.light');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await asked.waitFor();
  await press(page, 'Discard changes');
  await dialog.waitFor({ state: 'detached' });
});
