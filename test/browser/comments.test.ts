import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { closeWindows, inspect, openWindow, visit, type Window } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused, press, tabTo } from './keyboard.ts';

let service: ConsoleAccount;
let owner: Person;
let grace: Person;
let viewer: Person;
let opened: Window;
let page: Page;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 3, tickets: 60, activity: 50 });
  owner = await service.owner();
  grace = await service.member('Grace Hopper', ['operator']);
  viewer = await service.member('Vera Viewer', ['viewer']);
  opened = await openWindow(service.origin, owner);
  page = opened.page;
});

afterAll(closeWindows);

beforeEach(() => service.statement(`delete from ticket_comment where account_id = ${service.accountId}`));

const HOSTILE =
  '<img src=x onerror="document.title=1"> [x](javascript:alert(1)) \u202egnp.exe @Grace Hopper\n\n   indented';

/** Opens the first ticket of the list by keyboard, in its field for comments. */
async function commentOnFirst(at: Page): Promise<void> {
  await visit(at, '/tickets');
  await at.locator('.table-item').first().waitFor();
  await at.keyboard.press('j');
  await at.keyboard.press('c');
  await at.locator('.comment-form textarea:focus').waitFor();
}

test('by keyboard alone: comment, complete a name, find the mention, remove the comment', async () => {
  await commentOnFirst(page);
  await page.keyboard.type('Please look, @gr');
  await page.getByRole('option', { name: 'Grace Hopper' }).waitFor();
  const active = await page.locator('.comment-form textarea').getAttribute('aria-activedescendant');
  expect(await page.locator(`[id="${active}"]`).textContent()).toBe('Grace Hopper');
  await page.keyboard.press('Enter');
  await page.getByRole('listbox', { name: 'Members' }).waitFor({ state: 'detached' });
  await page.keyboard.type('before noon');
  await page.keyboard.press('Control+Enter');
  const comment = page.locator('.ticket-comments li');
  await comment.waitFor();
  expect(await comment.locator('.comment-body').textContent()).toBe('Please look, @Grace Hopper before noon');
  expect(await comment.locator('.mention').textContent()).toBe('@Grace Hopper');
  expect(await focused(page)).toBe('Comment');

  // Escape leaves the field, then closes the ticket.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.locator('.row-link:focus').waitFor();
  await page.locator('.table-item', { hasText: '1 comment' }).waitFor();

  // Whom it mentions finds it.
  const theirs = await openWindow(service.origin, grace);
  await visit(theirs.page, '/tickets');
  await press(theirs.page, 'Filter');
  await tabTo(theirs.page, /^Mentions me ?1$/);
  await theirs.page.keyboard.press('Space');
  await theirs.page.waitForURL(/mentioned=me/);
  await theirs.page.getByRole('status').filter({ hasText: 'One ticket' }).waitFor();
  // Not their comment, so they can't remove it.
  await theirs.page.keyboard.press('j');
  await theirs.page.keyboard.press('Enter');
  await theirs.page.locator('.comment-body').waitFor();
  expect(await theirs.page.getByRole('button', { name: /^Remove .*comment$/ }).count()).toBe(0);
  expect(theirs.complaints).toEqual([]);
  await theirs.close();

  await page.keyboard.press('Enter');
  await press(page, 'Remove Ada Lovelace’s comment');
  await page.getByRole('alertdialog').waitFor();
  await press(page, 'Remove comment');
  await page.getByText('No comments yet.').waitFor();
  expect(opened.complaints).toEqual([]);
});

test('arrows choose a name, Escape closes the list and keeps the text, a click takes a name', async () => {
  await commentOnFirst(page);
  await page.keyboard.type('@');
  await page.getByRole('option').nth(2).waitFor();
  const names = await page.getByRole('option').allTextContents();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Tab');
  const box = page.locator('.comment-form textarea');
  expect(await box.inputValue()).toBe(`@${names[2]} `);
  await page.keyboard.type('and @ve');
  await page.getByRole('option', { name: 'Vera Viewer' }).waitFor();
  await page.keyboard.press('Escape');
  expect(await page.getByRole('option').count()).toBe(0);
  expect(await box.inputValue()).toBe(`@${names[2]} and @ve`);
  await page.keyboard.type('r');
  await page.getByRole('option', { name: 'Vera Viewer' }).click();
  expect(await box.inputValue()).toBe(`@${names[2]} and @Vera Viewer `);
  expect(await focused(page)).toBe('Comment');
});

test('a comment is text, whatever it says', async () => {
  await commentOnFirst(page);
  await page.locator('.comment-form textarea').fill(HOSTILE);
  await page.keyboard.press('Control+Enter');
  const body = page.locator('.comment-body');
  await body.waitFor();
  expect(await body.textContent()).toBe(HOSTILE.replace('\u202e', '\\u202e'));
  expect(await body.locator('img, a').count()).toBe(0);
  expect(await page.title()).not.toBe('1');
  expect(opened.complaints).toEqual([]);
});

test('who may only look reads comments and writes none', async () => {
  await commentOnFirst(page);
  await page.keyboard.type('For all');
  await page.keyboard.press('Control+Enter');
  await page.locator('.comment-body').waitFor();
  const { page: seen, complaints, close } = await openWindow(service.origin, viewer);
  await visit(seen, new URL(page.url()).pathname + new URL(page.url()).search);
  await seen.getByText('For all').waitFor();
  await seen.keyboard.press('c');
  expect(await seen.locator('textarea').count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

test('axe finds no violations with comments and offered names', async () => {
  await commentOnFirst(page);
  await page.locator('.comment-form textarea').fill(`${HOSTILE} ${'long'.repeat(60)}`);
  await page.keyboard.press('Control+Enter');
  await page.locator('.comment-body').waitFor();
  await page.keyboard.type('@');
  await page.getByRole('option').first().waitFor();
  await inspect(page, 'comments');
  expect(await page.getByRole('option').count()).toBeGreaterThan(1);
  expect(opened.complaints).toEqual([]);
});
