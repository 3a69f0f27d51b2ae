import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, openWindow, PHONE, visit } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';

let service: ConsoleAccount;
let owner: Person;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 3 });
  owner = await service.owner();
});

afterAll(closeWindows);

/** Whether the page's open view is within the window from left to right. */
async function seesOpenView(page: Page): Promise<boolean> {
  const box = await page.locator('.page-view[aria-current]').boundingBox();
  return box !== null && box.x >= 0 && box.x + box.width <= PHONE.width;
}

// Grafana #121841 and #123126: the open tab was outside the row of tabs.
test.each(['settings', 'charts'])('on a phone, a link to the tab %s shows the open tab', async (tab) => {
  const { page, close } = await openWindow(service.origin, owner, { scheme: 'light', ...PHONE });
  const { data } = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/fleet');
  await visit(page, `/connections/${data[0]?.id}?tab=${tab}`);
  await page.locator('.page-view[aria-current]').waitFor();
  await expect.poll(() => seesOpenView(page)).toBe(true);
  await close();
});

// A view was not marked while a panel was open, because the router compares all parameters.
test('a view stays marked while a panel of it is open', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, '/thresholds?check=PG_DEAD_TUPLES');
  await page.getByRole('dialog').waitFor();
  expect(await page.locator('.page-view[aria-current]').allTextContents()).toEqual(['Thresholds']);
  await close();
});

// Material Web #4894, MapStore2 #12570: the window closed, and what was typed was lost.
test('selecting text beyond the edge of a window does not close it', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, '/keys?create=1');
  const name = page.getByRole('dialog').getByLabel('Name', { exact: true });
  await name.fill('Office Grafana');
  const box = await name.boundingBox();
  if (!box) throw new Error('The field is not on the page.');
  await page.mouse.move(box.x + 60, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(4, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  expect(await name.inputValue()).toBe('Office Grafana');
  expect(await page.getByRole('dialog').count()).toBe(1);
  await close();
});
