import pg from 'pg';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { writeAlerts } from '../support/console-alerts.ts';
import {
  closeWindows,
  inspect,
  keepPicture,
  openWindow,
  settled,
  violations,
  visit,
  WIDE,
  type Window,
} from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused, press, tabTo, takeFromMenu, write } from './keyboard.ts';

let service: ConsoleAccount;
let owner: Person;
let viewer: Person;
let opened: Window;
let page: Page;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 9, tickets: 150, activity: 50 });
  owner = await service.owner();
  await service.member('Grace Hopper', ['operator']);
  viewer = await service.member('Vera Viewer', ['viewer']);
});

afterAll(closeWindows);

beforeEach(async () => {
  await service.statement(`delete from ticket_triage where account_id = ${service.accountId}`);
  await opened?.close();
  opened = await openWindow(service.origin, await service.signIn(owner));
  page = opened.page;
});

async function visitList(at: Page, path: string): Promise<void> {
  await visit(at, path);
  await at.locator('.table-item').first().waitFor();
}

const parameters = () => Object.fromEntries(new URL(page.url()).searchParams);
const notice = (text: RegExp) => page.locator('.notice', { hasText: text }).last();
const rowAt = (index: number) => page.locator(`.table-item[data-index="${index}"]`);
const focusedIndex = () =>
  page.evaluate<string | undefined>('document.activeElement.closest(".table-item")?.dataset.index');

test('by keyboard alone: search, group, select, assign, acknowledge, snooze and undo', async () => {
  await visit(page, '/tickets');
  // Search.
  await page.keyboard.press('/');
  expect(await focused(page)).toBe('Search tickets');
  await page.keyboard.type('index');
  await page.waitForURL(/q=index/);
  await settled(page);
  // Group: the choice is in the URL.
  await press(page, 'Filter');
  await tabTo(page, /Groups|No groups/);
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'Group by connection' }).waitFor();
  await page.keyboard.type('Group by con');
  await page.keyboard.press('Enter');
  await page.waitForURL(/group=connection/);
  await page.locator('.table-heading').first().waitFor();
  expect(parameters()).toEqual({ q: 'index', group: 'connection' });

  // Select two rows and assign them.
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByRole('toolbar', { name: 'Selected tickets' }).getByText('2 selected').waitFor();
  await page.keyboard.press('a');
  await page.getByRole('dialog', { name: 'Assign 2 tickets' }).waitFor();
  await page.getByRole('option').first().waitFor();
  await page.keyboard.type('Grace');
  await page.keyboard.press('Enter');
  await notice(/2 tickets assigned to Grace Hopper/).waitFor();
  await rowAt(0).locator('.two-lines', { hasText: 'Grace Hopper' }).waitFor();
  await rowAt(1).locator('.two-lines', { hasText: 'Grace Hopper' }).waitFor();
  expect(await page.getByRole('toolbar', { name: 'Selected tickets' }).count()).toBe(0);
  // The focus is where it was.
  await expect.poll(focusedIndex).toBe('1');

  // Acknowledge the focused row; again makes it new.
  await page.keyboard.press('e');
  await rowAt(1).getByText('Acknowledged').last().waitFor();
  // A key while the change is still under way does nothing.
  await notice(/ticket acknowledged/).waitFor();
  await page.keyboard.press('e');
  await rowAt(1).getByText('New').last().waitFor();

  // Snooze: the ticket leaves the list, the focus stays at its place.
  const gone = await page.locator('.row-link:focus').getAttribute('id');
  await page.keyboard.press('s');
  await page.getByRole('dialog', { name: 'Snooze ticket' }).waitFor();
  await page.keyboard.type('For 4');
  await page.keyboard.press('Enter');
  await notice(/One ticket snoozed until/).waitFor();
  await page.locator(`#${gone}`).waitFor({ state: 'detached' });
  await expect.poll(focusedIndex).toBe('1');

  // Undo brings it back.
  await page.keyboard.press('z');
  await page.locator(`#${gone}`).waitFor();
  await notice(/One ticket restored/).waitFor();

  // The list of keys.
  await page.keyboard.press('?');
  await page
    .getByRole('dialog', { name: 'Keyboard shortcuts' })
    .getByText('Acknowledge, or make new again')
    .waitFor();
  await page.keyboard.press('Escape');
  expect(opened.complaints).toEqual([]);
});

