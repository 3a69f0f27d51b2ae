import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, openWindow, settled, violations, visit } from './chromium.ts';
import { type ConsoleService, type Person, startConsoleService } from './console-service.ts';

let service: ConsoleService;

beforeAll(async () => {
  service = await startConsoleService({ connections: 3, tickets: 20, activity: 100 });
});

afterAll(async () => {
  await closeWindows();
  await service?.stop();
});

/** Signs in with the form of the sign-in page. */
async function signInBy(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

test('a session that ended elsewhere shows the sign-in page, which returns to the requested page', async () => {
  const owner = await service.owner();
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, '/tickets?status=all');
  await service.ask(owner, 'POST', '/sign-out');
  await page.getByRole('link', { name: 'Activity', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signInBy(page, owner);
  await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor();
  await close();
});

test('the sign-in error does not reveal whether the address or the password was wrong', async () => {
  const owner = await service.owner();
  const { page, close } = await openWindow(service.origin, null);
  const said: string[] = [];
  for (const email of [owner.email, 'nobody@example.com']) {
    await visit(page, '/sign-in');
    await signInBy(page, { ...owner, email, password: 'none of theirs at all' });
    said.push((await page.getByRole('alert').textContent()) ?? '');
  }
  expect(said[0]).toBe(said[1]);
  expect(await violations(page)).toEqual([]);
  await close();
});

test('while the service restarts, the page shows that it is unreachable and continues afterwards', async () => {
  const owner = await service.owner();
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, '/fleet');
  await service.halt();
  await page.getByRole('link', { name: 'Activity', exact: true }).click();
  await page.getByText('The service is not reachable').first().waitFor({ timeout: 30_000 });
  expect(await violations(page)).toEqual([]);
  await service.start();
  await page.getByRole('button', { name: 'Try again' }).first().click();
  await page.getByText(/^No gaps in/).waitFor({ timeout: 30_000 });
  await close();
});

test('a banner appears while the browser is offline and disappears afterwards', async () => {
  const owner = await service.owner();
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, '/fleet');
  await page.context().setOffline(true);
  await page.getByText('You are offline').waitFor();
  await page.context().setOffline(false);
  await page.getByText('You are offline').waitFor({ state: 'detached' });
  await close();
});

test('a service error shows its request id and a button to try again', async () => {
  const owner = await service.owner();
  const { page, close } = await openWindow(service.origin, owner);
  await service.statement('alter table ticket rename to ticket_elsewhere');
  await page.goto('/tickets');
  const alert = page.locator('.ticket-list').getByRole('alert');
  await alert.waitFor({ timeout: 30_000 });
  expect(await alert.textContent()).toMatch(/Request \S{8,}/);
  expect(await violations(page)).toEqual([]);
  await service.statement('alter table ticket_elsewhere rename to ticket');
  await alert.getByRole('button', { name: 'Try again' }).click();
  await settled(page);
  await page.locator('.ticket-list').getByRole('status').waitFor();
  await close();
});

test('a member who is suspended while the page is open is signed out', async () => {
  const member = await service.member('Grace Hopper', ['operator']);
  const { page, close } = await openWindow(service.origin, member);
  await visit(page, '/fleet');
  const members = await service.command<{ id: number; name: string }[]>(
    'member',
    'list',
    '--account',
    String(service.accountId),
  );
  const id = members.find(({ name }) => name === 'Grace Hopper')?.id;
  await service.command('member', 'change', String(id), '--status', 'suspended');
  await page.getByRole('link', { name: 'Tickets', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await close();
});
