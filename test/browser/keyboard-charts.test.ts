import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, openWindow, settled, visit, WIDE } from './chromium.ts';
import { type ConsoleService, type Person, startConsoleService } from './console-service.ts';
import { focused, press, tabTo } from './keyboard.ts';
import { HOSTILE, writeMeasures } from './measured-connection.ts';

let service: ConsoleService;
let owner: Person;
let connection = 0;

beforeAll(async () => {
  service = await startConsoleService({ connections: 3, tickets: 10, activity: 50 });
  owner = await service.owner();
  const { data } = await service.ask<{ data: { id: number; status: string }[] }>(owner, 'GET', '/fleet');
  connection = data.find(({ status }) => status === 'critical')?.id ?? data[0]?.id ?? 0;
  await writeMeasures(service, owner, connection);
});

afterAll(async () => {
  await closeWindows();
  await service?.stop();
});

async function openCharts(query = '?tab=charts'): Promise<{ page: Page; close: () => Promise<void> }> {
  // High enough for the charts of two headings, which are read when they come into view.
  const look = { scheme: 'light', ...WIDE, height: 4_000 } as const;
  const { page, close } = await openWindow(service.origin, owner, look);
  await visit(page, `/connections/${connection}${query}`);
  await canvasOf(page, 'Transactions').waitFor();
  await canvasOf(page, 'Cache hit ratio').waitFor();
  return { page, close };
}

const canvasOf = (page: Page, title: string) => page.getByRole('application', { name: title, exact: true });
const chartOf = (page: Page, title: string) =>
  page.locator('.measures .chart', { has: page.locator(`h4:text-is("${title}")`) });
const said = (page: Page) => page.locator('.announcer');
const search = (page: Page) => new URL(page.url()).searchParams;
/** The seconds between `from` and `to` of the URL. */
const zoomed = (page: Page) =>
  (Date.parse(search(page).get('to') ?? '') - Date.parse(search(page).get('from') ?? '')) / 1_000;

test('by keyboard: the arrows read values, + and - zoom, Escape ends the zoom', async () => {
  const { page, close } = await openCharts();
  await tabTo(page, 'Cache hit ratio');
  await page.keyboard.press('ArrowRight');
  await said(page)
    .getByText(/^\d+ \w+ \d{4}, \d\d:\d\d: 9\d(\.\d+)? %$/)
    .waitFor();
  const last = await chartOf(page, 'Cache hit ratio').locator('.chart-readout').textContent();
  await page.keyboard.press('Home');
  await expect
    .poll(() => chartOf(page, 'Cache hit ratio').locator('.chart-readout').textContent())
    .not.toBe(last);
  await page.keyboard.press('+');
  await expect.poll(() => zoomed(page)).toBeCloseTo(12 * 3_600, -2);
  await page.keyboard.press('+');
  await expect.poll(() => zoomed(page)).toBeCloseTo(6 * 3_600, -2);
  await page.keyboard.press('-');
  await expect.poll(() => zoomed(page)).toBeCloseTo(12 * 3_600, -2);
  expect(await focused(page)).toBe('Cache hit ratio');
  await page.keyboard.press('Escape');
  await expect.poll(() => search(page).has('from')).toBe(false);
  await said(page).getByText('Zoom ended').waitFor();
  await close();
});

test('by keyboard: a gap is read as no value', async () => {
  const { page, close } = await openCharts();
  await canvasOf(page, 'Cache hit ratio').focus();
  // The gap is a point of its own, 5.5 hours before the last of the runs per minute.
  await page.keyboard.press('End');
  for (let step = 0; step < 30; step++) await page.keyboard.press('Shift+ArrowLeft');
  const readout = chartOf(page, 'Cache hit ratio').locator('.chart-readout');
  for (let step = 0; step < 10 && !(await readout.textContent())?.includes('no value'); step++)
    await page.keyboard.press('ArrowLeft');
  await said(page)
    .getByText(/: no value$/)
    .waitFor();
  await close();
});

test('by keyboard: markers have the text of their changes, one Tab stop per chart', async () => {
  const { page, close } = await openCharts();
  await canvasOf(page, 'Transactions').focus();
  await page.keyboard.press('Tab');
  expect(await focused(page)).toMatch(/^1 change: (Setting work_mem: \d+MB → \d+MB|Index |Finding )/);
  const first = await focused(page);
  await page.keyboard.press('ArrowRight');
  expect(await focused(page)).not.toBe(first);
  await page.keyboard.press('Enter');
  const list = chartOf(page, 'Transactions').locator('.chart-changes li');
  await list.waitFor();
  expect(await focused(page)).toContain((await list.locator('bdi').textContent())?.slice(0, 60));
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });
  await page.keyboard.press('Tab');
  expect(await focused(page)).toMatch(/^Copy link/);
  await close();
});

