import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  closeWindows,
  keepPicture,
  openWindow,
  overflow,
  PHONE,
  settled,
  violations,
  visit,
  type Window,
} from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { press, write } from './keyboard.ts';

/** The part of the console API's answer for a connection that the tests read. */
interface Detail {
  settings: { name: string; thresholds: Record<string, Record<string, number>> };
  latest: { findings: { check_id: string; thresholds: { name: string; default: number }[] }[] } | null;
}

let service: ConsoleAccount;
let owner: Person;
let viewer: Person;
let opened: Window;
let worst = 0;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 14, tickets: 60, activity: 100 });
  owner = await service.owner();
  viewer = await service.member('Grace Hopper', ['viewer']);
  const fleet = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/fleet');
  worst = fleet.data[0]?.id ?? 0;
});

afterAll(closeWindows);

beforeEach(async () => {
  await opened?.close();
  opened = await openWindow(service.origin, owner);
});

const detailOf = (id: number) => service.ask<Detail>(owner, 'GET', `/connections/${id}`);

/** Adds a connection and returns its id. The service has no monitor, so nothing checks it. */
const added = async (name: string) => {
  const body = { name, url: 'postgres://watcher:unspoken-watcher@db.example.com/shop' };
  const { id } = await service.ask<{ id: number }>(owner, 'POST', '/connections', body);
  return id;
};

