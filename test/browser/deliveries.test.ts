import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  closeWindows,
  inspect,
  keepPicture,
  openWindow,
  overflow,
  PHONE,
  violations,
  visit,
  WIDE,
  type Window,
} from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { addDestination } from './destinations.ts';
import { actOn, focused, press, tabTo } from './keyboard.ts';
import { type SlackLike, startSlackLike } from './slack-like-receiver.ts';

let service: ConsoleAccount;
let slack: SlackLike;
let owner: Person;
let opened: Window;
let page: Page;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 3, tickets: 5, activity: 50 });
});

// Each test has a receiver of its own, and an account without destinations.
beforeEach(async () => {
  slack = await startSlackLike();
  owner = await service.createOwner('business');
  opened = await openWindow(service.origin, owner);
  page = opened.page;
  return async () => {
    await opened.close();
    await slack.stop();
  };
});

afterAll(closeWindows);

const add = (given: Record<string, unknown> = {}) =>
  addDestination(service, owner, { url: slack.url, ...given });

const sendTest = (id: number) =>
  service.ask<{ accepted: boolean }>(owner, 'POST', `/destinations/${id}/test`);

/** Adds a webhook and sends it a test. The receiver accepts it unless told otherwise. */
async function addTested(given: Record<string, unknown> = {}): Promise<number> {
  slack.reply ??= { status: 204, body: '' };
  const { destination } = await add({ name: 'Hook', channel: 'webhook', ...given });
  await sendTest(destination.id);
  return destination.id;
}

/** The signing secret, which the page shows only once. */
async function shownSecret(): Promise<string> {
  const secret = await page.getByRole('dialog').locator('pre[aria-label="signing secret"]').textContent();
  expect(secret).toMatch(/^whsec_/);
  return secret ?? '';
}

/** Throws unless the newest request was signed with the secret. */
function verifyNewest(secret: string): void {
  const { headers, body } = slack.received.at(-1) ?? { headers: {}, body: '' };
  new Webhook(secret).verify(body, headers as Record<string, string>);
}

test('a webhook’s secret is shown once, verifies its requests, and is replaced by rotation', async () => {
  slack.reply = { status: 204, body: '' };
  await visit(page, '/notifications?add=webhook');
  await page.keyboard.type(slack.url);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Webhook added' }).getByText('The test was accepted').waitFor();
  const first = await shownSecret();
  verifyNewest(first);
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'webhook-secret');
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  expect(await page.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
  await press(page, 'Copy signing secret');
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(first);
  await storeSecret();
  expect(await page.content()).not.toContain(first);
  await actOn(page, 'Webhook', 'Rotate secret…');
  await page.getByRole('radio', { name: /After 24 hours/, checked: true }).waitFor();
  await keepPicture(page, 'webhook-rotate');
  await press(page, 'Rotate secret');
  const second = await shownSecret();
  expect(second).not.toBe(first);
  await storeSecret();
  await actOn(page, 'Webhook', 'Send test');
  await page.getByRole('dialog', { name: 'Test of Webhook' }).getByText('The test was accepted').waitFor();
  for (const secret of [first, second]) verifyNewest(secret);
  await press(page, 'Close');
  await actOn(page, 'Webhook', 'Rotate secret…');
  await tabTo(page, /^After 24 hours/);
  await page.keyboard.press('ArrowDown');
  await press(page, 'Rotate secret');
  const third = await shownSecret();
  await page.getByText('The old secret is no longer used.').waitFor();
  await storeSecret();
  await actOn(page, 'Webhook', 'Send test');
  await page.getByRole('dialog', { name: 'Test of Webhook' }).getByText('The test was accepted').waitFor();
  verifyNewest(third);
  expect(() => verifyNewest(second)).toThrow('No matching signature');
  expect(await page.content()).not.toContain('whsec_');
});

