import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, inspect, openWindow, violations, visit, type Window } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { press, tabTo, write } from './keyboard.ts';

let service: ConsoleAccount;
let owner: Person;
let opened: Window;
let page: Page;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 3 });
  owner = await service.owner();
  opened = await openWindow(service.origin, owner);
  page = opened.page;
});

afterAll(async () => {
  await opened?.close();
  await closeWindows();
});

interface Listed {
  id: number;
  name: string;
  state: string;
  connections: number;
}

const list = async () => (await service.ask<{ data: Listed[] }>(owner, 'GET', '/collectors')).data;

test('by keyboard, a collector is enrolled: its token is shown once, with the command to paste', async () => {
  await visit(page, '/collectors');
  await page.getByText('No collectors yet').waitFor();
  await inspect(page, 'collectors-none');
  await press(page, 'Enrol collector');
  await page.getByRole('dialog').waitFor();
  await write(page, 'Name', 'frankfurt');
  await press(page, 'Make token');
  const command = await page.locator('pre[aria-label="command"]').textContent();
  expect(command).toMatch(/dbv_enrol_\d+_[\w-]{43}/);
  expect(command).toContain('dbvitals collect --url');
  expect(command).toContain('--name frankfurt');
  await inspect(page, 'collectors-token');
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await page.getByRole('dialog').count()).toBe(1);
  await tabTo(page, /^I have copied the command/);
  await page.keyboard.press('Space');
  await press(page, 'Done');
  await page.getByText('Not enrolled').waitFor();
  expect(await page.content()).not.toContain('dbv_enrol_');
  expect(await list()).toMatchObject([{ name: 'frankfurt', state: 'waiting', connections: 0 }]);
  await inspect(page, 'collectors');
  expect(await violations(page)).toEqual([]);
});

test('a connection that a collector measures has no field for a password, and shows the lines for its file', async () => {
  await visit(page, '/connections/new');
  await page.getByText('A collector', { exact: true }).click();
  await page.getByLabel('Name', { exact: true }).fill('orders');
  expect(await page.locator('input[type="password"]').count()).toBe(0);
  const lines = page.locator('pre[aria-label="lines"]');
  expect(await lines.textContent()).toContain('  orders:\n    url: postgres://');
  await page.getByText('MariaDB', { exact: true }).click();
  expect(await lines.textContent()).toContain('url: mariadb://');
  await inspect(page, 'add-collected');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Add connection' }).click();
  await page.waitForURL(/\/connections\/\d+/);
  expect(await list()).toMatchObject([{ name: 'frankfurt', connections: 1 }]);
});

test('a collector is revoked in one step, and its connection stays', async () => {
  await visit(page, '/collectors');
  await page.getByRole('button', { name: 'Revoke frankfurt' }).click();
  await page.getByText('Its connection is not measured').waitFor();
  await page.getByRole('button', { name: 'Revoke collector' }).click();
  await page.getByText('Revoked', { exact: true }).waitFor();
  expect(await list()).toMatchObject([{ state: 'revoked', connections: 1 }]);
});

test('a viewer sees the collectors, and can change nothing', async () => {
  const viewer = await service.member('Vera', ['viewer']);
  const other = await openWindow(service.origin, viewer);
  await visit(other.page, '/collectors');
  await other.page.getByText('frankfurt').waitFor();
  expect(await other.page.getByRole('button', { name: /Enrol|Revoke|New token/ }).count()).toBe(0);
  await other.close();
});