test('a threshold can be set, is shown beside its default, and is reset by an empty field', async () => {
  const { page, complaints } = opened;
  const { latest } = await detailOf(worst);
  const [finding] = latest?.findings ?? [];
  const threshold = finding?.thresholds[0];
  if (!finding || !threshold) throw new Error('the worst finding of the sample has no threshold');
  const set = async () => (await detailOf(worst)).settings.thresholds[finding.check_id]?.[threshold.name];
  const dialog = page.getByRole('dialog').filter({ hasText: finding.check_id });

  await visit(page, `/connections/${worst}?tab=findings`);
  await press(page, 'Edit thresholds');
  await dialog.waitFor();
  const label =
    (await dialog.locator('.field:has(input:not([type=radio])) .field-label').first().textContent()) ?? '';
  await write(page, label, 'many');
  await dialog.getByText(/^Enter a number/).waitFor();
  expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await page.keyboard.press('Control+A');
  await page.keyboard.type(String(threshold.default * 2));
  await press(page, 'Save');
  await dialog.waitFor({ state: 'detached' });
  expect(await set()).toBe(threshold.default * 2);
  const judged = page.getByRole('list', { name: 'Thresholds' });
  await judged.getByText(`(default ${threshold.default.toLocaleString('en')}`).waitFor();
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByText(`Thresholds of ${finding.check_id}`).waitFor();
  await page.getByRole('link', { name: 'Findings', exact: true }).click();

  await press(page, 'Edit thresholds');
  await dialog.waitFor();
  await write(page, label, '');
  await page.keyboard.press('Delete');
  await press(page, 'Save');
  await dialog.waitFor({ state: 'detached' });
  expect(await set()).toBeUndefined();
  await judged.getByText('default').waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

test('of a connection that logs in by token, the dialog changes neither address, login nor TLS', async () => {
  const { page, complaints } = opened;
  const id = await added('by token');
  await service.statement(
    `update connection set token_source = 'rds', ca_certificate = 'aws-rds' where connection_id = ${id}`,
  );
  await visit(page, `/connections/${id}?tab=settings`);
  await page.getByText('a token from').waitFor();
  await page.getByText('aws-rds').waitFor();
  await press(page, 'Edit');
  const dialog = page.getByRole('dialog', { name: 'Edit connection' });
  await dialog.getByText('only the operator changes its address, login and TLS', { exact: false }).waitFor();
  expect(await dialog.getByRole('textbox').count()).toBe(1);
  for (const label of ['Host', 'User', 'Password', 'Trusted certificates', 'SSH host'])
    expect(await dialog.getByLabel(label, { exact: true }).count()).toBe(0);
  await keepPicture(page, 'edit-by-token');
  expect(await violations(page)).toEqual([]);
  await dialog.getByLabel('Name').fill('by token, renamed');
  await press(page, 'Save');
  await dialog.waitFor({ state: 'detached' });
  expect((await detailOf(id)).settings.name).toBe('by token, renamed');
  expect(complaints).toEqual([]);
});

test('a connection is removed after a confirmation, and its page then shows “Not found”', async () => {
  const { page } = opened;
  const id = await added('to be removed');
  const names = async () => {
    const fleet = await service.ask<{ data: { name: string }[] }>(owner, 'GET', '/fleet');
    return fleet.data.map(({ name }) => name);
  };
  const dialog = page.getByRole('alertdialog', { name: 'Remove this connection?' });
  await visit(page, `/connections/${id}?tab=settings`);
  await press(page, 'Remove');
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await names()).toContain('to be removed');

  await press(page, 'Remove');
  await dialog.waitFor();
  await press(page, 'Remove connection');
  await page.waitForURL('**/fleet');
  await page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor();
  await settled(page);
  expect(await page.getByText('to be removed').count()).toBe(0);
  expect(await names()).not.toContain('to be removed');
  await visit(page, `/connections/${id}`);
  await page.getByText('Not found').waitFor();
});

test('a viewer sees findings and remediations, and no buttons for forbidden changes', async () => {
  const mine = await openWindow(service.origin, viewer);
  const theirs = opened.page;
  const CHANGES = /^(Check now|Edit|Remove|Silence|Edit thresholds|End silence|Add connection)/;
  const changes = (of: Window['page']) => of.getByRole('button', { name: CHANGES });
  const { latest } = await detailOf(worst);
  const check_id = latest?.findings[0]?.check_id ?? '';
  const silence = { check_id, reason: 'accepted_risk', note: 'seen by all' };
  await visit(theirs, `/connections/${worst}?tab=findings`);
  await theirs.getByRole('button', { name: 'Silence' }).first().waitFor();
  await service.ask(owner, 'POST', `/connections/${worst}/silences`, silence);

  await visit(mine.page, `/connections/${worst}?tab=findings`);
  await mine.page.getByRole('heading', { name: 'What to run' }).first().waitFor();
  await mine.page.getByRole('button', { name: 'Copy SQL' }).first().waitFor();
  await mine.page.getByText('seen by all').waitFor();
  expect(await changes(mine.page).count()).toBe(0);
  await visit(theirs, `/connections/${worst}?tab=findings`);
  await theirs.getByText('seen by all').waitFor();
  expect(await changes(theirs).count()).toBeGreaterThan(2);

  await visit(mine.page, '/fleet');
  expect(await mine.page.getByText('Add connection').count()).toBe(0);
  await visit(mine.page, '/connections/new');
  await mine.page.getByText('connections:write').waitFor();
  expect(await mine.page.getByRole('textbox').count()).toBe(0);
  expect(mine.complaints).toEqual([]);
  await mine.close();
});

test('a name of 10,000 characters is cut to three lines until the user expands it', async () => {
  const id = await added('endless');
  const name = 'endless '.repeat(1_250).trim();
  await service.statement(`update connection set name = '${name}' where connection_id = ${id}`);
  const { page, close } = await openWindow(service.origin, owner, { scheme: 'light', ...PHONE });
  await visit(page, `/connections/${id}`);
  const title = page.getByRole('heading', { level: 1 });
  // A string of JavaScript, as tsc has no DOM types here.
  const lines = () =>
    page.evaluate<number>(
      'document.querySelector("h1").clientHeight / parseFloat(getComputedStyle(document.querySelector("h1")).lineHeight)',
    );
  expect(Math.round(await lines())).toBe(3);
  await page.getByRole('button', { name: 'Show full name' }).click();
  expect(await lines()).toBeGreaterThan(100);
  expect(await title.textContent()).toBe(name);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  await close();
});

test('at 400 % zoom, a dialog taller than the window scrolls to its buttons', async () => {
  const zoomed = { scheme: 'light', width: 320, height: 256 } as const;
  const { page, close } = await openWindow(service.origin, owner, zoomed);
  await visit(page, `/connections/${worst}?tab=settings`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit connection' });
  await dialog.getByLabel('Expected standbys').fill('1');
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await dialog.waitFor({ state: 'detached' });
  await close();
});

test('a heartbeat URL is shown once, replaced and revoked, and the expected backup is a setting', async () => {
  const { page, complaints } = opened;
  const id = await added('backed up');
  await visit(page, `/connections/${id}?tab=settings`);
  await page.getByText('No backup was reported yet.').waitFor();
  await press(page, 'Create heartbeat URL');
  const dialog = page.getByRole('dialog', { name: 'Your heartbeat URL' });
  const url = (await dialog.getByRole('group', { name: 'heartbeat URL' }).textContent()) ?? '';
  expect(url).toMatch(/^http:\/\/[^/]+\/heartbeat\/[\w-]{43}$/);
  await keepPicture(page, 'heartbeat-url');
  await press(page, 'Done');
  expect((await fetch(`${url}?size=5368709120`, { method: 'POST' })).status).toBe(200);
  await visit(page, `/connections/${id}?tab=settings`);
  await page.getByText('5 GB').waitFor();
  expect(await page.content()).not.toContain(url.slice(-43));

  await press(page, 'Replace heartbeat URL');
  await press(page, 'Replace URL');
  await dialog.waitFor();
  await press(page, 'Done');
  expect((await fetch(url, { method: 'POST' })).status).toBe(404);
  await press(page, 'Revoke');
  await press(page, 'Revoke URL');
  await page.getByText('A backup job reports by calling a heartbeat URL.').waitFor();
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  expect([await violations(page), complaints]).toEqual([[], []]);
});