async function storeSecret(): Promise<void> {
  await tabTo(page, /^I have stored the secret/);
  await page.keyboard.press('Space');
  await press(page, 'Done');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

test('a delivery shows what was sent and answered, and is sent again, alone or in a range', async () => {
  const id = await addTested();
  await sendTest(id);
  await visit(page, `/notifications/${id}`);
  const rows = page.getByRole('table', { name: 'Deliveries' }).locator('.table-item');
  await expect.poll(() => rows.count()).toBe(2);
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'destination');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('region', { name: /^Delivery/ });
  await panel.getByText('Request headers').first().waitFor();
  const sent = slack.received.at(-1);
  const header = (name: string) => String(sent?.headers[name]);
  for (const name of ['webhook-id', 'webhook-timestamp', 'dbvitals-sequence', 'dbvitals-sequence-epoch']) {
    await panel.getByText(header(name), { exact: true }).first().waitFor();
  }
  const body = (await panel.getByRole('group', { name: 'body' }).textContent()) ?? '';
  expect(JSON.parse(body)).toEqual(JSON.parse(sent?.body ?? ''));
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'delivery');
  await press(page, 'Send again');
  await page
    .getByRole('status')
    .filter({ hasText: 'Queued to be sent again' })
    .waitFor({ state: 'attached' });
  await expect.poll(() => slack.received.length).toBe(3);
  expect(slack.received[2]?.headers['webhook-id']).toBe(sent?.headers['webhook-id']);
  expect(slack.received[2]?.body).toBe(sent?.body);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toMatch(/^Test/);
  await page.getByRole('button', { name: 'Send a range again…' }).click();
  await page.getByRole('radio', { name: /^All/ }).focus();
  await page.keyboard.press('Space');
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'resend-range');
  await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
  await page
    .getByRole('status')
    .filter({ hasText: /deliveries are sent again/ })
    .waitFor({ state: 'attached' });
  await expect.poll(() => slack.received.length).toBeGreaterThanOrEqual(5);
  await page.getByRole('button', { name: 'Given up', exact: true }).click();
  await page.getByText('No delivery matches').waitFor();
  await page.waitForURL(/\?state=given_up$/);
  expect(opened.complaints).toEqual([]);
});

test('a filter that closes a delivery keeps the focus', async () => {
  await visit(page, `/notifications/${await addTested()}`);
  const rows = page.getByRole('table', { name: 'Deliveries' }).locator('.table-item');
  const filter = page.getByRole('button', { name: 'Accepted', exact: true });
  const panel = page.getByRole('region', { name: /^Delivery/ });
  const filterBy = async (state: RegExp) => {
    await filter.press('Space');
    await page.waitForURL(state);
    await expect.poll(() => rows.count()).toBe(1);
  };
  // Both lists have been read, so that the row is there at once.
  await filterBy(/state=accepted/);
  await filterBy(/\/\d+$/);
  await rows.locator('.row-link').click();
  await panel.waitFor();
  await filterBy(/state=accepted/);
  await panel.waitFor({ state: 'detached' });
  expect(await focused(page)).toBe('Accepted');
});

const HOSTILE = [
  '<script>window.taken=1</script><img src=x onerror="window.taken=1">',
  'safe \u202egnp.exe\u2066 \u0000\u001b[2J\u0007\u2028end',
  'l'.repeat(4_000),
].join('\n');

test('a hostile receiver’s answer is only text, and does not widen the page', async () => {
  slack.reply = { status: 500, body: HOSTILE };
  const id = await addTested({ name: '<b>bold</b> \u202eeman', url: slack.url });
  for (const size of [WIDE, PHONE]) {
    await page.setViewportSize(size);
    await visit(page, `/notifications/${id}`);
    await page.getByRole('link', { name: /Test/ }).first().click();
    const response = page.getByRole('group', { name: 'Response' }).first();
    await response.waitFor();
    const shown = (await response.textContent()) ?? '';
    expect(shown).toContain('<script>window.taken=1</script>');
    expect(shown).not.toMatch(/(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}]/u);
    expect(await page.evaluate('window.taken')).toBeUndefined();
    expect(await page.locator('main img, main script, main b').count()).toBe(0);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await violations(page)).toEqual([]);
    await keepPicture(page, `delivery-hostile.${size.width}`);
    await visit(page, '/notifications');
    await page.getByText(/^Failing since/).waitFor();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  }
  expect(opened.complaints).toEqual([]);
});

