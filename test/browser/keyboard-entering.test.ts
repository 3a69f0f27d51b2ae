import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, openWindow, visit } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount } from './console-service.ts';
import { focused, press, tabTo, takeFromMenu, write } from './keyboard.ts';

const EMAIL = 'ada@example.com';
const PASSWORD = 'an engine that weaves algebra';

let service: ConsoleAccount;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 3, tickets: 5, activity: 100 });
});

afterAll(closeWindows);

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

async function signIn(page: Page): Promise<void> {
  await write(page, 'E-mail address', EMAIL);
  await write(page, 'Password', PASSWORD);
  await page.keyboard.press('Enter');
  await title(page, 'Fleet');
}

test('a person joins with the first start’s link, signs out, and signs in with a password', async () => {
  const { page, complaints, close } = await openWindow(service.origin, null);
  const link = await service.ownerLink();
  await visit(page, link);
  await write(page, 'Your name', 'Ada Lovelace');
  await write(page, 'E-mail address', EMAIL);
  await write(page, 'Password', PASSWORD);
  await page.keyboard.press('Enter');
  await title(page, 'Fleet');
  await takeFromMenu(page, /user menu/, 'Sign out');
  await title(page, 'Sign in');
  await signIn(page);
  // A link works once.
  await visit(page, link);
  await title(page, 'This link can’t be used');
  expect(complaints.filter((text) => !text.includes('status of 404'))).toEqual([]);
  await close();
});

test('the first Tab stop skips the navigation', async () => {
  const { page, close } = await openWindow(service.origin, await service.owner());
  await visit(page, '/fleet');
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to content');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true);
  await close();
});

test('the chosen colour scheme survives a reload', async () => {
  const { page, close } = await openWindow(service.origin, await service.owner());
  await visit(page, '/fleet');
  const background = () =>
    page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
  const light = await background();
  await takeFromMenu(page, /user menu/, 'Dark');
  await expect.poll(background).not.toBe(light);
  await page.reload();
  await title(page, 'Fleet');
  expect(await background()).not.toBe(light);
  await close();
});

test('one session can end another', async () => {
  const first = await openWindow(service.origin, null);
  await visit(first.page, '/sign-in');
  await signIn(first.page);
  const second = await openWindow(service.origin, null);
  await visit(second.page, '/sign-in');
  await signIn(second.page);
  await takeFromMenu(second.page, /user menu/, 'Sign-in and sessions');
  await title(second.page, 'Sign-in and sessions');
  await press(second.page, /^Sign out (?!here|everywhere)/);
  const dialog = second.page.getByRole('alertdialog');
  await dialog.waitFor();
  await press(second.page, 'Sign out');
  await dialog.waitFor({ state: 'detached' });
  await first.page.reload();
  await title(first.page, 'Sign in');
  await first.close();
  await second.close();
});

test('an added passkey signs in without a password', async () => {
  // Browsers accept passkeys only for a host name, not for an IP address.
  const origin = service.origin.replace('127.0.0.1', 'localhost');
  const { page, close } = await openWindow(origin, null);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await visit(page, '/sign-in');
  await signIn(page);
  await page.goto('/sessions');
  await title(page, 'Sign-in and sessions');
  await write(page, 'Passkey name', 'my laptop');
  await page.keyboard.press('Enter');
  await page.getByRole('cell', { name: 'my laptop', exact: true }).waitFor();
  await takeFromMenu(page, /user menu/, 'Sign out');
  await title(page, 'Sign in');
  await tabTo(page, 'Sign in with a passkey');
  await page.keyboard.press('Enter');
  await title(page, 'Fleet');
  await close();
});
