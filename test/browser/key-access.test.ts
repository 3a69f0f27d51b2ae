import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, inspect, openWindow, violations, visit, type Window } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { actOn, focused, press, tabTo, walk, write } from './keyboard.ts';

let service: ConsoleAccount;
let owner: Person;
let opened: Window;
let page: Page;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 3, tickets: 10, activity: 200 });
  owner = await service.owner();
  opened = await openWindow(service.origin, owner);
  page = opened.page;
});

afterAll(async () => {
  await opened?.close();
  await closeWindows();
});

interface Row {
  id: number;
  name: string;
  scopes: string[] | null;
  allowed_addresses: string[] | null;
}

const create = (name: string, rules: object = {}) =>
  service.ask<{ id: number; key: string }>(owner, 'POST', '/keys', { name, expires_in: null, ...rules });

async function rulesOf(name: string) {
  const { data } = await service.ask<{ data: Row[] }>(owner, 'GET', '/keys');
  const { scopes, allowed_addresses } = data.find((row) => row.name === name) ?? {};
  return { scopes, allowed_addresses };
}

async function askApi(key: string, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${service.origin}/api/v1${path}`, { headers })).status;
}

test('by keyboard, a key is created for one group and a network; a wrong address is explained at its field', async () => {
  await visit(page, '/keys?create=1');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('Office Grafana');
  await tabTo(page, /All endpoints of the plan/);
  await page.keyboard.press('ArrowDown');
  await tabTo(page, 'Health');
  await page.keyboard.press('Space');
  await tabTo(page, 'Activity log');
  await page.keyboard.press('Space');
  await write(page, 'Allowed addresses', '10.0.0.1/8');
  await inspect(page, 'key-access-create');
  await press(page, 'Create key');
  await page.getByText('Write an address such as').waitFor();
  await expect.poll(() => focused(page)).toBe('Allowed addresses');
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Control+A');
  await page.keyboard.type('203.0.113.0/24\n2001:db8::7');
  await press(page, 'Create key');
  await page.getByRole('dialog').locator('pre[aria-label="API key"]').waitFor();
  expect(await rulesOf('Office Grafana')).toEqual({
    scopes: ['activity'],
    allowed_addresses: ['2001:db8::7', '203.0.113.0/24'],
  });
  await tabTo(page, /^I have stored the key/);
  await page.keyboard.press('Space');
  await press(page, 'Done');
  await page.getByText('Only Activity log, from 2 addresses').waitFor();
});

test('by keyboard, the access of a key is changed from the list, and someone else’s change is not overwritten', async () => {
  const { id, key } = await create('Collector');
  await visit(page, '/keys');
  await actOn(page, 'Collector', 'Change access');
  await page.getByRole('dialog').waitFor();
  await tabTo(page, /All endpoints of the plan/);
  await page.keyboard.press('ArrowDown');
  await inspect(page, 'key-access-change');
  await press(page, 'Save');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText('Only Health').waitFor();
  expect([await askApi(key, '/health/fleet'), await askApi(key, '/ops/stats')]).toEqual([200, 404]);

  await actOn(page, 'Collector', 'Change access');
  await page.getByRole('dialog').waitFor();
  await service.ask(owner, 'PATCH', `/keys/${id}`, { version: 2, scopes: ['health', 'ops'] });
  await write(page, 'Allowed addresses', '203.0.113.7');
  await press(page, 'Save');
  await page.getByText(/changed it after you opened it\. Check the current values/).waitFor();
  expect(await rulesOf('Collector')).toEqual({ scopes: ['health', 'ops'], allowed_addresses: null });
});

test('a key’s page shows its rules, its use by endpoint and status, and where it was refused', async () => {
  const { id, key } = await create('Busy', { scopes: ['health'] });
  for (let n = 0; n < 12; n += 1) await askApi(key, '/health/fleet');
  for (let n = 0; n < 5; n += 1) await askApi(key, '/ops/stats');
  await askApi(key, '/nothing');
  await service.ask(owner, 'PATCH', `/keys/${id}`, { version: 1, allowed_addresses: ['203.0.113.7'] });
  expect(await askApi(key, '/health/fleet')).toBe(401);
  const refusals = () => service.ask<{ data: object[] }>(owner, 'GET', `/keys/${id}/refusals`);
  await expect.poll(async () => (await refusals()).data.length).toBe(1);

  await visit(page, `/keys?key=${id}`);
  await page.getByRole('img', { name: /^Requests by day, .*: 18 in all, at most \d+ a day$/ }).waitFor();
  const usage = page.getByRole('table', { name: 'Use by endpoint' });
  for (const text of ['/health/fleet', '/ops/stats', 'Other paths'])
    expect(await usage.textContent()).toContain(text);
  const refused = page.getByRole('table', { name: 'Refused attempts' });
  await refused.getByText('Address not allowed').waitFor();
  expect(await refused.textContent()).toContain('127.0.0.1');
  await inspect(page, 'key-access-page');
  await tabTo(page, /All endpoints/);
  await page.keyboard.press('Enter');
  await page.getByRole('listbox').waitFor();
  await page.keyboard.type('/ops');
  await page.keyboard.press('Enter');
  await page.getByRole('img', { name: /: 5 in all/ }).waitFor();
  await visit(page, `/keys?key=${id}`);
  const { unseen } = await walk(page);
  expect(unseen).toEqual([]);
  expect(opened.complaints.filter((text) => !/status of (?:400|409)/.test(text))).toEqual([]);
});
