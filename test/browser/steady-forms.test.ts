import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  closeWindows,
  keepPicture,
  openWindow,
  PHONE,
  settled,
  visit,
  WIDE,
  type Window,
} from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { drawn, LONG, measure, refuse } from './steady.ts';

let service: ConsoleAccount;
let owner: Person;
let opened: Window;
let page: Page;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 3, tickets: 5, activity: 20 });
  owner = await service.owner();
  await service.ask(owner, 'POST', '/collectors', { name: 'frankfurt' });
  opened = await openWindow(service.origin, owner);
  page = opened.page;
});

afterAll(closeWindows);

interface Case {
  path: string;
  /** The button that opens the form, if it is in a dialog. */
  open?: string | RegExp;
  submit: string | RegExp;
  fill?: (form: Locator) => Promise<void>;
}

const CASES: Record<string, Case> = {
  invitation: { path: '/team', open: 'Invite member', submit: 'Invite' },
  key: { path: '/keys', open: /^Create key/, submit: /^Create key/ },
  window: { path: '/alerts?view=maintenance', open: 'Add window', submit: 'Add window' },
  'window that ended': {
    path: '/alerts?view=maintenance',
    open: 'Add window',
    submit: 'Add window',
    async fill(form) {
      await form.getByLabel('Name', { exact: true }).fill('Upgrade');
      await form.getByLabel('Ends').fill('2020-01-31T12:00');
    },
  },
  rule: { path: '/alerts?view=rules', open: /^Add rule/, submit: /^Add rule/ },
  view: { path: '/tickets', open: /^Views$/, submit: /^Save/ },
  connection: { path: '/connections/new', submit: 'Test connection' },
  'connection with a wrong URL': {
    path: '/connections/new',
    submit: 'Test connection',
    async fill(form) {
      await form.getByLabel('Name', { exact: true }).fill('shop');
      await form.getByLabel('Connection URL', { exact: true }).fill('shop');
    },
  },
  'connection of a collector': {
    path: '/connections/new',
    submit: 'Add connection',
    fill: () => page.getByText('A collector', { exact: true }).click(),
  },
  name: {
    path: '/account',
    submit: 'Rename',
    fill: (form) => form.getByLabel('Account name').fill(' '),
  },
  destination: {
    path: '/notifications?add=slack',
    submit: 'Add and send test',
    fill: (form) => form.getByLabel('Webhook URL', { exact: true }).fill('hooks.slack.com'),
  },
  password: { path: '/sessions', submit: /^(Change|Set) password$/ },
};

async function openForm({ path, open }: Case): Promise<Locator> {
  await visit(page, path);
  if (path.includes('?add=')) return page.getByRole('dialog');
  if (open === undefined) return page.locator('main form').first();
  await page.getByRole('button', { name: open }).first().click();
  if (path === '/tickets') await page.getByRole('menuitem', { name: /^Save/ }).first().click();
  await settled(page); // what a dialog still loads moves what is below
  return page.getByRole('dialog');
}

/** Where the fields and the button are. */
async function places(form: Locator, button: Locator): Promise<number[]> {
  const tops: number[] = [];
  for (const field of await form.locator('.field-label').all())
    tops.push((await field.boundingBox())?.y ?? -1);
  return [...tops, (await button.boundingBox())?.y ?? -1];
}

/** Gives each field an error of several lines, as the browser does for a wrong value. Fields say again and again that they are right. */
const makeInvalid = () =>
  page.evaluate(`
    for (const { prototype } of [HTMLInputElement, HTMLTextAreaElement]) {
      const set = prototype.setCustomValidity;
      prototype.setCustomValidity = function () { set.call(this, ${JSON.stringify(LONG)}); };
    }
    for (const field of document.querySelectorAll('.field :is(input, textarea)')) field.setCustomValidity('');
  `);

test.each(Object.entries(CASES))('the errors of a form move nothing: %s', async (name, entry) => {
  const form = await openForm(entry);
  const button = form.getByRole('button', { name: entry.submit }).last();
  await entry.fill?.(form);
  await button.scrollIntoViewIfNeeded();
  const scrolled = () =>
    page.evaluate<number>(
      `[...document.querySelectorAll('.dialog, .dialog-body, html')].reduce((sum, { scrollTop }) => sum + scrollTop, 0)`,
    );
  const [before, top] = [await places(form, button), await scrolled()];
  await button.click();
  await form.locator('.field-error, .inline-error').first().waitFor();
  await drawn(page);
  await keepPicture(page, `steady-${name.replaceAll(' ', '-')}`);
  const moved = (await scrolled()) - top;
  const after = await places(form, button);
  // A form may scroll to its error; then its fields move together, and the button of a dialog not at all.
  const isDialog = (await page.getByRole('dialog').count()) > 0;
  expect(after.map((y, place) => Math.round(y - (before[place] ?? 0)))).toEqual(
    after.map((_, place) => (place === after.length - 1 && isDialog ? 0 : Math.round(-moved) || 0)),
  );
});