test('the whole list is selected and acknowledged at once; the undo button takes it back', async () => {
  await visit(page, '/tickets');
  const status = page.getByRole('status').filter({ hasText: /^\d+ tickets$/ });
  const total = (await status.textContent())?.split(' ')[0] ?? '';
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByRole('button', { name: `Select all ${total}` }).click();
  await page.getByText(`${total} selected`).waitFor();
  await page.getByRole('button', { name: 'Acknowledge', exact: true }).click();
  await notice(new RegExp(`^${total} tickets acknowledged`)).waitFor();
  await visit(page, '/tickets?status=acknowledged');
  expect(await status.textContent()).toBe(`${total} tickets`);
  await visit(page, '/tickets');
  await page
    .getByText('No ticket matches')
    .or(page.getByRole('table', { name: 'Tickets' }))
    .waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('a');
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Undo' }).click();
  await notice(/One ticket restored/).waitFor();
});

test('a whole list that could not be read is not selected, and the reason is said', async () => {
  await visitList(page, '/tickets');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.route(/\/tickets\/ids/, (route) => route.abort());
  await page.getByRole('button', { name: /^Select all/ }).click();
  await notice(/^Not selected\. ./).waitFor();
  await page.getByText('1 selected').waitFor();
  await page.unroute(/\/tickets\/ids/);
  opened.complaints.length = 0;
});

test('what another member changed first is skipped, and said', async () => {
  await visitList(page, '/tickets');
  await page.keyboard.press('j');
  const id = Number((await page.locator('.row-link:focus').getAttribute('id'))?.replace('ticket-', ''));
  const [{ id: me } = { id: 0 }] = (
    await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/tickets/people')
  ).data;
  await service.ask(owner, 'POST', '/tickets/triage', { tickets: [{ id, version: 0 }], assignee_id: me });
  await page.keyboard.press('e');
  await notice(/One ticket skipped: Ada Lovelace changed it first/).waitFor();
});

test('an open ticket is changed from its panel, and links to what belongs to it', async () => {
  await visitList(page, '/tickets');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const panel = page.locator('.ticket-panel');
  await panel.locator('.ticket-triage').getByText('Unassigned').waitFor();
  await panel.getByRole('button', { name: 'Acknowledge', exact: true }).click();
  await panel.locator('.ticket-triage').getByText('acknowledged by Ada Lovelace').waitFor();
  await panel.locator('.ticket-history').getByText('Acknowledged by Ada Lovelace').last().waitFor();
  await keepPicture(page, 'ticket-history');
  await panel.getByRole('button', { name: 'Make new again' }).click();
  await panel.getByRole('button', { name: 'Acknowledge', exact: true }).waitFor();
  await panel.getByRole('link', { name: /Finding on/ }).click();
  await page.waitForURL(/connections\/\d+\?finding=/);
});

