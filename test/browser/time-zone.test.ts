import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, keepPicture, openWindow, violations, visit } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';

let service: ConsoleAccount;
let owner: Person;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 6, tickets: 20, activity: 100 });
  owner = await service.owner();
});

afterAll(closeWindows);

const written = (timeZone: string, at: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone }).format(
    new Date(at),
  );

/** The latest entry's instant, and the text that the page shows for it. */
async function latest(page: Page): Promise<{ at: string; text: string }> {
  const time = page.locator('main table time, main [role=row] time').first();
  return { at: (await time.getAttribute('datetime')) ?? '', text: (await time.textContent()) ?? '' };
}

test('times are shown in local time or in UTC, which the browser remembers', async () => {
  const { page, complaints, close } = await openWindow(service.origin, owner);
  await visit(page, '/activity');
  const before = await latest(page);
  expect(before.text).toBe(written('Europe/Berlin', before.at));
  await page.getByRole('button', { name: /user menu/ }).click();
  await page
    .getByRole('menuitemradio', { name: 'UTC' })
    .or(page.getByRole('menuitem', { name: 'UTC' }))
    .click();
  await expect.poll(async () => (await latest(page)).text).toBe(`${written('UTC', before.at)} UTC`);
  await page.getByRole('button', { name: /Times in UTC/ }).waitFor();
  const time = await page.locator('main [role=row] time').first().boundingBox();
  expect(time?.height).toBeLessThan(30); // one line
  await keepPicture(page, 'activity.utc');
  expect(await violations(page)).toEqual([]);
  await page.reload();
  await expect.poll(async () => (await latest(page)).text).toMatch(/ UTC$/);

  await page.keyboard.press('Control+K');
  await page.getByRole('combobox', { name: /^Page, connection/ }).fill('local times');
  await page.getByRole('option', { name: 'Show local times' }).waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await latest(page)).text).toBe(before.text);
  expect(await page.getByRole('button', { name: /Times in UTC/ }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

test.each([
  ['local', 'Europe/Berlin', 'In your time zone'],
  ['utc', 'UTC', 'In UTC'],
] as const)('%s: a typed time means the chosen time zone', async (zone, timeZone, words) => {
  const { page, complaints, close } = await openWindow(service.origin, owner);
  await page.addInitScript(`localStorage.setItem('dbvitals-time-zone', '${zone}')`);
  await visit(page, '/alerts?view=maintenance');
  await page.getByRole('button', { name: 'Add window' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(`Disks ${zone}`);
  const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
  await dialog.getByLabel('Ends').fill(`${day}T10:00`);
  await dialog.getByText(words).first().waitFor();
  const asked = page.waitForRequest(
    (request) => request.method() === 'POST' && request.url().endsWith('/maintenance'),
  );
  await dialog.getByRole('button', { name: 'Add window' }).click();
  const { ends_at }: { ends_at: string } = (await asked).postDataJSON();
  expect(written(timeZone, ends_at)).toBe(written('UTC', `${day}T10:00Z`));
  await dialog.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
  await close();
});
