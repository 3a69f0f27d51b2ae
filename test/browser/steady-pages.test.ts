import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, keepPicture, openWindow, visit, WIDE } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount } from './console-service.ts';
import { addDestination } from './destinations.ts';
import { ANSWERS, drawn, fillEmpty, measure, press, refuse, still } from './steady.ts';

let service: ConsoleAccount;
let page: Page;
let ticket: number;
let mail: number;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 3, tickets: 12, activity: 20 });
  const owner = await service.owner();
  const { data } = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/tickets');
  ticket = data[0]?.id ?? 0;
  const { destination } = await addDestination(service, owner, {
    url: undefined as never,
    name: 'Mail',
    channel: 'email',
    recipients: ['ada@example.com'],
  });
  mail = destination.id;
  page = (await openWindow(service.origin, owner)).page;
  page.setDefaultTimeout(5_000);
});

afterAll(closeWindows);

/** Buttons and boxes of lists and pages, whose request the service refuses. */
const IN_PLACE: Record<string, { path: () => string; act: (at: Page) => Promise<unknown> }> = {
  'an assignment above the list of tickets': {
    path: () => '/tickets?status=all',
    async act(at) {
      await at.keyboard.press('j');
      await at.keyboard.press('e');
    },
  },
  'a ticket in its panel': {
    path: () => `/tickets?ticket=${ticket}`,
    act: press('Acknowledge'),
  },
  'the recipients of a destination': {
    path: () => `/notifications/${mail}`,
    act: press('Ask again'),
  },
  'a rule in its row': {
    path: () => '/alerts?view=rules',
    act: (at) => at.locator('.rule-item .checkbox').first().click(),
  },
};

/** What moves on a page when its request is refused. */
async function movedBy(
  at: Page,
  message: string,
  action: (at: Page) => Promise<unknown>,
): Promise<unknown[]> {
  await still(at);
  await refuse(at, message);
  const before = await measure(at, true);
  await action(at);
  await at.locator('.standing-notice, .inline-error').getByText(message).first().waitFor();
  await drawn(at);
  await at.unroute('**/console/api/**');
  return Object.entries(await measure(at, false)).filter(([element, top]) => top !== before[element]);
}

test.each(Object.entries(IN_PLACE))('an error moves nothing of a page: %s', async (name, entry) => {
  for (const [size, message] of ANSWERS) {
    await page.setViewportSize(size);
    await visit(page, entry.path());
    expect(await movedBy(page, message, entry.act), message).toEqual([]);
    await keepPicture(page, `in-place-${size.width}-${name.replaceAll(' ', '-')}-${message.length}`);
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.locator('.standing-notice').waitFor({ state: 'detached' });
  }
});

test('an error that stands is gone with its page', async () => {
  await page.setViewportSize(WIDE);
  await visit(page, '/alerts?view=rules');
  await movedBy(page, 'Try again.', (at) => at.locator('.rule-item .checkbox').first().click());
  await page.getByRole('link', { name: 'Activity', exact: true }).click();
  await page.locator('.standing-notice').waitFor({ state: 'detached' });
});

test('data that can’t be renewed stays where it is', async () => {
  const live = page.waitForResponse(/\/fleet\/now/);
  await visit(page, '/fleet');
  await (await live).finished();
  await drawn(page);
  const before = await measure(page, true);
  await page.context().setOffline(true);
  await page.getByText('You are offline. Data may be out of date.').waitFor();
  await drawn(page);
  expect(Object.entries(await measure(page, false)).filter(([one, top]) => top !== before[one])).toEqual([]);
  await page.context().setOffline(false);
  await page.locator('.standing-notice').waitFor({ state: 'detached' });
});

/** Pages without a session: a link in an e-mail, an invitation, and a link to join. */
const WITHOUT_SESSION: Record<string, { path: () => Promise<string>; fill?: string; act: string }> = {
  'a link to confirm an address': {
    async path() {
      await service.statement(
        `update destination_recipient set token_hash = sha256('token-of-ada') where destination_id = ${mail}`,
      );
      return '/email/token-of-ada';
    },
    act: 'Confirm',
  },
  'a link that makes an owner': { path: () => service.ownerLink(), fill: 'form', act: 'Save and sign in' },
};

test.each(Object.entries(WITHOUT_SESSION))('an error moves nothing of a page: %s', async (name, entry) => {
  const stranger = await openWindow(service.origin, null);
  const at = stranger.page;
  const path = await entry.path();
  for (const [size, message] of ANSWERS) {
    await at.setViewportSize(size);
    await visit(at, path);
    if (entry.fill) {
      await fillEmpty(at.locator(entry.fill));
      await at.getByLabel('Password', { exact: true }).fill('a sentence that is long');
    }
    expect(await movedBy(at, message, press(entry.act)), message).toEqual([]);
    await keepPicture(at, `alone-${size.width}-${name.replaceAll(' ', '-')}-${message.length}`);
  }
  await stranger.close();
});

test('an error moves nothing of a page: an invitation', async () => {
  const stranger = await openWindow(service.origin, null);
  const at = stranger.page;
  // A person without an account has a session only through an identity provider; the list comes from here instead.
  const data = [1, 2].map((id) => ({
    account_id: id,
    account_name: `Shop ${id}`,
    roles: ['viewer'],
    joined: id === 2,
  }));
  for (const [size, message] of ANSWERS) {
    await at.setViewportSize(size);
    await at.route('**/console/api/invitations', (route) => route.fulfill({ json: { data, acts: true } }));
    await visit(at, '/invitations');
    for (const button of ['Accept', 'Use single sign-on', 'Decline']) {
      expect(await movedBy(at, message, press(button)), `${button}: ${message}`).toEqual([]);
      await at.route('**/console/api/invitations', (route) => route.fulfill({ json: { data, acts: true } }));
      await visit(at, '/invitations');
    }
    await keepPicture(at, `alone-${size.width}-invitation`);
  }
  await stranger.close();
});
