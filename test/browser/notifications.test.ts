import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  closeWindows,
  inspect,
  keepPicture,
  openWindow,
  violations,
  visit,
  type Window,
} from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { addDestination } from './destinations.ts';
import { actOn, focused, press, tabTo, write } from './keyboard.ts';
import { startS3Like } from './s3-like-receiver.ts';
import { type SlackLike, startSlackLike } from './slack-like-receiver.ts';
import { PERSON, TimedSteps } from './timed-steps.ts';

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

const done = () => page.getByRole('button', { name: 'Done' });

describe('from the empty state to a Slack-like webhook in under a minute', () => {
  test('by mouse', async () => {
    await visit(page, '/fleet');
    const way = new TimedSteps(page, 'slack-by-mouse');
    await way.take('open', PERSON.click, async () => {
      await page.getByRole('link', { name: 'Notifications' }).click();
      await page.getByRole('heading', { name: 'Where should dbvitals send' }).waitFor();
    });
    await way.take('choose', PERSON.click, async () => {
      await page.getByRole('link', { name: /^Slack/ }).click();
      await page.getByRole('dialog', { name: 'Add Slack' }).waitFor();
    });
    await way.take('paste', 2 * PERSON.key, async () => {
      // The field has the focus already.
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(slack.url)})`);
      await page.keyboard.press('Control+V');
      expect(await page.getByLabel('Webhook URL', { exact: true }).inputValue()).toBe(slack.url);
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Slack');
    });
    await way.take('test', PERSON.click, async () => {
      await page.getByRole('button', { name: 'Add and send test' }).click();
      await page.getByText(/200 OK.*, \d+ ms/).waitFor();
      await page.getByText('The test message is now in Slack.').waitFor();
    });
    await way.take('done', PERSON.click, async () => {
      await done().click();
      await page.getByRole('link', { name: 'Slack', exact: true }).waitFor();
      await page.getByText('Delivering').waitFor();
    });
    expect(way.names).toHaveLength(5);
    expect(way.judged).toBeLessThan(60);
    expect(slack.received).toHaveLength(1);
    expect(JSON.stringify(JSON.parse(slack.received[0]?.body ?? ''))).toMatch(/test/i);
    expect(opened.complaints).toEqual([]);
  });

  test('by keyboard', async () => {
    await visit(page, '/fleet');
    const way = new TimedSteps(page, 'slack-by-keyboard');
    let keys = 0;
    await page.exposeFunction('countKey', () => {
      keys += 1;
    });
    await page.evaluate('addEventListener("keydown", () => countKey(), true)');
    await way.take('open', 0, async () => {
      await press(page, 'Notifications');
      await page.getByRole('heading', { name: 'Where should dbvitals send' }).waitFor();
      await expect.poll(() => focused(page)).toBe('Notifications');
    });
    await way.take('choose', 0, async () => {
      await press(page, /^Slack/);
      await expect.poll(() => focused(page)).toBe('Webhook URL');
    });
    await way.take('paste', 0, async () => {
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(slack.url)})`);
      await page.keyboard.press('Control+V');
    });
    await way.take('test', 0, async () => {
      await page.keyboard.press('Enter');
      await page.getByText(/200 OK.*, \d+ ms/).waitFor();
      await expect.poll(() => focused(page)).toBe('Done');
    });
    await way.take('done', 0, async () => {
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByText('Delivering').waitFor();
    });
    expect(way.names).toHaveLength(5);
    expect(keys).toBeGreaterThan(5);
    expect(keys).toBeLessThan(40);
    expect(way.judged + keys * PERSON.key).toBeLessThan(60);
    await expect.poll(() => focused(page)).not.toBe('');
    expect(opened.complaints).toEqual([]);
  });
});

