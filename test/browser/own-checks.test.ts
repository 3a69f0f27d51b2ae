import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, inspect, keepPicture, openWindow, visit } from './chromium.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';
import { type SlackLike, startSlackLike } from './slack-like-receiver.ts';

// A check of one's own: from nothing to a message, by hand, and every state of its page.

let service: ConsoleService;
let slack: SlackLike;

beforeAll(async () => {
  const environment = { DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes' };
  service = await startConsoleService({ connections: 0, tickets: 0, activity: 10 }, { environment });
  const named = ['--account', String(service.accountId), '--name', 'shop primary', '--tag', 'shop'];
  await service.command('connection', 'add', ...named, '--url', service.storeUrl());
  slack = await startSlackLike();
});

afterAll(async () => {
  await closeWindows();
  await slack?.stop();
  await service?.stop();
});

const findDialog = (page: Page) => page.getByRole('dialog');
const button = (page: Page, name: string) => findDialog(page).getByRole('button', { name, exact: true });

/** Chooses an option of a select in the dialog. */
async function choose(page: Page, label: RegExp, option: RegExp): Promise<void> {
  await findDialog(page).getByRole('button', { name: label }).click();
  await page.getByRole('option', { name: option }).click();
}

/** Fills the form of a check that counts rows of pg_class. */
async function fillIn(page: Page, title: string): Promise<void> {
  const dialog = findDialog(page);
  await dialog.getByLabel('Title', { exact: true }).fill(title);
  await dialog.getByLabel('SQL', { exact: true }).fill('select 12 as value');
  await dialog.getByLabel('Warning at', { exact: true }).fill('10');
  await dialog.getByLabel('Critical at', { exact: true }).fill('100');
  await dialog.getByLabel('What to do', { exact: true }).fill('Restart the payment worker.');
  await dialog.getByLabel('Tags', { exact: true }).fill('shop');
}

test('from nothing to a message in less than three minutes', async () => {
  const owner = await service.owner();
  const { page, complaints, close } = await openWindow(service.origin, owner);
  const began = Date.now();
  await visit(page, '/notifications?add=slack');
  await page.getByLabel('Webhook URL', { exact: true }).fill(slack.url);
  await button(page, 'Add and send test').click();
  await page.getByText('The test message is now in Slack.').waitFor();
  await button(page, 'Done').click();
  slack.received.length = 0;

  await page.getByRole('link', { name: 'Own checks' }).click();
  await page.getByText('No own checks yet').waitFor();
  await page.getByRole('button', { name: 'Add check' }).click();
  await fillIn(page, 'Orders wait for payment');
  expect(await findDialog(page).getByLabel('ID', { exact: true }).inputValue()).toBe(
    'ORDERS_WAIT_FOR_PAYMENT',
  );
  await choose(page, /Connection$/, /shop primary/);
  await button(page, 'Try').click();
  await findDialog(page).getByText('12 (warning from 10, critical from 100).').waitFor({ timeout: 60_000 });
  await keepPicture(page, 'own-check-1-tried');
  await button(page, 'Add check').click();
  await findDialog(page).waitFor({ state: 'detached' });
  await page.getByText('OWN_ORDERS_WAIT_FOR_PAYMENT').waitFor();
  await keepPicture(page, 'own-check-2-added');

  await visit(page, '/fleet');
  await page.getByRole('link', { name: 'shop primary' }).first().click();
  const check = page.getByRole('button', { name: /^Check now/ });
  await check.click();
  await page
    .getByRole('status')
    .getByText(/^Check finished/)
    .waitFor({ state: 'attached', timeout: 60_000 });
  await expect
    .poll(() => slack.received.some(({ body }) => body.includes('Orders wait for payment')))
    .toBe(true);
  const seconds = (Date.now() - began) / 1_000;
  process.stdout.write(`From nothing to a message: ${Math.round(seconds)} s.\n`);
  expect(seconds).toBeLessThan(180);
  await keepPicture(page, 'own-check-3-told');
  expect(complaints).toEqual([]);
  await close();
}, 240_000);

test('what is wrong stands at its field, and an edit by somebody else is not overwritten', async () => {
  const owner = await service.owner();
  const { page, complaints, close } = await openWindow(service.origin, owner);
  await visit(page, '/checks?add=1');
  await fillIn(page, 'Deletes');
  await findDialog(page).getByLabel('SQL', { exact: true }).fill('delete from orders');
  await button(page, 'Add check').click();
  await findDialog(page)
    .getByText(/must be a SELECT/)
    .waitFor();
  await findDialog(page).getByLabel('Critical at', { exact: true }).fill('ten');
  await findDialog(page).getByText('Enter a number.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Discard your changes?' }).waitFor();
  await page.getByRole('button', { name: /Discard/ }).click();

  const added = await service.ask<{ changed_at: string }>(owner, 'POST', '/own-checks', DEFINITION);
  await visit(page, '/checks?check=EDITED');
  await findDialog(page).getByLabel('Warning at (%)', { exact: true }).fill('20');
  const { id: _, ...changed } = DEFINITION;
  await service.ask(owner, 'PATCH', '/own-checks/EDITED', { ...changed, warning: 5, seen: added.changed_at });
  await button(page, 'Save').click();
  await findDialog(page)
    .getByText(/changed it after you opened it/)
    .waitFor();
  expect(complaints.filter((complaint) => !/40[09]/.test(complaint))).toEqual([]);
  await close();
});

