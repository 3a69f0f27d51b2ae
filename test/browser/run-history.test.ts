import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  closeWindows,
  inspect,
  keepPicture,
  type Look,
  openWindow,
  overflow,
  settled,
  violations,
  visit,
  WIDE,
} from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused, press, tabTo } from './keyboard.ts';
import { clearMeasures, HOSTILE, writeMeasures } from './measured-connection.ts';

/** Too many to draw. */
const MANY = 1_500;
/** The narrowest window with a ticket's panel beside the list. */
const NARROW = { scheme: 'light', width: 1160, height: 900 } as const;

let service: ConsoleAccount;
let owner: Person;
/** Connections: the one with most runs, one with a single run, one without, and one without values. */
const ids = { full: 0, one: 0, none: 0, bare: 0 };
/** A ticket with a value and more changes than it shows. */
let ticket = 0;
/** The runs of `ids.full`, newest first. */
let runs: { id: number; created_at: string; complete: boolean }[] = [];

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 6, tickets: 60, activity: 20 });
  owner = await service.owner();
  const { data } = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/fleet?sort=worst');
  [ids.full = 0, ids.one = 0, ids.none = 0, ids.bare = 0] = data.map(({ id }) => id);
  await clearMeasures(service, ids.bare);
  const of = (id: number) => `account_id = ${service.accountId} and connection_id = ${id}`;
  await service.statement(`
    update connection set latest_check_id = null where ${of(ids.none)};
    delete from ticket where ${of(ids.none)};
    delete from health_check where ${of(ids.none)};
    delete from health_check h using connection c
     where h.account_id = c.account_id and h.connection_id = c.connection_id
       and h.health_check_id <> c.latest_check_id and c.account_id = ${service.accountId} and c.connection_id = ${ids.one};
    insert into connection_change (account_id, connection_id, at, kind, database, subject, before, after, source)
    select t.account_id, t.connection_id, t.first_seen_at - n * interval '10 minutes', 'index', 'app',
           '${HOSTILE.replaceAll("'", "''")}' || n, repeat('create index x ', case n when 1 then 40 else 1 end), null, null
      from generate_series(1, 120) n, ticket t
     where t.account_id = ${service.accountId} and t.connection_id = ${ids.full} and t.measured is not null;`);
  const open = await service.ask<{ data: { id: number }[] }>(
    owner,
    'GET',
    `/read/ops/tickets?status=open&connection_id=${ids.full}`,
  );
  for (const { id } of open.data) {
    const { measured } = await service.ask<{ measured: unknown }>(owner, 'GET', `/tickets/${id}`);
    if (measured) ticket = id;
  }
  const list = await service.ask<{ runs: typeof runs }>(
    owner,
    'GET',
    `/connections/${ids.full}/runs?limit=100`,
  );
  runs = list.runs;
});

afterAll(closeWindows);

const search = (page: Page) => new URL(page.url()).searchParams;
const history = (page: Page) => page.locator('.section:has(.run-history)');
const comparison = (page: Page) => page.locator('.run-difference');
const pair = (from: number, to: number) => `${runs[from]?.id}-${runs[to]?.id}`;
/** The place of the newest run without findings. */
const pruned = () => runs.findIndex(({ complete }) => !complete);

async function open(path: string, look: Look = { scheme: 'light', ...WIDE }) {
  const opened = await openWindow(service.origin, owner, look);
  await visit(opened.page, path);
  return opened;
}

describe('axe finds no violations, and the page fits', () => {
  test.each<[string, () => string, string]>([
    ['ticket', () => `/tickets?ticket=${ticket}`, '.ticket-panel .change-values'],
    ['runs', () => `/connections/${ids.full}?tab=changes`, '.run-list .table-item'],
    ['compared', () => `/connections/${ids.full}?compare=${pair(20, 0)}`, '.run-difference h3'],
    [
      'compared-old',
      () => `/connections/${ids.full}?compare=${pair(pruned() + 2, pruned())}`,
      '.run-difference h3',
    ],
    ['fleet-lines', () => '/fleet?metric=connections_count&range=7d', '.fleet-line'],
    ['fleet-months', () => '/fleet?metric=database_bytes&range=13mo', '.fleet-line'],
  ])('%s', async (what, path, part) => {
    const { page, complaints, close } = await open(path());
    await page.locator(part).first().waitFor();
    await page.locator(part).first().scrollIntoViewIfNeeded();
    await inspect(page, what);
    expect(await page.evaluate('window.taken')).toBeUndefined();
    expect(complaints).toEqual([]);
    await close();
  });

  test('a ticket in the narrowest panel beside the list', async () => {
    const { page, close } = await open(`/tickets?ticket=${ticket}`, NARROW);
    await page.locator('.ticket-panel .change-values').first().waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await close();
  });
});