test('a ticket links to its runs, its measurements, its alerts and tickets of the same finding', async () => {
  const store = new pg.Pool({ connectionString: service.storeUrl() });
  const { rows } = await store.query<{ id: number; connection_id: number }>(
    `select ticket_id::int as id, connection_id::int from ticket
      where account_id = $1 and status = 'open' and first_seen_at < now() - interval '2 hours'
      order by first_seen_at desc limit 1`,
    [service.accountId],
  );
  const [{ id, connection_id: connectionId } = { id: 0, connection_id: 0 }] = rows;
  await writeAlerts(store, { accountId: service.accountId, connectionId });
  const { rows: others } = await store.query<{ id: number }>(
    `insert into ticket (account_id, connection_id, check_id, database, object, category, title, severity, status, metric_line,
                         remediation, first_seen_at, last_seen_at, resolved_at, resolution)
     select account_id, connection_id, check_id, database, object, category, title, severity, 'resolved', metric_line,
            remediation, now(), now(), now(), 'no longer found'
       from ticket where account_id = $1 and ticket_id = $2
     returning ticket_id::int as id`,
    [service.accountId, id],
  );
  await store.end();
  const panel = page.locator('.ticket-panel');
  const follow = async (link: RegExp) => {
    await visit(page, `/tickets?ticket=${id}`);
    await panel.getByRole('link', { name: link }).first().click();
  };

  await follow(/^Run that found it, compared with the run before/);
  const heading = page.locator('.run-difference h3');
  await heading.waitFor();
  const ticket = await service.ask<{ runs: object }>(owner, 'GET', `/tickets/${id}`);
  expect(parameters()).toEqual({ compare: Object.values(ticket.runs).join('-') });
  await expect.poll(() => focused(page)).toContain('compared with');
  await expect
    .poll(() => heading.evaluate((one) => one.getBoundingClientRect().top))
    .toBeLessThan(WIDE.height);

  await follow(/^Charts from that time/);
  await page.waitForURL(/connections\/\d+\?from=/);
  await page.locator('.measure-chart').first().waitFor();

  await follow(/^Score of/);
  await page.waitForURL(/alerts\?alert=\d+$/);
  await page.locator('.side-panel').getByText('the score is').first().waitFor();

  await follow(new RegExp(`^Ticket ${others[0]?.id}$`));
  await panel.getByText('no longer found').waitFor();
  expect(parameters()).toEqual({ ticket: String(others[0]?.id) });
});

test('the finding of a ticket is silenced, by its key and from its panel, with what the connection’s page asks', async () => {
  await visitList(page, '/tickets');
  await page.keyboard.press('j');
  const id = (await page.locator('.row-link:focus').getAttribute('id')) ?? '';
  await page.keyboard.press('S');
  const dialog = page.getByRole('dialog', { name: 'Silence finding' });
  await dialog.waitFor();
  await write(page, 'Note', 'Known since the migration.');
  await page.keyboard.press('Enter');
  await notice(/^Finding silenced/).waitFor();
  await page.locator(`#${id}`).waitFor({ state: 'detached' });
  await expect.poll(focusedIndex).toBe('0');
  // Undone, the ticket is back in the list.
  await page.keyboard.press('z');
  await notice(/^Silence undone/).waitFor();
  await page.locator(`#${id}`).waitFor();
  await page.locator(`#${id}`).focus();
  await page.keyboard.press('S');
  await dialog.waitFor();
  await write(page, 'Note', 'Known since the migration.');
  await page.keyboard.press('Enter');
  await page.locator(`#${id}`).waitFor({ state: 'detached' });
  await visit(page, `/tickets?status=silenced&ticket=${id.replace('ticket-', '')}`);
  const panel = page.locator('.ticket-panel');
  await panel.locator('.ticket-silence').getByText('Known since the migration.').waitFor();
  expect(await panel.getByRole('button', { name: 'Silence', exact: true }).count()).toBe(0);
  await panel.getByRole('button', { name: 'End silence' }).click();
  await notice(/^Silence ended/).waitFor();
  await panel
    .locator('.ticket-silence')
    .getByText('Known since the migration.')
    .waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await notice(/^Silence restored/).waitFor();
  await panel.locator('.ticket-silence').getByText('Known since the migration.').waitFor();

  await visitList(page, '/tickets');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await panel.getByRole('button', { name: 'Silence', exact: true }).click();
  await dialog.waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('a list is saved as a view, and opened again', async () => {
  await visitList(page, '/tickets?status=new&group=check&sort=severity');
  await takeFromMenu(page, 'Views', 'Save this view…');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('By check');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'View By check' }).waitFor();
  await visitList(page, '/tickets');
  await takeFromMenu(page, 'Views', 'By check');
  await page.waitForURL(/group=check/);
  expect(parameters()).toEqual({ status: 'new', group: 'check', sort: 'severity' });
});