test('the stored URL appears nowhere: not in an address, the document, the storage or an answer', async () => {
  const answers: string[] = [];
  page.on('response', async (response) => {
    if (response.url().includes('/console/api/')) answers.push(await response.text().catch(() => ''));
  });
  await visit(page, '/notifications?add=slack');
  await page.getByLabel('Webhook URL', { exact: true }).fill(slack.url);
  await page.getByRole('button', { name: 'Add and send test' }).click();
  await page.getByText(/200 OK/).waitFor();
  await done().click();
  await page.getByRole('link', { name: 'Slack', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Slack' }).waitFor();
  await page.getByRole('link', { name: /Test/ }).first().click();
  await page.getByText('Request headers').waitFor();
  await page.getByRole('button', { name: 'Change…' }).click();
  await page.getByRole('dialog').getByText('Leave empty to keep the stored one.').waitFor();
  const kept = await page.evaluate<string>(
    'JSON.stringify([location.href, document.documentElement.outerHTML, [...document.querySelectorAll("input")].map((one) => one.value), { ...localStorage }, { ...sessionStorage }, history.state])',
  );
  expect(answers.join('\n')).toContain('http://127.0.0.1');
  for (const text of [kept, ...answers]) expect(text).not.toContain(slack.secret);
});

test('a wrong address is explained at its field, and a mended one works', async () => {
  await visit(page, '/notifications?add=slack');
  await page.keyboard.type('hooks.slack.com');
  await page.keyboard.press('Enter');
  const field = page.getByLabel('Webhook URL', { exact: true });
  await page.locator('.field-error').filter({ hasText: 'This is not a URL' }).waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'slack-not-a-url');
  await field.fill('https://hooks.slack.com/');
  await page.keyboard.press('Enter');
  await page.locator('.field-error').filter({ hasText: 'Enter the whole URL that Slack shows' }).waitFor();
  await field.fill(slack.url.replace(/kept-secret.*/, 'mistyped'));
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Slack added' });
  await dialog.getByText('The test was not accepted').waitFor();
  await dialog.getByText('404 Not Found').waitFor();
  expect(await dialog.getByLabel('Response').textContent()).toBe('no_service');
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'slack-mistyped');
  await press(page, 'Change settings');
  await expect.poll(() => focused(page)).toBe('Webhook URL');
  await field.fill(slack.url);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await actOn(page, 'Slack', 'Send test');
  await page.getByRole('dialog', { name: 'Test of Slack' }).getByText('The test was accepted').waitFor();
});

