import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { closeWindows, keepPicture, openWindow, violations, visit, type Window } from './chromium.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';
import { type DaysOfShop, liveThroughDays } from './days-of-shop.ts';

let days: DaysOfShop;
let service: ConsoleService;
let window: Window;
let page: Page;

beforeAll(async () => {
  days = await liveThroughDays();
  service = await startConsoleService(
    { connections: 1, tickets: 1, activity: 10 },
    { environment: days.environment },
  );
  window = await openWindow(service.origin, await service.owner(days.connection.accountId));
  page = window.page;
}, 300_000);

afterAll(async () => {
  await closeWindows();
  await service?.stop();
  await days?.stop();
});

const openTab = (tab: string) =>
  visit(page, `/connections/${days.connection.connectionId}?tab=${tab}&range=7d`);

describe('five days of a database', () => {
  test('a finding shows how its value grew, and when the sequence will be used up', async () => {
    await openTab('findings');
    const findings = page.getByRole('region', { name: 'Findings' });
    await findings.getByRole('button', { name: 'Sequence nearly exhausted', exact: true }).click();
    const chart = findings.getByRole('figure').filter({ hasText: 'invoice_number' });
    // 10,000 numbers are left, and 6,000 are used in a day.
    await expect.poll(() => chart.textContent()).toMatch(/Full in about 2 days \([12] to [23]\)/);
    expect(await chart.getByRole('application').getAttribute('aria-describedby')).not.toBe(null);
    await chart.scrollIntoViewIfNeeded();
    await keepPicture(page, 'day-finding');
  });

  test('a curve shows the daily rhythm, and marks when work_mem changed', async () => {
    await openTab('charts');
    const measurements = page.getByRole('region', { name: 'Charts' });
    // Charts are read when they come into view, and what stood there meanwhile is replaced.
    await waitFor(() => measurements.getByRole('heading', { name: 'Transactions' }).scrollIntoViewIfNeeded());
    const chart = measurements.getByRole('figure').filter({ hasText: 'Transactions' }).first();
    await page.getByRole('button', { name: 'Show as table' }).click();
    const values = chart.getByRole('table').getByRole('row');
    await expect.poll(() => values.count()).toBeGreaterThan(30);
    const marker = chart.getByRole('button', { name: /Setting work_mem: 4\D*MB → 64\D*MB/ });
    await marker.first().click();
    await page.getByRole('button', { name: 'Hide tables' }).click();
    await keepPicture(page, 'day-curve');
  });

  test('what changed is listed with the values before and after', async () => {
    await openTab('changes');
    const changes = page.getByRole('table', { name: 'Changes' });
    await changes.scrollIntoViewIfNeeded();
    const rows = await changes.getByRole('row').allTextContents();
    expect(rows.find((row) => row.includes('work_mem'))).toMatch(/4\D*MB.*64\D*MB/);
    expect(rows.find((row) => row.includes('orders_customer'))).toMatch(/Index.*Removed/);
    expect(rows.find((row) => row.includes('Table with many dead rows'))).toMatch(/Finding.*warning/);
    await keepPicture(page, 'day-changes');
  });

  test('the ticket of the bloated table shows what changed before it', async () => {
    await visit(page, `/tickets?connection_id=${days.connection.connectionId}`);
    await page.getByRole('link', { name: /Table with many dead rows/ }).click();
    const ticket = page.getByRole('region', { name: /^Ticket \d+$/ });
    const before = ticket.getByRole('table', { name: 'Changes in the 24 hours before' });
    const text = await before.textContent();
    expect(text).toContain('work_mem');
    expect(text).toContain('orders_customer');
    await ticket.getByRole('heading', { name: 'In the 24 hours before' }).scrollIntoViewIfNeeded();
    await expect.poll(() => ticket.getByRole('figure').count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await keepPicture(page, 'day-ticket');
  });

  test('the runs before and after the fault are compared', async () => {
    const { accountId, connectionId } = days.connection;
    const runs = await days.store.writer.query<{ id: number }>(
      `select health_check_id as id from health_check
        where account_id = $1 and connection_id = $2 order by health_check_id desc limit 3`,
      [accountId, connectionId],
    );
    const [last, , before] = runs.rows;
    await visit(page, `/connections/${connectionId}?compare=${before?.id}-${last?.id}`);
    const history = page.getByRole('region', { name: 'Run history' });
    await expect.poll(() => history.textContent()).toMatch(/New 1.*Table with many dead rows/);
    expect(await history.textContent()).toMatch(/Dead rows|dead rows/);
    await history.scrollIntoViewIfNeeded();
    await keepPicture(page, 'day-runs');
    expect(window.complaints).toEqual([]);
  });
});
