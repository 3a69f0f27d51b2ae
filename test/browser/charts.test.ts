import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeWindows, inspect, openWindow, settled, violations, visit } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { clearMeasures, HOSTILE, writeMeasures, writeVital } from './measured-connection.ts';

let service: ConsoleAccount;
let owner: Person;
/** The ids of connections: with everything, one vital over 13 months, one run, an old run, and nothing. */
const ids = { full: 0, days: 0, one: 0, old: 0, none: 0 };

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 5, tickets: 30, activity: 100 });
  owner = await service.owner();
  const { data } = await service.ask<{ data: { id: number; status: string }[] }>(owner, 'GET', '/fleet');
  const [full, ...others] = data.toSorted(
    (a, b) => Number(b.status === 'critical') - Number(a.status === 'critical'),
  );
  [ids.days = 0, ids.one = 0, ids.old = 0, ids.none = 0] = others.map(({ id }) => id);
  ids.full = full?.id ?? 0;
  await writeMeasures(service, owner, ids.full);
  await writeVital(service, ids.days, { age: '1 minute', days: true });
  await writeVital(service, ids.one, { age: '10 minutes' });
  await writeVital(service, ids.old, { age: '3 days' });
  await clearMeasures(service, ids.none);
});

afterAll(closeWindows);

const chartOf = (page: Page, title: string) =>
  page.locator('.measures .chart', { has: page.locator(`h4:text-is("${title}")`) });

/** Brings each chart into the window, so that it is read; those of folded groups too. */
async function readAll(page: Page): Promise<void> {
  await page.locator('.measure-chart').first().waitFor();
  const folded = page.locator('.measure-group:not([open]) > summary');
  while ((await folded.count()) > 0) await folded.first().click();
  const count = await page.locator('.measure-chart').count();
  for (let place = 0; place < count; place++) {
    await page.locator('.measure-chart').nth(place).scrollIntoViewIfNeeded();
    await page.locator('.measure-chart').nth(place).locator('.chart').waitFor();
  }
  await settled(page);
}

test.each(['?tab=charts', '?range=7d', '?range=30d', '?range=13mo'])(
  '%s: all charts are drawn',
  async (query) => {
    const { page, complaints, close } = await openWindow(service.origin, owner);
    await visit(page, `/connections/${ids.full}${query}`);
    await readAll(page);
    expect(await page.locator('.measure-chart canvas').count()).toBe(
      await page.locator('.measure-chart').count(),
    );
    if (query === '?tab=charts') {
      await page.getByRole('button', { name: 'Show as table' }).click();
      await page.locator('.measures .chart-marker').first().click();
      await inspect(page, 'charts');
    }
    expect(complaints).toEqual([]);
    expect(await page.evaluate('window.taken')).toBeUndefined();
    await close();
  },
);

test('a chart is read when it comes into view, and no request asks for more than 12 series', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  const asked: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith('/history')) asked.push(url.searchParams.get('series') ?? '');
  });
  await visit(page, `/connections/${ids.full}?tab=charts`);
  await page.getByRole('heading', { name: 'Charts', exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  const first = asked.length;
  await page.getByText('3 values have no history: a connection keeps that of 300 series.').waitFor();
  await readAll(page);
  expect(asked.length).toBeGreaterThan(first);
  expect(Math.max(...asked.map((series) => series.split(',').length))).toBeLessThanOrEqual(12);
  await close();
});

test('a finding has a chart of its value, with thresholds and the forecast', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, `/connections/${ids.full}?tab=findings`);
  const chart = page.locator('.finding-chart');
  await chart.scrollIntoViewIfNeeded();
  await chart.getByRole('application').waitFor();
  await chart.getByText('Warning at 10 %, critical at 30 %, full at 100 %.').waitFor();
  await chart.getByText('Full in about 41 days (26 to 77)').waitFor();
  await close();
});

test('of more than six objects, a chart has the largest, and the others on request', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, `/connections/${ids.full}?tab=charts`);
  await readAll(page);
  expect(await chartOf(page, 'Table size').locator('.chart-swatch').count()).toBe(6);
  await chartOf(page, 'Table size').getByText(HOSTILE).first().waitFor();
  await page.getByRole('button', { name: /^Show 2 more of 8/ }).click();
  await chartOf(page, 'Table size (from 7)').getByText('public.table_7').first().waitFor();
  await close();
});

/** The share of the plot’s columns between two shares of its width that have a pixel of the line’s colour. */
const drawn = (page: Page, title: string, from: number, to: number) =>
  page.evaluate<number>(`(() => {
    const canvas = [...document.querySelectorAll('.measures .chart')].find((chart) => chart.querySelector('h4').textContent === ${JSON.stringify(title)}).querySelector('canvas');
    const over = canvas.parentElement.querySelector('.u-over');
    const ratio = devicePixelRatio;
    const left = Math.round((over.offsetLeft + over.offsetWidth * ${from}) * ratio);
    const width = Math.round(over.offsetWidth * (${to} - ${from}) * ratio);
    const { data } = canvas.getContext('2d').getImageData(left, over.offsetTop * ratio, width, over.offsetHeight * ratio);
    const columns = new Set();
    for (let at = 0; at < data.length; at += 4) {
      const [red, green, blue, alpha] = [data[at], data[at + 1], data[at + 2], data[at + 3]];
      if (alpha > 200 && blue > 180 && red < 120 && green < 130) columns.add((at / 4) % width);
    }
    return columns.size / width;
  })()`);

describe('states', () => {
  test('an hour without runs is a gap in the line', async () => {
    const { page, close } = await openWindow(service.origin, owner);
    await visit(page, `/connections/${ids.full}?tab=charts`);
    await readAll(page);
    expect(await drawn(page, 'Cache hit ratio', 0.1, 0.7)).toBe(1);
    expect(await drawn(page, 'Cache hit ratio', 18.1 / 24, 18.9 / 24)).toBe(0);
    expect(await drawn(page, 'Cache hit ratio', 0.82, 0.98)).toBe(1);
    await close();
  });

  test('a single value is a point', async () => {
    const { page, close } = await openWindow(service.origin, owner);
    await visit(page, `/connections/${ids.one}?range=1h`);
    await readAll(page);
    await page.getByText('One value: 512/s.').waitFor();
    expect(await drawn(page, 'Transactions', 0, 1)).toBeGreaterThan(0);
    expect(await violations(page)).toEqual([]);
    await close();
  });

  test('a range without values says so', async () => {
    const { page, close } = await openWindow(service.origin, owner);
    await visit(page, `/connections/${ids.old}?range=1h`);
    await readAll(page);
    await page.getByText('No values in this range.').waitFor();
    expect(await violations(page)).toEqual([]);
    await close();
  });

  test('a connection without measurements says so', async () => {
    const { page, close } = await openWindow(service.origin, owner);
    await visit(page, `/connections/${ids.none}?tab=charts`);
    await page.getByText('No measurements yet').waitFor();
    await page.getByRole('link', { name: 'Changes', exact: true }).click();
    await page.getByText('No changes yet').waitFor();
    expect(await violations(page)).toEqual([]);
    await close();
  });

  test('history that cannot be read shows an error and can be tried again', async () => {
    const { page, close } = await openWindow(service.origin, owner);
    await page.route('**/history?*', (route) => route.fulfill({ status: 400, body: '{}' }));
    await visit(page, `/connections/${ids.one}?range=1h`);
    await page.locator('.measure-chart').scrollIntoViewIfNeeded();
    await page.getByText('That didn’t work').waitFor();
    await page.unroute('**/history?*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('One value: 512/s.').waitFor();
    await close();
  });
});