test('a ticket says its value and threshold in words, and draws its history', async () => {
  const { page, close } = await open(`/tickets?ticket=${ticket}`);
  const panel = page.locator('.ticket-panel');
  expect(await panel.locator('.crossed').textContent()).toMatch(
    /^[A-Z][a-z ]+: .*\d.*, at or (above|below) the threshold of .*\d/,
  );
  await panel.getByRole('heading', { level: 3, name: 'Over time' }).waitFor();
  await panel.locator('.measure-chart').scrollIntoViewIfNeeded();
  await panel.locator('canvas').waitFor();
  // The text alternative of the chart.
  await panel.getByText(/^Minimum .* maximum .* last /).waitFor();
  await close();
});

test('a ticket lists what changed before it as cards, and links to the other changes', async () => {
  const { page, close } = await open(`/tickets?ticket=${ticket}`);
  const table = page.getByRole('table', { name: 'Changes in the 24 hours before' });
  await table.waitFor();
  const box = await table.getByRole('row').nth(1).boundingBox();
  expect(await table.getByRole('row').count()).toBe(101);
  // A card has a line for each value.
  expect(box?.height).toBeGreaterThan(80);
  await tabTo(page, 'Show all changes of the connection');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 2, name: 'Changes', exact: true }).waitFor();
  const [from, to] = ['from', 'to'].map((end) => Date.parse(search(page).get(end) ?? ''));
  expect((to ?? 0) - (from ?? 0)).toBe(86_400_000);
  await close();
});

test('by keyboard: two runs are chosen, compared and closed, and the address keeps them', async () => {
  const { page, complaints, close } = await open(`/connections/${ids.full}?tab=changes`);
  await history(page)
    .getByRole('radio', { name: /^From: / })
    .nth(1)
    .focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  expect(await focused(page)).toMatch(/^From: \d+ \w+ \d{4}, \d\d:\d\d:\d\d$/);
  await history(page).getByRole('radio', { name: /^To: / }).first().focus();
  await page.keyboard.press('ArrowDown');
  expect(await focused(page)).toMatch(/^To: /);
  await page.keyboard.press('Shift+Tab');
  expect(await focused(page)).toBe('Compare the chosen runs');
  await page.keyboard.press('Enter');
  await expect.poll(() => search(page).get('compare')).toBe(pair(3, 1));
  // The title of the comparison has the focus and is in the window.
  await expect.poll(() => focused(page)).toContain('compared with');
  const title = comparison(page).locator('h3');
  await expect.poll(async () => (await title.boundingBox())?.y).toBeGreaterThanOrEqual(0);
  expect((await title.boundingBox())?.y).toBeLessThan(WIDE.height / 2);
  await page.reload();
  await settled(page);
  await title.waitFor();
  expect(search(page).get('compare')).toBe(pair(3, 1));
  // Nobody asked for it this time: the focus stays where the browser put it.
  expect(await focused(page)).toBe('');
  const chosen = history(page).locator('input:checked');
  expect(await chosen.evaluateAll((inputs) => inputs.map((input) => input.ariaLabel?.slice(0, 4)))).toEqual(
    expect.arrayContaining(['To: ', 'From']),
  );
  await comparison(page).getByRole('button', { name: 'Close comparison' }).focus();
  await page.keyboard.press('Enter');
  await title.waitFor({ state: 'detached' });
  expect(await focused(page)).toBe('Compare the chosen runs');
  expect(search(page).has('compare')).toBe(false);
  expect(complaints).toEqual([]);
  await close();
});

test('a comparison lists findings, values with their difference, and changes', async () => {
  const { page, close } = await open(`/connections/${ids.full}?compare=${pair(20, 0)}`);
  const found = comparison(page);
  await found.getByText(/findings? (is|are) unchanged/).waitFor();
  const values = found.getByRole('table', { name: 'Values that changed' });
  expect(await values.getByRole('row').count()).toBeGreaterThan(3);
  expect(await values.getByRole('row').nth(3).getByRole('cell').last().textContent()).toMatch(/^([+-]\d|$)/);
  await close();
});

test('runs of more than 7 days ago are compared by scores and values', async () => {
  const { page, close } = await open(`/connections/${ids.full}?compare=${pair(pruned() + 2, pruned())}`);
  await comparison(page).getByText('Findings are kept for 7 days.', { exact: false }).waitFor();
  await comparison(page)
    .getByText(/^Score: \d/)
    .waitFor();
  expect(await comparison(page).getByRole('heading', { name: 'Findings' }).count()).toBe(0);
  await close();
});

test('older runs are listed by a button', async () => {
  const { page, close } = await open(`/connections/${ids.full}?tab=changes`);
  const rows = history(page).locator('.run-list .table-item');
  await expect.poll(() => rows.count()).toBe(10);
  await history(page).getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => rows.count()).toBe(20);
  await close();
});