test('by keyboard: a link skips the charts', async () => {
  const { page, close } = await openCharts();
  await page.getByRole('radio', { name: /^24 h/ }).last().focus();
  await page.keyboard.press('Tab');
  expect(await focused(page)).toMatch(/^Show as table/);
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip the charts');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('after-measures');
  await close();
});

test('all charts have one crosshair', async () => {
  const { page, close } = await openCharts();
  await canvasOf(page, 'Transactions')
    .locator('.u-over')
    .hover({ position: { x: 150, y: 60 } });
  const timeOf = async (title: string) =>
    /\d+ \w+ \d{4}, \d\d:\d\d/.exec(
      (await chartOf(page, title).locator('.chart-readout').textContent()) ?? '',
    )?.[0];
  await expect.poll(() => timeOf('Transactions')).toBeDefined();
  expect(await timeOf('Cache hit ratio')).toBe(await timeOf('Transactions'));
  expect(await canvasOf(page, 'Cache hit ratio').locator('.u-cursor-x.u-off, .u-cursor-x.u-hz').count()).toBe(
    0,
  );
  await close();
});

test('dragging over a chart zooms all charts, to a finer resolution, and can be undone', async () => {
  const { page, close } = await openCharts('?tab=charts&range=13mo');
  const over = canvasOf(page, 'Transactions').locator('.u-over');
  const box = await over.boundingBox();
  if (!box) throw new Error('The chart is not on the screen.');
  const finer = page.waitForResponse(async (answer) => {
    if (!answer.url().includes('/history?')) return false;
    const { series } = (await answer.json()) as { series: { resolution: string }[] };
    return series[0] !== undefined && series[0].resolution !== 'day';
  });
  await page.mouse.move(box.x + box.width - 30, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 5, box.y + 40, { steps: 4 });
  await page.mouse.up();
  await finer;
  expect(zoomed(page)).toBeLessThan(40 * 86_400);
  expect(search(page).get('range')).toBe('13mo');
  await page.getByRole('button', { name: 'Reset to the last 13 months' }).last().click();
  await expect.poll(() => search(page).toString()).toBe('tab=charts&range=13mo');
  await close();
});

test('the range is in the URL, for all charts and after a reload', async () => {
  const { page, close } = await openCharts();
  await page.getByRole('radio', { name: /^7 d/ }).last().click();
  await expect.poll(() => search(page).get('range')).toBe('7d');
  await page.reload();
  await settled(page);
  expect(await page.getByRole('radio', { name: /^7 d/ }).last().isChecked()).toBe(true);
  await page.getByRole('radio', { name: 'Custom' }).last().click();
  await page.getByLabel('From', { exact: true }).last().fill('2026-01-31');
  await expect.poll(() => search(page).get('from')).toBe('2026-01-31');
  await close();
});

test('by keyboard: a table has the values, and they can be copied as CSV', async () => {
  const { page, close } = await openCharts('?tab=charts&range=30d');
  await page.getByRole('heading', { name: 'Storage and maintenance' }).click();
  await tabTo(page, 'Show as table');
  await page.keyboard.press('Enter');
  await canvasOf(page, 'Table size').scrollIntoViewIfNeeded();
  await canvasOf(page, 'Table size').focus();
  const table = page.getByRole('table', { name: 'Table size' });
  await table.waitFor();
  expect(await table.getByRole('row').count()).toBe(101);
  await press(page, 'Copy as CSV');
  await said(page).getByText('CSV copied').waitFor();
  const [header = '', first = '', ...rest] = (
    await page.evaluate<string>('navigator.clipboard.readText()')
  ).split('\n');
  expect(header).toContain(`"'${HOSTILE.replaceAll('"', '""')} in app last"`);
  expect(first).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z,\d/);
  expect(rest.length).toBeGreaterThan(600);
  await press(page, /^Show 100 more of/);
  await expect.poll(() => table.getByRole('row').count()).toBe(201);
  await close();
});

test('changes are listed by kind, with older ones by a button', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, `/connections/${connection}?tab=changes`);
  const table = page.getByRole('table', { name: 'Changes' });
  await table.waitFor();
  expect(await table.getByRole('row').count()).toBe(16);
  await page.locator('.section', { has: table }).getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => table.getByRole('row').count()).toBe(31);
  await page.getByRole('button', { name: /Kind of change/ }).click();
  await page.getByRole('option', { name: 'Index' }).click();
  await expect.poll(() => search(page).get('change')).toBe('index');
  await expect.poll(() => table.getByRole('row').count()).toBe(15);
  await table.getByText(HOSTILE).first().waitFor();
  await table.getByRole('button', { name: 'Show all' }).first().click();
  await table.getByRole('button', { name: 'Show less' }).waitFor();
  expect(await page.evaluate('window.taken')).toBeUndefined();
  await close();
});
