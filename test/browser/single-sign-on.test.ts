import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningProvider, startSignOn } from '../contract/identity-provider.ts';
import { runJson, type Service, startService, temporaryFolder } from '../contract/running-service.ts';
import { closeWindows, openWindow, overflow, settled, violations, visit } from './chromium.ts';
import { takeFromMenu } from './keyboard.ts';

const folder = temporaryFolder();
const store = { DBVITALS_DATA_DIR: join(folder.path, 'data') };
let origin: string;
let provider: RunningProvider;
let service: Service;

beforeAll(async () => {
  const signOn = await startSignOn();
  ({ origin, provider } = signOn);
  service = await startService({ ...store, ...signOn.settings }, ['--no-monitor']);
});

afterAll(async () => {
  await closeWindows();
  await service?.stop();
  await provider?.close();
  folder.remove();
});

/** Opens a page without a session and signs in at the provider, where the subject consents to everything. */
async function signInBySubject(page: Page, path: string, subject: string): Promise<void> {
  await visit(page, path);
  // No session has ended in this window.
  expect(await page.getByText('You are signed out').count()).toBe(0);
  await page.getByRole('link', { name: 'Sign in with single sign-on' }).click();
  await page.locator('input[name=login]').fill(subject);
  await page.locator('input[name=password]').fill('any');
  await page.getByRole('button').click();
  await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
  await page.getByRole('button').click();
  await page.waitForURL(`${origin}/**`);
  await settled(page);
}

test('an invited person signs in at the provider and returns to the requested page', async () => {
  provider.people.set('ada', { email: 'ada@example.com', email_verified: true });
  const ada = ['--name', 'Ada', '--email', 'ada@example.com', '--role', 'viewer'];
  await runJson(['member', 'add', '--account', '1', ...ada], store);
  const { page, close } = await openWindow(origin, null);
  await signInBySubject(page, '/tickets?status=resolved', 'ada');
  await page.getByRole('heading', { level: 1, name: 'Invitations' }).waitFor();
  await page.getByText('Invites you as viewer.').waitFor();
  expect(await violations(page)).toEqual([]);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('heading', { level: 1, name: 'Tickets' }).waitFor();
  expect(page.url()).toBe(`${origin}/tickets?status=resolved`);
  await takeFromMenu(page, /user menu/, 'Sign out');
  await page.getByRole('link', { name: 'Sign in with single sign-on' }).waitFor();
  await close();
});

test('a person without an invitation learns what to do, and reaches the page once invited', async () => {
  provider.people.set('eve', { email: 'eve@example.com', email_verified: true });
  const { page, close } = await openWindow(origin, null);
  await signInBySubject(page, '/tickets?status=resolved', 'eve');
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  const told = page.getByRole('alert');
  expect(await told.textContent()).toContain(
    'No account has invited you. Ask an administrator to invite the e-mail address that your identity provider has for you',
  );
  const eve = ['--name', 'Eve', '--email', 'eve@example.com', '--role', 'viewer'];
  await runJson(['member', 'add', '--account', '1', ...eve], store);
  // The provider's own session is still open.
  await page.getByRole('link', { name: 'Sign in with single sign-on' }).click();
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('heading', { level: 1, name: 'Tickets' }).waitFor();
  expect(page.url()).toBe(`${origin}/tickets?status=resolved`);
  await close();
});