test('changed filters are saved to the view that was opened, and undone', async () => {
  await visitList(page, '/tickets?severity=critical');
  await takeFromMenu(page, 'Views', 'Save this view…');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('Gravest');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'View Gravest' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('index');
  await page.waitForURL(/q=index/);
  await takeFromMenu(page, 'Views', 'Save to “Gravest”');
  await notice(/^Saved to “Gravest”/).waitFor();
  await page.getByRole('button', { name: 'View Gravest' }).waitFor();
  const queryOf = async () => {
    const { data } = await service.ask<{ data: { name: string; query: string }[] }>(
      owner,
      'GET',
      '/views?page=tickets',
    );
    return data.find(({ name }) => name === 'Gravest')?.query;
  };
  expect(await queryOf()).toBe('q=index&severity=critical');
  await page.getByRole('button', { name: 'Undo' }).click();
  await notice(/^“Gravest” is as before/).waitFor();
  expect(await queryOf()).toBe('severity=critical');
});

test('a page that was asked for too fast reads again when it may', async () => {
  let refused = 0;
  await page.route('**/console/api/tickets?*', async (route) => {
    refused += 1;
    if (refused > 2) return route.continue();
    const error = { code: 'too_many_attempts', message: 'Too many requests. Wait a second, then try again.' };
    return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: { error } });
  });
  await visitList(page, '/tickets');
  expect(refused).toBeGreaterThan(2);
});

test('grouped by check, a ticket shows its place and keeps its title as its name', async () => {
  await visitList(page, '/tickets?group=check');
  const title = ((await page.locator('.table-heading bdi').first().textContent()) ?? '').trim();
  const link = rowAt(0).getByRole('link', { name: title });
  expect((await link.getByText(title).boundingBox())?.width).toBe(1);
  expect(await link.locator('.row-place').isVisible()).toBe(true);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.locator('.ticket-panel').getByRole('heading', { name: title }).waitFor();
});

test('who may only look has neither boxes nor buttons nor keys', async () => {
  const { page: seen, complaints, close } = await openWindow(service.origin, viewer);
  await visitList(seen, '/tickets');
  await seen.keyboard.press('j');
  for (const key of ['x', 'a', 'e', 's', 'S', 'z']) await seen.keyboard.press(key);
  expect(await seen.locator('.select-box, .bulk-bar, [role=dialog]').count()).toBe(0);
  await seen.keyboard.press('Enter');
  await seen.locator('.ticket-triage').getByText('Unassigned').waitFor();
  expect(await seen.locator('.ticket-panel').getByRole('button', { name: 'Assign' }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

test.each<[string, string, (page: Page) => Promise<void>, string?]>([
  ['grouped', '/tickets?group=check&sort=severity', async () => {}],
  [
    'selected',
    '/tickets?group=severity',
    async (at) => {
      for (const key of ['j', 'x', 'j', 'x', 'j']) await at.keyboard.press(key);
    },
  ],
  [
    'assigning',
    '/tickets',
    async (at) => {
      for (const key of ['j', 'a']) await at.keyboard.press(key);
      await at.getByRole('option').first().waitFor();
    },
    '[role=dialog] [role=option]',
  ],
  [
    'snoozing',
    '/tickets',
    async (at) => {
      for (const key of ['j', 's']) await at.keyboard.press(key);
      await at.getByRole('option', { name: 'Custom time' }).click();
      await at.getByLabel('Until').waitFor();
    },
    '[role=dialog]',
  ],
  [
    'with a notice',
    '/tickets',
    async (at) => {
      for (const key of ['j', 'e']) await at.keyboard.press(key);
      await at.getByRole('button', { name: 'Undo' }).waitFor();
    },
  ],
  ['grouped by tags', '/tickets?group=tags', async () => {}],
  ['silenced', '/tickets?status=silenced', async () => {}],
  ['nothing found', '/tickets?q=no-such-thing', async () => {}],
  ['snoozed', '/tickets?status=snoozed', async () => {}],
])('%s: axe finds no violations, and the page fits the window', async (name, path, prepare, part) => {
  const window = await openWindow(service.origin, owner);
  await visit(window.page, path);
  await window.page.locator('.table-item, .message').first().waitFor();
  await prepare(window.page);
  await inspect(window.page, `triage-${name.replaceAll(' ', '-')}`);
  if (part !== undefined) expect(await window.page.locator(part).count()).toBeGreaterThan(0);
  expect(window.complaints).toEqual([]);
  await window.close();
});
