import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONNECTION_TABS } from '../../src/vocabulary/connection-tabs.ts';
import { closeWindows, openWindow, overflow, PHONE, visit, WIDE } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused } from './keyboard.ts';

// Limited space: long lists that are drawn in part, and long dialogs in low windows.

let service: ConsoleAccount;
let owner: Person;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 14, tickets: 110, activity: 400 });
  owner = await service.owner();
});

afterAll(closeWindows);

/** Waits for the frames that draw newly visible rows. A person presses keys more slowly than that. */
const DRAWN =
  'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))))';

test.each([
  ['wide', WIDE],
  ['phone', PHONE],
])('%s: Tab continues past a list’s first page into the pages that are drawn in part', async (_, size) => {
  const { page, close } = await openWindow(service.origin, owner, { scheme: 'light', ...size });
  await visit(page, '/activity');
  const last = page.locator('.table-item:focus-within');
  for (let stop = 0; stop < 160; stop++) {
    await page.keyboard.press('Tab');
    await page.evaluate(DRAWN);
    expect(await focused(page)).not.toBe('');
  }
  expect(Number(await last.getAttribute('data-index'))).toBeGreaterThan(110);
  const at = page.locator('.table-item:focus-within');
  expect(Number(await at.getAttribute('data-index'))).toBeGreaterThan(120);
  expect(await page.locator('.table-item').count()).toBeLessThan(100);
  await close();
});

test('on a phone, the buttons of a dialog taller than the window are visible', async () => {
  const { page, close } = await openWindow(service.origin, owner, { scheme: 'light', ...PHONE });
  await visit(page, '/keys?create=1');
  const dialog = page.getByRole('dialog');
  const create = dialog.getByRole('button', { name: 'Create key' });
  await create.waitFor();
  expect(
    await page.evaluate<boolean>('(d => d.scrollHeight > d.clientHeight)(document.querySelector(".dialog"))'),
  ).toBe(true);
  const box = await create.boundingBox();
  expect(box && box.y + box.height).toBeLessThanOrEqual(PHONE.height);
  await close();
});

test('at 400 % zoom, every control of a dialog and the navigation can be reached and pressed', async () => {
  const look = { scheme: 'light', width: 320, height: 256 } as const;
  const { page, close } = await openWindow(service.origin, owner, look);
  await visit(page, '/keys?create=1');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Open navigation' }).click();
  await page.getByRole('button', { name: /user menu/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  await close();
});

const LAPTOP = { width: 1440, height: 900 };

/** How many windows high the page is, once it no longer grows. */
async function screens(page: Page, height: number): Promise<number> {
  const read = () => page.evaluate<number>('document.documentElement.scrollHeight');
  let before = 0;
  await expect
    .poll(
      async () => {
        const [now, last] = [await read(), before];
        before = now;
        return now === last;
      },
      { interval: 700 },
    )
    .toBe(true);
  return before / height;
}

test.each([
  ['laptop', LAPTOP, 1],
  ['phone', PHONE, 3],
])('no tab of a connection is over three screens of a %s', async (_, size, overview) => {
  const { data } = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/fleet?sort=worst');
  const { page, close } = await openWindow(service.origin, owner, { scheme: 'light', ...size });
  const high: Record<string, number> = {};
  for (const tab of CONNECTION_TABS) {
    await visit(page, `/connections/${data[0]?.id}?tab=${tab}`);
    high[tab] = await screens(page, size.height);
  }
  expect(Object.entries(high).filter(([, count]) => count > 3)).toEqual([]);
  expect(high['overview']).toBeLessThanOrEqual(overview);
  await close();
});