/** Makes a link for a recipient: the real one is in a message that is not sent here. */
async function linkOf(destinationId: number, email: string): Promise<string> {
  const token = `token-of-${destinationId}-${email}`;
  await service.statement(
    `update destination_recipient set token_hash = sha256('${token}')
      where destination_id = ${destinationId} and email = '${email}'`,
  );
  return `/email/${token}`;
}

test('a recipient confirms and unsubscribes without a session, on a phone', async () => {
  // Unsubscribed addresses are those of the whole service, so other files have others.
  const recipients = ['ada@deliveries.example', 'bob@deliveries.example'];
  const { destination } = await add({ name: 'On call', channel: 'email', url: undefined, recipients });
  const window = await openWindow(service.origin, null, { scheme: 'light', ...PHONE });
  const link = await linkOf(destination.id, 'ada@deliveries.example');
  await visit(window.page, link);
  await window.page.getByRole('heading', { name: 'Confirm your address' }).waitFor();
  await window.page.getByText('New company').waitFor();
  expect(await violations(window.page)).toEqual([]);
  expect(await overflow(window.page)).toBeLessThanOrEqual(0);
  await keepPicture(window.page, 'email-confirm');
  await visit(page, `/notifications/${destination.id}`);
  await page.getByText('Waiting for 2 recipients to confirm').waitFor();
  await keepPicture(page, 'email-destination');
  await press(window.page, 'Confirm');
  await window.page.getByRole('heading', { name: 'Confirmed' }).waitFor();
  await expect.poll(() => page.getByText('Waiting for confirmation').count()).toBe(1);
  await visit(window.page, link);
  await press(window.page, 'Unsubscribe');
  await window.page.getByRole('heading', { name: 'Unsubscribed' }).waitFor();
  expect(await violations(window.page)).toEqual([]);
  await keepPicture(window.page, 'email-unsubscribed');
  await page.getByText('Unsubscribed').waitFor();
  expect(window.complaints).toEqual([]);
  await visit(window.page, '/email/no-such-token');
  await window.page.getByRole('heading', { name: 'This link can’t be used' }).waitFor();
  expect(await violations(window.page)).toEqual([]);
  await keepPicture(window.page, 'email-unknown');
  await window.close();
});

test('axe finds nothing in any state, and all of them fit the window', async () => {
  const check = (name: string) => inspect(page, `notifications-${name}`);
  await visit(page, '/notifications');
  await check('empty');
  await visit(page, '/notifications?add=webhook');
  await page.locator('summary').click();
  await page.getByText('Quiet hours').click();
  await page.getByText('Chosen connections', { exact: true }).first().click();
  await check('form');
  slack.reply = { status: 503, body: 'upstream is down' };
  const id = await addTested({ quiet_hours: { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' } });
  slack.reply = null;
  const { destination } = await add();
  await sendTest(destination.id);
  await add({ name: 'Dead man', channel: 'heartbeat', url: slack.url });
  await visit(page, '/notifications');
  await page.getByText('Delivering').first().waitFor();
  await check('list');
  await visit(page, '/notifications?add=channel');
  await check('channels');
  await visit(page, `/notifications/${id}`);
  await page.getByRole('link', { name: /Test/ }).first().waitFor();
  await check('destination');
  await page.getByRole('link', { name: /Test/ }).first().click();
  await page.getByText('Request headers').first().waitFor();
  await check('delivery');
});