test.each([PHONE, WIDE])('errors of several lines move nothing of the page: $width px', async (size) => {
  await page.setViewportSize(size);
  const others = ['window that ended', 'connection with a wrong URL'];
  for (const [name, entry] of Object.entries(CASES).filter(([each]) => !others.includes(each))) {
    const form = await openForm(entry);
    const button = form.getByRole('button', { name: entry.submit }).last();
    await entry.fill?.(form);
    await button.scrollIntoViewIfNeeded();
    const before = await measure(page, true);
    await makeInvalid();
    await button.click();
    const error = form.locator('.field-error').first();
    await error.waitFor();
    expect(await error.textContent(), name).toBe(LONG);
    await drawn(page);
    await keepPicture(page, `steady-${size.width}-${name.replaceAll(' ', '-')}`);
    const moved = Object.entries(await measure(page, false)).filter(
      ([element, top]) => top !== before[element],
    );
    expect(moved, name).toEqual([]);
  }
  await page.setViewportSize(WIDE);
});

/** The forms on pages, whose answers come below their buttons. */
const ON_PAGES: Record<string, Case> = {
  name: { path: '/account', submit: 'Rename', fill: (form) => form.getByLabel('Account name').fill('Shop') },
  password: {
    path: '/sessions',
    submit: /^(Change|Set) password$/,
    async fill(form) {
      for (const field of await form.locator('.field input').all()) await field.fill('a long passphrase');
    },
  },
  connection: {
    path: '/connections/new',
    submit: 'Test connection',
    async fill(form) {
      await form.getByLabel('Name', { exact: true }).fill('shop');
      await form
        .getByLabel('Connection URL', { exact: true })
        .fill('postgres://app:unspoken@db.example/shop');
    },
  },
  'sign-in': {
    path: '/sign-in',
    submit: 'Sign in',
    async fill(form) {
      await form.getByLabel('E-mail address').fill('nobody@example.com');
      await form.getByLabel('Password', { exact: true }).fill('wrong');
    },
  },
};

test.each([PHONE, WIDE])(
  'what the service answers to a form moves nothing of the page: $width px',
  async (size) => {
    const stranger = await openWindow(service.origin, null);
    for (const [name, { path, submit, fill }] of Object.entries(ON_PAGES)) {
      const at = path === '/sign-in' ? stranger.page : page;
      for (const message of ['This name is taken.', `${LONG} ${LONG}`]) {
        await at.setViewportSize(size);
        await visit(at, path);
        await refuse(at, message);
        const form = at.locator('main form').first();
        const button = form.getByRole('button', { name: submit, exact: true });
        await fill?.(form);
        await button.scrollIntoViewIfNeeded();
        const before = await measure(at, true);
        await button.click();
        await at.locator('.inline-error').waitFor();
        await button.and(at.locator(':not([data-pending])')).waitFor();
        await keepPicture(at, `answer-${size.width}-${name}-${message.length}`);
        await at.unroute('**/console/api/**');
        const moved = Object.entries(await measure(at, false)).filter(
          ([element, top]) => top !== before[element],
        );
        expect(moved, `${name}: ${message}`).toEqual([]);
      }
    }
    await stranger.close();
    await page.setViewportSize(WIDE);
  },
);

test('a wrong password moves nothing on the page to sign in', async () => {
  const stranger = await openWindow(service.origin, null);
  await visit(stranger.page, '/sign-in');
  const form = stranger.page.locator('form').first();
  const button = form.getByRole('button', { name: 'Sign in', exact: true });
  await form.getByLabel('E-mail address').fill('nobody@example.com');
  await form.getByLabel('Password', { exact: true }).fill('wrong');
  const before = await measure(stranger.page, true);
  await button.click();
  await stranger.page.locator('.inline-error').waitFor();
  await keepPicture(stranger.page, 'steady-sign-in');
  expect(await measure(stranger.page, false)).toEqual(before);
  await stranger.close();
});

test('the shade of a dialog covers the window after a resize', async () => {
  await page.setViewportSize({ width: 700, height: 500 });
  const form = await openForm({ path: '/team', open: 'Invite member', submit: 'Invite' });
  for (const size of [
    { width: 1500, height: 1000 },
    { width: 600, height: 420 },
  ]) {
    await page.setViewportSize(size);
    await drawn(page);
    const shade = await page.locator('.shade').boundingBox();
    expect(shade).toMatchObject({ x: 0, y: 0, height: size.height });
    // The space of the page's scroll bar stays.
    expect(shade?.width).toBeGreaterThanOrEqual(size.width - 15);
    const { y = 0, height = 0 } = (await form.getByRole('button', { name: 'Invite' }).boundingBox()) ?? {};
    expect(y + height).toBeLessThanOrEqual(size.height);
  }
  await page.setViewportSize({ width: 1360, height: 900 });
});
