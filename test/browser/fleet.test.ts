import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, inspect, openWindow, overflow, PHONE, visit, WIDE, type Window } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused, press, tabTo, takeFromMenu } from './keyboard.ts';

let service: ConsoleAccount;
let owner: Person;
let viewer: Person;
let opened: Window;
let page: Page;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 70, tickets: 90, activity: 50 });
  owner = await service.owner();
  viewer = await service.member('Vera Viewer', ['viewer']);
  opened = await openWindow(service.origin, owner);
  page = opened.page;
});

afterAll(closeWindows);

const rowAt = (at: Page, index: number) => at.locator(`.table-item[data-index="${index}"]`);
const selectedRows = (at: Page) => at.locator('.select-box[aria-pressed="true"]').count();

test('by keyboard alone: select a range of connections, tag it, and filter tickets by the tag', async () => {
  await visit(page, '/fleet?sort=name');
  await rowAt(page, 0).waitFor();
  for (const key of ['j', 'x', 'j', 'j', 'X']) await page.keyboard.press(key);
  expect(await selectedRows(page)).toBe(3);
  await page.keyboard.press('k');
  await page.keyboard.press('x');
  expect(await selectedRows(page)).toBe(2);
  await tabTo(page, 'Tag 2 connections', 300);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Change tags of 2 connections' }).waitFor();
  await page.keyboard.type('pci');
  await page.keyboard.press('Enter');
  await rowAt(page, 0).locator('.tag', { hasText: 'pci' }).waitFor();
  await rowAt(page, 2).locator('.tag', { hasText: 'pci' }).waitFor();
  expect(await page.locator('.tag', { hasText: 'pci' }).count()).toBe(2);
  expect(await selectedRows(page)).toBe(2);
  // Escape clears the selection.
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('j');
  await page.keyboard.press('Escape');
  await expect.poll(() => selectedRows(page)).toBe(0);

  await visit(page, '/tickets?status=all');
  await rowAt(page, 0).waitFor();
  await press(page, 'Filter');
  await tabTo(page, 'Tag');
  await page.keyboard.type('pc');
  await page.getByRole('option', { name: /^pci/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/tags=pci/);
  await page.locator('[aria-label="Tag pci: remove from the filter"]').waitFor();
  await page.locator('.ticket-list [role=status], .ticket-list .message').first().waitFor();
  expect(opened.complaints).toEqual([]);
});

test('a click with Shift selects the rows between, of tickets too', async () => {
  await visit(page, '/tickets?status=all');
  await rowAt(page, 4).waitFor();
  await rowAt(page, 1).locator('.select-box').click();
  await rowAt(page, 4)
    .locator('.select-box')
    .click({ modifiers: ['Shift'] });
  await page.getByText('4 selected').waitFor();
  await page.keyboard.press('Escape');
  expect(await selectedRows(page)).toBe(0);
});

test('the fleet is filtered by a version', async () => {
  await visit(page, '/fleet');
  await press(page, 'Filter');
  await tabTo(page, /Engine and version|All engines/);
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'PostgreSQL 17' }).waitFor();
  await page.keyboard.type('PostgreSQL 17');
  await page.keyboard.press('Enter');
  await page.waitForURL(/engine=postgres&version=17/);
  const engines = async () => {
    const rows = await page.locator('.table-item .second-line', { hasText: ' · ' }).allTextContents();
    return rows.filter((text) => text.includes('SQL'));
  };
  // The rows of before stay until the filtered ones are there.
  await expect
    .poll(async () => (await engines()).filter((text) => !text.startsWith('PostgreSQL 17.')))
    .toEqual([]);
  expect((await engines()).length).toBeGreaterThan(0);
});

test('as a grid, each connection has a chart of the chosen vital sign', async () => {
  await visit(page, '/fleet');
  await press(page, 'Filter');
  await tabTo(page, 'Charts');
  await page.keyboard.press('Space');
  await page.waitForURL(/show=charts/);
  const charts = page.locator('.fleet-charts > li');
  await charts.first().waitFor();
  expect(await charts.count()).toBe(60);
  await tabTo(page, /^Show \d+ more of/, 200);
  await page.keyboard.press('Enter');
  await expect.poll(() => charts.count()).toBeGreaterThan(60);
  await visit(page, '/fleet?show=charts&metric=transactions_per_second&range=7d');
  await charts
    .getByRole('img', { name: /^Transactions: / })
    .first()
    .waitFor();
  expect(opened.complaints).toEqual([]);
});

