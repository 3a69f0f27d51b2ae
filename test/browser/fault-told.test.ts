import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, keepPicture, openWindow, settled, visit, type Window } from './chromium.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';
import { press, write } from './keyboard.ts';
import { type SlackLike, startSlackLike } from './slack-like-receiver.ts';

// From a fault to a message and back, by hand in the console; test/contract/fault-to-page.test.ts looks at every byte of it.

let service: ConsoleService;
let slack: SlackLike;
let opened: Window;
let page: Page;
let connection: number;

beforeAll(async () => {
  const environment = { DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes' };
  service = await startConsoleService(
    { connections: 1, tickets: 1, activity: 10 },
    { withMonitor: true, environment },
  );
  const named = ['--account', String(service.accountId), '--name', 'shop primary'];
  const added = await service.command<{ id: number }>(
    'connection',
    'add',
    ...named,
    '--url',
    service.storeUrl(),
  );
  connection = added.id;
  slack = await startSlackLike();
  opened = await openWindow(service.origin, await service.owner());
  page = opened.page;
});

afterAll(async () => {
  await closeWindows();
  await slack?.stop();
  await service?.stop();
});

const dialog = () => page.getByRole('dialog');

async function choose(label: RegExp, option: RegExp): Promise<void> {
  await dialog().getByRole('button', { name: label }).click();
  await page.getByRole('option', { name: option }).click();
}

/** Checks the connection, and waits until the check is done. */
async function checkNow(): Promise<void> {
  await visit(page, `/connections/${connection}`);
  const check = page.getByRole('button', { name: /^Check now/ });
  await check.waitFor({ timeout: 60_000 });
  await check.click();
  await page
    .getByRole('status')
    .getByText(/^Check finished/)
    .waitFor({ state: 'attached', timeout: 60_000 });
}

/** What the receiver got since the last call, once it names the alert: messages wait 30 s for more events. */
async function told(): Promise<string> {
  await expect
    .poll(() => slack.received.some(({ body }) => body.includes('Sequences nearly used up')))
    .toBe(true);
  return slack.received
    .splice(0)
    .map(({ body }) => body)
    .join('\n');
}

test('by keyboard: a database is added by URL, tested first, and checked on demand', async () => {
  await visit(page, '/fleet');
  await press(page, 'Add connection');
  await page.getByRole('heading', { level: 1, name: 'Add connection' }).waitFor();
  await write(page, 'Name', 'our own store');
  await write(page, 'Connection URL', service.storeUrl());
  await press(page, 'Test connection');
  await page.getByText('Connected', { exact: true }).waitFor({ timeout: 60_000 });
  await press(page, 'Add connection');
  await page.getByRole('heading', { level: 1, name: 'our own store' }).waitFor();
  await page.getByRole('button', { name: /^Check now/ }).waitFor({ timeout: 60_000 });
  await press(page, 'Check now');
  await page.locator('.run-strip, .notice').first().waitFor();
  await page.getByRole('heading', { name: 'What is wrong now' }).waitFor({ timeout: 60_000 });
  expect(opened.complaints).toEqual([]);
});

test('a fault is told, acknowledged, mended and told, and the log shows each delivery', async () => {
  await visit(page, '/notifications?add=slack');
  await page.getByLabel('Webhook URL', { exact: true }).fill(slack.url);
  await dialog().getByRole('button', { name: 'Add and send test' }).click();
  await page.getByText('The test message is now in Slack.').waitFor();
  await dialog()
    .getByRole('button', { name: /^Send the (open ticket|[2-9] open tickets) now$/ })
    .click();
  await dialog()
    .getByText(/being sent/)
    .waitFor();
  await dialog().getByRole('button', { name: 'Done' }).click();
  slack.received.length = 0;

  await visit(page, '/alerts?view=rules');
  await page.getByRole('button', { name: 'Add rule' }).click();
  await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('Sequences nearly used up');
  await choose(/Condition/, /^Measured value/);
  await dialog().getByRole('combobox', { name: 'Value' }).fill('sequence used');
  await page
    .getByRole('option', { name: /^Sequence used/ })
    .first()
    .click();
  await dialog()
    .getByLabel(/^Threshold/)
    .fill('90');
  await dialog()
    .getByLabel(/^For \(minutes\)/)
    .fill('0');
  await dialog().getByLabel('Consecutive checks').fill('1');
  await dialog()
    .getByText(/fired in the last 7 days|would have fired/)
    .waitFor();
  await keepPicture(page, 'told-1-rule');
  await dialog().getByRole('button', { name: 'Add rule' }).click();
  await dialog().waitFor({ state: 'detached' });

  await service.statement('create sequence invoice_numbers as integer maxvalue 1000');
  await service.statement(`select setval('invoice_numbers', 950)`);
  await checkNow();
  await keepPicture(page, 'told-2-checked');
  await visit(page, '/alerts');
  await page.getByRole('link', { name: 'Sequences nearly used up' }).click();
  const panel = page.locator('.alert-panel');
  await panel
    .getByText(/invoice_numbers/)
    .first()
    .waitFor();
  expect(await panel.textContent()).toMatch(/95\D*%/);
  const message = await told();
  for (const said of ['shop primary', 'invoice_numbers', '95 %', '90 %']) expect(message).toContain(said);
  await expect.poll(() => panel.locator('.delivery-accepted').count()).toBe(1);
  const [, address = ''] =
    /<http:\/\/[^/]+(\/alerts\?alert=\d+)\|[^>]*Sequences nearly used up>/.exec(message) ?? [];
  await visit(page, address);
  await panel.getByRole('heading', { level: 2, name: 'Sequences nearly used up' }).waitFor();
  await keepPicture(page, 'told-3-alert');

  await visit(page, `/tickets?connection_id=${connection}&status=open`);
  await page.getByRole('link', { name: /Sequence nearly exhausted/ }).click();
  await page.locator('.ticket-panel').getByText('PG_SEQUENCE_EXHAUSTION', { exact: true }).waitFor();
  await page
    .locator('.ticket-history li')
    .filter({ hasText: /sent to .*: ticket opened/i })
    .waitFor();
  await keepPicture(page, 'told-4-ticket');

  await visit(page, '/alerts');
  await page.getByRole('link', { name: 'Sequences nearly used up' }).click();
  await panel.getByRole('button', { name: 'Acknowledge' }).click();
  await dialog().getByLabel('Note').fill('Giving it bigint');
  await dialog().getByRole('button', { name: 'Acknowledge' }).click();
  await panel.locator('.alert-state', { hasText: 'Giving it bigint' }).waitFor();
  await keepPicture(page, 'told-5-acknowledged');

  await service.statement('alter sequence invoice_numbers as bigint maxvalue 1000000');
  await checkNow();
  expect(await told()).toMatch(/resolved/i);
  await visit(page, '/alerts?view=resolved');
  await page.getByRole('link', { name: 'Sequences nearly used up' }).click();
  await expect.poll(() => panel.locator('.delivery-accepted').count()).toBe(2);
  await keepPicture(page, 'told-6-resolved');

  await service.command('activity', 'seal');
  await visit(page, '/activity');
  await page.getByText(/^Entries 1 to [\d,]+ verified/).waitFor();
  await expect.poll(() => page.getByText('The service sent').count()).toBeGreaterThanOrEqual(2);
  await settled(page);
  await keepPicture(page, 'told-7-log');
  expect(opened.complaints).toEqual([]);
}, 240_000);
