import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, inspect, openWindow, visit } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused, press, tabTo, takeFromMenu, write } from './keyboard.ts';

let service: ConsoleAccount;
let owner: Person;
let ids: number[];

interface Fleet {
  data: { id: number; name: string; tags: string[]; open_tickets: number | null }[];
}

const tag = (connections: number[], add: string[]) =>
  service.ask(owner, 'POST', '/connections/tags', { connections, add });
const fleet = (query = '') => service.ask<Fleet>(owner, 'GET', `/fleet${query}`);

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 14, tickets: 200, activity: 500 });
  owner = await service.owner();
  ids = (await fleet('?sort=name')).data.map(({ id }) => id);
});

afterAll(closeWindows);

const open = () => openWindow(service.origin, owner);

const selected = (page: Page) => new URL(page.url()).searchParams;

test('by keyboard alone: tag what is listed, filter by it, save the view, open it, remove it', async () => {
  const { page, complaints, close } = await open();
  await visit(page, '/fleet?q=primary');
  await press(page, /^Tag \d+ connections$/);
  await page.getByRole('dialog').waitFor();
  expect(selected(page).get('edit')).toBe('tags');
  await expect.poll(() => focused(page)).toBe('Add tags');
  await page.keyboard.type('Env:Production team:payments two_words');
  await page.keyboard.press('Enter');
  await page.getByText('Tags changed').waitFor();
  expect(selected(page).has('edit')).toBe(false);
  const tagged = (await fleet('?tags=env:production')).data;
  expect(tagged.length).toBeGreaterThan(0);
  // Sample data gives the first connection the tag of its own check.
  const added = tagged.map(
    ({ name, tags }) => [name, tags.filter((each) => each !== 'shop').length] as const,
  );
  expect(added.every(([name, count]) => name.includes('primary') && count === 3)).toBe(true);

  await visit(page, '/fleet');
  await press(page, 'Filter');
  await tabTo(page, /^Tag$/);
  await page.keyboard.type('paym');
  await page.getByRole('option', { name: /^team:payments/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/tags=team%3Apayments/);
  await expect.poll(() => page.locator('.table-item').count()).toBe(tagged.length);

  await visit(page, page.url());
  await takeFromMenu(page, 'Views', 'Save this view…');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('Payments');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'View Payments' }).waitFor();
  await visit(page, '/fleet');
  await takeFromMenu(page, 'Views', 'Payments');
  await page.waitForURL(/tags=team%3Apayments/);
  await expect.poll(() => page.locator('.table-item').count()).toBe(tagged.length);
  await visit(page, page.url());
  await takeFromMenu(page, 'View Payments', 'Remove “Payments”…');
  await page.getByRole('alertdialog').waitFor();
  await press(page, 'Remove view');
  await page.getByRole('button', { name: 'Views' }).waitFor();
  await page.getByText('View removed').waitFor();
  await page.keyboard.press('z');
  await page.getByText('View restored').waitFor();
  await page.getByRole('button', { name: 'View Payments' }).waitFor();

  await tabTo(page, 'Tag team:payments: remove from the filter');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => !url.searchParams.has('tags'));
  expect(complaints).toEqual([]);
  await close();
});

test('a change of many tags is undone for each connection, and leaves alone what others changed since', async () => {
  const [one = 0, two = 0, three = 0] = ids;
  await tag([one], ['env:test', 'undo:kept']);
  await tag([two], ['env:staging']);
  const tags = async () =>
    (await fleet()).data.filter(({ id }) => [one, two, three].includes(id)).map((row) => [row.id, row.tags]);
  const before = await tags();
  const { page, complaints, close } = await open();
  await visit(page, '/fleet');
  await press(page, /^Tag \d+ connections$/);
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('env:production pci undo:kept');
  await page.keyboard.press('Enter');
  await page.getByText('Tags changed').waitFor();
  await tag([three], ['team:later']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Tags restored').waitFor();
  expect(await tags()).toEqual(
    before.map(([id, of]) => [id, id === three ? [...(of as string[]), 'team:later'].sort() : of]),
  );
  // Only once.
  await page.keyboard.press('z');
  expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
  await service.ask(owner, 'POST', '/connections/tags', {
    connections: [one, two, three],
    remove: ['env:test', 'env:staging', 'undo:kept', 'team:later'],
  });
  expect(complaints).toEqual([]);
  await close();
});

test('a wrong tag is explained, and the form keeps what was entered', async () => {
  const { page, close } = await open();
  await visit(page, `/connections/${ids[0]}?edit=tags`);
  await write(page, 'Add tags', 'fine <script>');
  await page.keyboard.press('Enter');
  await page.getByText(/^A tag is a label \(pci\) or a key and a value/).waitFor();
  expect(await page.getByRole('textbox', { name: 'Add tags' }).inputValue()).toBe('fine <script>');
  await page.getByRole('textbox', { name: 'Add tags' }).fill('fine');
  await page.keyboard.press('Enter');
  await page.getByText('Tags changed').waitFor();
  await page.locator('.connection-tags .tag', { hasText: 'fine' }).waitFor();
  await close();
});

test('the fleet shows which connections have an open ticket of a check', async () => {
  const { data: checks } = await service.ask<{
    data: { check_id: string; title: string; connections: number }[];
  }>(owner, 'GET', '/fleet/checks');
  const [first] = checks;
  if (!first) throw new Error('no check has an open ticket');
  const { page, close } = await open();
  await visit(page, '/fleet');
  await press(page, 'Filter');
  await tabTo(page, /Check with an open ticket/);
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: first.title }).first().waitFor();
  await page.keyboard.type(first.title.slice(0, 12));
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`check=${first.check_id}`));
  await expect.poll(() => page.locator('.table-item').count()).toBe(first.connections);
  expect(
    await page.getByText(/^(?:critical|warning|info) · (?:one open ticket|\d+ open tickets)$/).count(),
  ).toBe(first.connections);
  await close();
});

test('every state of tags and views is accessible and fits', async () => {
  await tag(ids.slice(0, 6), ['env:production', 'team:payments', 'pci', 'region:eu-central-1']);
  await tag(ids.slice(6, 10), ['env:staging', `long:${'x'.repeat(90)}`]);
  const { page, complaints, close } = await open();
  const check = (state: string) => inspect(page, `tags-${state}`);
  await visit(page, '/fleet');
  await check('fleet');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menu').waitFor();
  await check('views');
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  await page.getByRole('dialog').waitFor();
  await check('save');
  await visit(page, '/fleet?tags=env:production,pci&edit=tags');
  await page.getByRole('dialog').waitFor();
  await check('bulk');
  await visit(page, '/fleet?tags=env:staging,team:payments&engine=mysql&check=PG_UNUSED_INDEX');
  await page.getByText('No connection matches').waitFor();
  await check('none');
  await visit(page, `/connections/${ids[0]}`);
  await check('connection');
  await visit(page, `/connections/${ids[0]}?edit=tags`);
  await page.getByRole('dialog').waitFor();
  await check('one');
  expect(complaints).toEqual([]);
  await close();
});