const DEFINITION = {
  id: 'EDITED',
  title: 'Edited <img src=x onerror=alert(1)>',
  engine: 'postgres',
  database: null,
  sql: `select '<b>' as object, 1 as value`,
  unit: 'ratio',
  operator: '>=',
  warning: 0.1,
  critical: null,
  remediation: 'First\nsecond',
  every: 300,
  timeout: 5,
  tags: ['env:production'],
};

test('every state is accessible and fits', async () => {
  const { page, complaints, close } = await openWindow(service.origin, await service.owner());
  const check = (state: string) => inspect(page, `own-checks-${state}`);
  await visit(page, '/checks');
  await page.locator('.table-item').first().waitFor();
  await check('list');
  await visit(page, '/checks?add=1');
  await fillIn(page, 'Orders wait');
  await check('form');
  await choose(page, /Connection$/, /shop primary/);
  await findDialog(page)
    .getByLabel('SQL', { exact: true })
    .fill(`select 'queue <b>' || n as object, n as value from generate_series(1, 40) n`);
  await button(page, 'Try').click();
  await findDialog(page).getByText('40 values, the first 10 are shown').waitFor({ timeout: 60_000 });
  await check('tried');
  await findDialog(page).getByLabel('SQL', { exact: true }).fill('drop table orders');
  await button(page, 'Add check').click();
  await findDialog(page)
    .getByText(/must be a SELECT/)
    .waitFor();
  await check('refused');
  await visit(page, '/checks');
  await page.getByRole('button', { name: 'Actions for Edited' }).click();
  await page.getByRole('menuitem', { name: 'Remove…' }).click();
  await page.getByRole('alertdialog').waitFor();
  await check('remove');
  await page.getByRole('button', { name: 'Remove check' }).click();
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  await expect.poll(() => page.getByText('OWN_EDITED').count()).toBe(0);
  expect(complaints.filter((complaint) => !/400/.test(complaint))).toEqual([]);
  await close();

  const viewer = await service.member('Vera Viewer', ['viewer']);
  const reading = await openWindow(service.origin, viewer);
  await visit(reading.page, '/checks?check=ORDERS_WAIT_FOR_PAYMENT');
  await reading.page.getByText('select 12 as value').waitFor();
  expect(await reading.page.getByRole('button', { name: 'Add check' }).count()).toBe(0);
  await inspect(reading.page, 'own-checks-read');
  await reading.close();
}, 300_000);
