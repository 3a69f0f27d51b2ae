import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService, temporaryFolder } from '../contract/running-service.ts';
import { closeWindows, openWindow, settled } from './chromium.ts';

const BASE = '/tools/dbv';
const folder = temporaryFolder();
let service: Service;

beforeAll(async () => {
  const environment = { DBVITALS_DATA_DIR: join(folder.path, 'data'), DBVITALS_BASE_PATH: BASE };
  service = await startService(environment, ['--no-monitor']);
});

afterAll(async () => {
  await closeWindows();
  await service?.stop();
  folder.remove();
});

test('the console works below a base path and sends no request outside it', async () => {
  const [, link = ''] = await service.says(/sign in +(\S+) /);
  const { origin } = new URL(link);
  const { page, complaints, close } = await openWindow(origin, null);
  const outside: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.url().startsWith(origin) && !pathname.startsWith(`${BASE}/`)) outside.push(pathname);
  });
  const path = () => new URL(page.url()).pathname;

  await page.goto(link);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('E-mail address').fill('ada@example.com');
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
  await page.keyboard.press('Enter');
  await expect.poll(path).toBe(`${BASE}/fleet`);
  await settled(page);
  await page.getByRole('link', { name: 'Tickets' }).first().click();
  await expect.poll(path).toBe(`${BASE}/tickets`);
  await page.goto(`${origin}${BASE}/connections/1`);
  await settled(page);
  expect(await page.locator('h1').first().textContent()).toContain('dbvitals store');

  // After a sign-out in another window, signing in returns to the requested page.
  await page.context().clearCookies();
  await page.goto(`${origin}${BASE}/keys?create=1`);
  await expect.poll(path).toBe(`${BASE}/sign-in`);
  await page.getByLabel('E-mail address').fill('ada@example.com');
  await page.getByLabel('Password').fill('correct horse battery');
  await page.keyboard.press('Enter');
  await expect.poll(path).toBe(`${BASE}/keys`);
  await settled(page);
  expect(outside).toEqual([]);
  expect(complaints.filter((complaint) => !/ 401 /.test(complaint))).toEqual([]);
  await close();
});