test('a view is renamed', async () => {
  await visit(page, '/fleet?engine=mysql');
  await takeFromMenu(page, 'Views', 'Save this view…');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('Mine');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'View Mine' }).waitFor();
  await takeFromMenu(page, 'View Mine', 'Rename “Mine”…');
  await page.getByRole('dialog', { name: 'Rename this view' }).waitFor();
  expect(await focused(page)).toMatch(/^Name/);
  await page.keyboard.press('Control+A');
  await page.keyboard.type('MySQL only');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'View MySQL only' }).waitFor();
  expect(opened.complaints).toEqual([]);
});

test('by keyboard alone, also for who may only look: compare two connections', async () => {
  const { page: seen, complaints, close } = await openWindow(service.origin, viewer);
  await visit(seen, '/fleet?sort=name');
  await rowAt(seen, 0).waitFor();
  for (const key of ['j', 'x', 'j', 'x']) await seen.keyboard.press(key);
  expect(await seen.getByRole('button', { name: /^Tag \d/ }).count()).toBe(0);
  const names = await Promise.all([0, 1].map((row) => rowAt(seen, row).locator('.row-link').textContent()));
  await tabTo(seen, 'Compare', 300);
  await seen.keyboard.press('Enter');
  await seen.waitForURL(/\/compare\?a=\d+&b=\d+/);
  const table = seen.getByRole('table', { name: 'Differences' });
  await table.waitFor();
  for (const name of names) await table.getByRole('columnheader', { name: name ?? '' }).waitFor();
  const rows = await table.getByRole('row').count();
  await tabTo(seen, /^Show equal values/);
  await seen.keyboard.press('Space');
  await seen.waitForURL(/show=all/);
  await expect.poll(() => table.getByRole('row').count()).toBeGreaterThan(rows);
  expect(await table.getByText('Engine', { exact: true }).count()).toBe(1);
  expect(complaints).toEqual([]);
  await close();
});

test('hostile names, settings and addresses are text in a comparison', async () => {
  const fleet = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/fleet?sort=name');
  const [a = 0, b = 0] = fleet.data.map(({ id }) => id);
  const script = '<img src=x onerror="window.taken=1">';
  await service.statement(
    `insert into fact_snapshot (account_id, connection_id, kind, database, read_at, digest, facts)
     select account_id, connection_id, 'setting', '', now(), '', jsonb_build_object('basis', '', 'facts', jsonb_build_array(
              jsonb_build_array('setting', '${script}', E'\u202egnp.exe' || connection_id || repeat('x', 3000))))
       from connection where connection_id in (${a}, ${b})
     on conflict do nothing`,
  );
  for (const size of [WIDE, PHONE]) {
    const window = await openWindow(service.origin, owner, { scheme: 'light', ...size });
    await visit(window.page, `/compare?a=${a}&b=${b}`);
    await window.page.getByText(script).first().waitFor();
    expect(await window.page.getByText('\\u202egnp.exe').count()).toBe(2);
    expect(await window.page.evaluate('window.taken')).toBeUndefined();
    expect(await overflow(window.page)).toBeLessThanOrEqual(0);
    await visit(window.page, '/compare?a=<script>&b=-1');
    await window.page.getByText('Choose two connections').first().waitFor();
    await visit(window.page, `/compare?a=${a}&b=999999999`);
    await window.page.getByText('It was removed, or it belongs to another account.').first().waitFor();
    await window.close();
  }
});

test('axe finds no violations in the grid, with selected rows and in a comparison', async () => {
  const window = await openWindow(service.origin, owner);
  const fleet = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/fleet');
  const [a, b] = fleet.data.map(({ id }) => id);
  const paths = {
    charts: '/fleet?show=charts&metric=transactions_per_second&q=primary',
    selected: '/fleet?q=primary',
    compared: `/compare?a=${a}&b=${b}&show=all`,
    'not-chosen': '/compare',
  };
  for (const [state, path] of Object.entries(paths)) {
    await visit(window.page, path);
    await window.page.locator('.fleet-charts > li, .table-item, .message').first().waitFor();
    if (state === 'selected') for (const key of ['j', 'x', 'j', 'X']) await window.page.keyboard.press(key);
    await inspect(window.page, `fleet-${state}`);
    if (state === 'selected') expect(await selectedRows(window.page)).toBe(2);
  }
  expect(window.complaints).toEqual([]);
  await window.close();
});