test('one run cannot be compared, and a connection without runs says so', async () => {
  const { page, close } = await open(`/connections/${ids.one}?tab=changes`);
  await history(page).getByText('A comparison needs two runs.').waitFor();
  await history(page).scrollIntoViewIfNeeded();
  expect(await history(page).getByRole('button', { name: 'Compare the chosen runs' }).isDisabled()).toBe(
    true,
  );
  await keepPicture(page, 'one-run');
  await visit(page, `/connections/${ids.none}?tab=changes`);
  await page.getByText('No runs yet').waitFor();
  await page.getByText('No runs yet').scrollIntoViewIfNeeded();
  await keepPicture(page, 'no-run');
  expect(await violations(page)).toEqual([]);
  await close();
});

test('runs that do not exist are not compared', async () => {
  const { page, close } = await open(`/connections/${ids.full}?compare=999998-999999`);
  await comparison(page).getByRole('alert').or(comparison(page).locator('.message')).first().waitFor();
  await comparison(page).getByRole('button', { name: 'Close comparison' }).click();
  await comparison(page).waitFor({ state: 'detached' });
  await close();
});

test('by keyboard: the lines of the fleet show a vital sign, and the address keeps it', async () => {
  const { page, complaints, close } = await open('/fleet');
  await press(page, 'Filter');
  await tabTo(page, /Lines show/);
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'Connections', exact: true }).waitFor();
  await page.keyboard.type('Connections');
  await page.keyboard.press('Enter');
  await expect.poll(() => search(page).get('metric')).toBe('connections_count');
  await press(page, /Range of the lines/);
  await page.getByRole('option', { name: '7 days' }).waitFor();
  await page.keyboard.type('7');
  await page.keyboard.press('Enter');
  await expect.poll(() => search(page).get('range')).toBe('7d');
  await page.reload();
  await settled(page);
  const lines = page.locator('.fleet-line');
  await lines.first().waitFor();
  expect(await lines.first().getByRole('img').getAttribute('aria-label')).toMatch(
    /^Connections: \d+, between \d+ and \d+$/,
  );
  // The connection without values.
  const bare = page.locator('.table-item', { has: page.locator(`a[href$="/connections/${ids.bare}"]`) });
  await bare.getByText('not measured').waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('a line of the fleet has a gap where nothing was measured', async () => {
  await writeMeasures(service, owner, ids.one);
  // Without the hours of the last twelve; the line's last three come from runs.
  await service.statement(`
    update measure_hour
       set last = array(select case when day at time zone 'UTC' + n * interval '1 hour' < now() - interval '12 hours' then value end
                          from unnest(last) with ordinality as hours (value, n)
                         order by n)
     where account_id = ${service.accountId} and connection_id = ${ids.one} and day >= (now() - interval '2 days')::date`);
  const { page, close } = await open('/fleet?metric=transactions_per_second');
  const row = page.locator('.table-item', { has: page.locator(`a[href$="/connections/${ids.one}"]`) });
  const line = row.locator('.fleet-line');
  await line.waitFor();
  expect(await line.locator('polyline').count()).toBe(2);
  expect(await line.getByRole('img').getAttribute('aria-label')).toMatch(/^Transactions: \d.*\/s, between /);
  await close();
});

test('of 1,500 connections, only the drawn ones ask for their lines, together', async () => {
  await service.statement(`
    insert into connection (account_id, connection_id, name, engine, connection_type, host, port, database, username, tls, created_at)
    overriding system value
    select account_id, 1000000 + n, 'copy ' || n, engine, connection_type, host, port, database, username, tls, created_at
      from connection, generate_series(1, ${MANY}) n
     where account_id = ${service.accountId} and connection_id = ${ids.bare}
    on conflict do nothing;`);
  const { page, complaints, close } = await openWindow(service.origin, owner);
  const asked: number[][] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith('/fleet/measures'))
      asked.push((searchParams.get('connections') ?? '').split(',').map(Number));
  });
  await visit(page, '/fleet?metric=connections_count');
  await page.locator('.fleet-line, .table-item .quiet').first().waitFor();
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  await page.waitForLoadState('networkidle');
  const first = asked.flat().length;
  console.log(`lines asked for: ${first} in ${asked.length} requests`);
  expect(first).toBeLessThanOrEqual(60);
  expect(asked.length).toBeLessThanOrEqual(3);
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight / 2)');
  await expect.poll(() => asked.flat().length).toBeGreaterThan(first);
  await page
    .locator('.table-item[data-index="750"] .quiet, .table-item[data-index="750"] .fleet-line')
    .first()
    .waitFor();
  console.log(`after a jump: ${asked.flat().length} in ${asked.length} requests`);
  expect(asked.flat().length).toBeLessThanOrEqual(150);
  expect(asked.length).toBeLessThanOrEqual(8);
  expect(new Set(asked.flat()).size).toBe(asked.flat().length);
  expect(complaints).toEqual([]);
  await close();
});