test('a destination is disabled, enabled with what it missed, changed and removed by keyboard', async () => {
  const { destination } = await add({ kinds: ['ops.ticket_created'] });
  await visit(page, '/notifications');
  await actOn(page, 'Slack', 'Disable…');
  await press(page, 'Disable');
  await page.getByText(/^Disabled on/).waitFor();
  await service.statement(`update destination_queue set queued = 7 where destination_id = ${destination.id}`);
  await page.reload();
  await page.getByText(/^Disabled on/).waitFor();
  await actOn(page, 'Slack', 'Enable…');
  await page.getByRole('radio', { name: /Send missed events \(7\)/, checked: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, 'destination-enable');
  await press(page, 'Enable');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText('Nothing sent yet').waitFor();
  await actOn(page, 'Slack', 'Change…');
  await write(page, 'Name', 'Slack of the night shift');
  await tabTo(page, /^All connections/);
  await page.keyboard.press('ArrowDown');
  await write(page, 'Names or tags', 'prod-*');
  await page.keyboard.press('Tab');
  await press(page, 'Save');
  const link = page.getByRole('link', { name: 'Slack of the night shift' });
  await link.waitFor();
  await link.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Slack of the night shift' }).waitFor();
  await page.getByText('prod-*').waitFor();
  await press(page, 'Remove…');
  await press(page, 'Remove destination');
  await page.getByRole('heading', { name: 'Where should dbvitals send' }).waitFor();
  await expect.poll(() => focused(page)).not.toBe('');
  expect(opened.complaints).toEqual([]);
});

test('a log stream is added with format, filter and backfill', async () => {
  const auditor = await service.createOwner('enterprise');
  const window = await openWindow(service.origin, auditor);
  const { page: form } = window;
  await visit(form, '/notifications?add=log_http');
  await form.getByLabel('URL', { exact: true }).fill(`${slack.url}/siem`);
  await form
    .getByRole('button', { name: /^Format/ })
    .or(form.getByLabel('Format'))
    .first()
    .click();
  await form.getByRole('option', { name: 'OCSF' }).click();
  await form
    .getByRole('button', { name: /Begin with/ })
    .or(form.getByLabel('Begin with'))
    .first()
    .click();
  await form.getByRole('option', { name: 'The first entry of the log' }).click();
  await form.getByLabel('Only these types').fill('Wrong type');
  await form.getByText('The command line', { exact: true }).click();
  await form.getByRole('button', { name: 'Add and send test' }).click();
  await form.getByText(/Name at most 200 action types/).waitFor();
  expect(await violations(form)).toEqual([]);
  await form.getByLabel('Only these types').fill('destination_added, account_created');
  await form.getByRole('button', { name: 'Add and send test' }).click();
  await form.getByRole('button', { name: 'Done' }).waitFor();
  const { items } = await service.ask<{ items: { stream: unknown }[] }>(auditor, 'GET', '/destinations');
  expect(items[0]?.stream).toMatchObject({
    format: 'ocsf',
    action_types: ['destination_added', 'account_created'],
    actors: ['member', 'api_key', 'service', 'unknown'],
  });
  await expect.poll(() => slack.received.some(({ body }) => body.includes('"class_uid"'))).toBe(true);
  await window.close();
});

test('a bucket of S3 is added: a wrong access key and region are explained, and mended ones work', async () => {
  const bucket = await startS3Like();
  const window = await openWindow(service.origin, await service.createOwner('enterprise'));
  const { page: form } = window;
  await visit(form, '/notifications?add=s3');
  await form.getByRole('dialog', { name: 'Add S3' }).waitFor();
  await form.getByLabel('URL of the bucket', { exact: true }).fill(`${bucket.url}/audit`);
  await form.getByRole('button', { name: 'Add and send test' }).click();
  const key = form.getByLabel('Access key', { exact: true });
  expect(await form.locator('input:invalid').count()).toBeGreaterThan(0);
  await key.fill('ACMEKEY');
  await form.getByRole('button', { name: 'Add and send test' }).click();
  await form.locator('.field-error').filter({ hasText: 'ACCESS_KEY_ID:SECRET_ACCESS_KEY' }).waitFor();
  await key.fill('ACMEKEY:mistyped');
  const region = form.getByLabel('Region', { exact: true });
  if (!(await region.isVisible())) await form.getByText('More options').click();
  await region.fill(bucket.region);
  await form.getByLabel('Encryption', { exact: true }).fill('AES256');
  expect(await violations(form)).toEqual([]);
  await keepPicture(form, 's3-form');
  await form.emulateMedia({ colorScheme: 'dark' });
  await keepPicture(form, 's3-form-dark');
  await form.getByRole('button', { name: 'Add and send test' }).click();
  await form.getByText('403 Forbidden (SignatureDoesNotMatch)').first().waitFor();
  expect(await violations(form)).toEqual([]);
  await keepPicture(form, 's3-mistyped-dark');
  await press(form, 'Change settings');
  await key.fill(bucket.accessKey);
  await form.keyboard.press('Enter');
  await form.getByRole('dialog').waitFor({ state: 'detached' });
  await actOn(form, 'S3', 'Send test');
  await form.getByRole('dialog', { name: 'Test of S3' }).getByText('The test was accepted').waitFor();
  expect([...bucket.objects.keys()].filter((path) => path.startsWith('/logs/audit/.test/'))).toHaveLength(1);
  await expect.poll(() => [...bucket.objects.keys()].some((path) => path.includes('/account-'))).toBe(true);
  expect(new Set(bucket.encryptions)).toEqual(new Set(['AES256']));
  const page = await form.content();
  for (const secret of ['mistyped', 'unspoken']) expect(page).not.toContain(secret);
  await window.close();
  await bucket.stop();
});

test.each([
  ['splunk_hec', 'Token'],
  ['elastic', 'API key'],
  ['sentinel', 'App registration'],
])('the secret of %s stands beside its URL, and is required', async (channel, label) => {
  const window = await openWindow(service.origin, await service.createOwner('enterprise'));
  await visit(window.page, `/notifications?add=${channel}`);
  const token = window.page.getByLabel(label, { exact: true });
  await token.waitFor();
  expect(await token.getAttribute('required')).not.toBeNull();
  expect(await token.getAttribute('type')).toBe('password');
  await keepPicture(window.page, `${channel}-form`);
  await window.close();
});

test('the digest of a Mattermost is set in the form, in each look, and kept', async () => {
  await visit(page, '/notifications?add=mattermost');
  const form = page.getByRole('dialog', { name: 'Add Mattermost' });
  await form.getByLabel('Webhook URL', { exact: true }).fill(slack.url);
  await form.getByRole('button', { name: /Digest$/ }).click();
  await page.getByRole('option', { name: 'Each Monday' }).click();
  await form.getByLabel('Digest at', { exact: true }).fill('07:30');
  const zone = form.getByLabel('Time zone of the digest', { exact: true });
  await zone.fill('Mars/Olympus');
  await press(page, 'Add and send test');
  await form.locator('.field-error').waitFor();
  expect(await form.locator('.field-error').count()).toBe(1);
  await expect.poll(() => page.evaluate<string>('document.activeElement.value')).toBe('Mars/Olympus');
  const place = await zone.boundingBox();
  expect(place && place.y + place.height).toBeLessThan(page.viewportSize()?.height ?? 0);
  await keepPicture(page, 'digest-fault');
  await inspect(page, 'digest-form-wrong');
  await zone.fill('Europe/Berlin');
  await inspect(page, 'digest-form');
  await zone.scrollIntoViewIfNeeded();
  await keepPicture(page, 'digest-filled');
  await press(page, 'Add and send test');
  await done().click();
  const { items } = await service.ask<{ items: { channel: string; digest: object | null }[] }>(
    owner,
    'GET',
    '/destinations',
  );
  expect(items).toMatchObject([
    { channel: 'mattermost', digest: { every: 'mon', at: '07:30', time_zone: 'Europe/Berlin' } },
  ]);
  expect(opened.complaints.filter((complaint) => !complaint.includes('400'))).toEqual([]);
});

test('a digest is sent at once, and the dialog says where it is', async () => {
  await add();
  slack.received.length = 0;
  await visit(page, '/notifications');
  await actOn(page, 'Slack', 'Send digest now');
  const dialog = page.getByRole('dialog', { name: 'Digest to Slack' });
  await dialog.getByText('The digest was accepted').waitFor();
  await dialog.getByText('It is now in Slack.').waitFor();
  expect(slack.received).toHaveLength(1);
  expect(opened.complaints).toEqual([]);
});

test('leaving a form with entries asks first', async () => {
  await visit(page, '/notifications?add=slack');
  await page.keyboard.type('https://hooks');
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Discard your changes?' }).waitFor();
  await press(page, 'Discard changes');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('');
});

test('events that the plan does not include are named in the form', async () => {
  const team = await service.createOwner('team');
  const window = await openWindow(service.origin, team);
  await visit(window.page, '/notifications?add=slack');
  const boxes = window.page.getByRole('checkbox');
  await boxes.first().waitFor();
  expect(await window.page.getByText('Needs the Business plan.').count()).toBe(6);
  expect(await window.page.getByRole('checkbox', { name: /^Health check completed/ }).isChecked()).toBe(
    false,
  );
  await window.close();
});

test('a member who may only read sees the destinations without actions', async () => {
  const accountOwner = await service.owner();
  await service.ask(accountOwner, 'POST', '/destinations', {
    name: 'Slack',
    channel: 'slack',
    url: slack.url,
  });
  const viewer = await service.member('Grace Hopper', ['viewer']);
  const window = await openWindow(service.origin, viewer);
  await visit(window.page, '/notifications?add=slack');
  await window.page.getByRole('dialog').getByText('keys:write').waitFor();
  await window.page.keyboard.press('Escape');
  const link = window.page.getByRole('link', { name: 'Slack', exact: true });
  await link.waitFor();
  expect(await window.page.getByRole('button', { name: /^Actions for|Add destination/ }).count()).toBe(0);
  await link.click();
  await window.page.getByText('Nothing sent yet').first().waitFor();
  expect(await window.page.getByRole('button', { name: /…$/ }).count()).toBe(0);
  expect(await violations(window.page)).toEqual([]);
  await window.close();
});
