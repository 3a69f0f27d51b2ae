import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONNECTION_TABS } from '../../src/vocabulary/connection-tabs.ts';
import { closeWindows, openWindow, overflow, PHONE, visit, WIDE } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';

const SCRIPT = `<img src=x onerror="window.taken=1"><script>window.taken=1</script>`;
const TURNED = 'safe \u202egnp.exe\u2066 name';
const LONG = 'x'.repeat(180);

let service: ConsoleAccount;
let owner: Person;
let connection = 0;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 3, tickets: 20, activity: 100 });
  owner = await service.owner();
  const ours = ['--account', String(service.accountId)];
  for (const name of [SCRIPT, TURNED, LONG]) {
    await service.command(
      'connection',
      'add',
      ...ours,
      '--name',
      name,
      '--url',
      'postgres://watcher@db.example.com/shop',
    );
    await service.command('key', 'create', ...ours, '--name', name.slice(0, 100));
  }
  await service.command(
    'member',
    'add',
    ...ours,
    '--name',
    SCRIPT,
    '--email',
    'mallory@example.com',
    '--role',
    'viewer',
  );
  await service.command('account', 'change', String(service.accountId), '--name', SCRIPT);
  const fleet = await service.ask<{ data: { id: number; name: string }[] }>(owner, 'GET', '/fleet');
  connection = fleet.data.find(({ name }) => name === SCRIPT)?.id ?? 0;
});

afterAll(closeWindows);

const PAGES = [
  '/fleet',
  '/tickets?status=all',
  '/activity?entry=1',
  '/keys',
  '/collectors',
  '/team',
  '/account',
  '/sessions',
];

test('names with scripts, bidirectional controls or great length are shown as text, and fit', async () => {
  const { page, complaints, close } = await openWindow(service.origin, owner);
  const tabs = CONNECTION_TABS.map((tab) => `/connections/${connection}?tab=${tab}`);
  for (const path of [...PAGES, ...tabs]) {
    await visit(page, path);
    for (const size of [WIDE, PHONE]) {
      await page.setViewportSize(size);
      expect(await overflow(page), path).toBeLessThanOrEqual(0);
    }
    expect(await page.evaluate('window.taken'), path).toBeUndefined();
    expect(await page.locator('img[src="x"]').count(), path).toBe(0);
    expect(complaints, path).toEqual([]);
  }
  await close();
});

test('a script in a name is shown literally', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, '/fleet?q=onerror');
  await page.getByText(SCRIPT, { exact: true }).first().waitFor();
  await close();
});

test('an entry’s bidirectional control characters are shown escaped', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, '/activity?action_type=connection_added');
  await page.locator('.table-item', { hasText: 'gnp.exe' }).locator('.row-link').click();
  await page.getByRole('button', { name: 'Show JSON' }).click();
  const json = (await page.locator('.table-detail code').textContent()) ?? '';
  expect(json).toContain('\\u202e');
  expect(json).not.toContain('\u202e');
  await close();
});

test('hostile URL parameters do no harm', async () => {
  const { page, complaints, close } = await openWindow(service.origin, owner);
  const query = new URLSearchParams({
    status: SCRIPT,
    q: SCRIPT,
    from: SCRIPT,
    action_type: SCRIPT,
    entry: '-1',
    ticket: 'x',
  });
  for (const path of ['/fleet', '/tickets', '/activity', '/keys']) await visit(page, `${path}?${query}`);
  expect(await page.evaluate('window.taken')).toBeUndefined();
  expect(complaints).toEqual([]);
  await close();
});

test.each(['https://example.com/', '//example.com/', '/\\example.com/', 'javascript:window.taken=1'])(
  'signing in with the next page %s stays on the console’s origin',
  async (next) => {
    const { page, complaints, close } = await openWindow(service.origin, null);
    await visit(page, `/sign-in?${new URLSearchParams({ next })}`);
    await page.getByLabel('E-mail address').fill(owner.email);
    await page.getByLabel('Password', { exact: true }).fill(owner.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor();
    expect(new URL(page.url()).origin).toBe(service.origin);
    expect(await page.evaluate('window.taken')).toBeUndefined();
    expect(complaints).toEqual([]);
    await close();
  },
);
