import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, openWindow, visit } from './chromium.ts';
import { type ConsoleService, type Person, startConsoleService } from './console-service.ts';

let service: ConsoleService;
let owner: Person;

beforeAll(async () => {
  service = await startConsoleService({ connections: 10_000, tickets: 10_000, activity: 20_000, days: 7 });
  owner = await service.owner();
}, 600_000);

afterAll(async () => {
  await closeWindows();
  await service?.stop();
});

const FIRST_PAINT = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity`;

// The browser paints the shell and its skeletons before the service answers, so the number of connections does not matter.
test('the first contentful paint of the fleet page takes under 1 s without a cache', async () => {
  const times: number[] = [];
  for (let run = 0; run < 5; run++) {
    const { page, close } = await openWindow(service.origin, owner);
    await visit(page, '/fleet');
    times.push(await page.evaluate<number>(FIRST_PAINT));
    await close();
  }
  const [, , median = Number.POSITIVE_INFINITY] = times.toSorted((a, b) => a - b);
  console.log(`first contentful paint: ${times.map(Math.round).join(', ')} ms`);
  expect(median).toBeLessThan(1_000);
});

const WATCH = `
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) window.longTasks.push([Math.round(startTime), Math.round(duration)]);
  }).observe({ type: 'longtask' });`;

/** Scrolls with the wheel, then jumps to the end and back. Returns the durations of tasks over 50 ms. */
async function scroll(page: Page): Promise<number[]> {
  await page.evaluate(WATCH);
  await page.mouse.move(700, 500);
  for (let turn = 0; turn < 80; turn++) {
    await page.mouse.wheel(0, 700);
    await page.waitForTimeout(20);
  }
  for (const part of [0.25, 0.5, 0.75, 1, 0]) {
    await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight * ${part})`);
    await page.waitForTimeout(150);
  }
  const tasks = await page.evaluate<[at: number, took: number][]>('window.longTasks');
  return tasks.map(([, took]) => took);
}

test.each([
  ['10,000 connections', '/fleet'],
  ['10,000 tickets, fetched while scrolling', '/tickets?status=all'],
  ['20,000 entries, fetched while scrolling', '/activity'],
])('%s scroll without a task over 100 ms', async (_, path) => {
  const { page, complaints, close } = await openWindow(service.origin, owner);
  await visit(page, path);
  await page.locator('.table-item').first().waitFor();
  const tasks = await scroll(page);
  console.log(`${path}: tasks over 50 ms: ${tasks.join(', ') || 'none'}`);
  expect(Math.max(0, ...tasks)).toBeLessThanOrEqual(100);
  expect(complaints).toEqual([]);
  await close();
});

test('of 10,000 connections, the document contains only the visible rows, and the last row is reachable', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, '/fleet?sort=name');
  expect(await page.locator('.table-item').count()).toBeLessThan(100);
  const rows = Number(await page.locator('[role=table]').getAttribute('aria-rowcount'));
  expect(rows).toBeGreaterThan(10_000);
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
  await page.locator(`[role=row][aria-rowindex="${rows}"]`).waitFor();
  await close();
});

// Each is a state with an address. Other work on the machine only adds time, so the best of several rounds counts.
const LISTS = [
  'list=all',
  'list=all&q=index',
  'list=all&sort=title',
  'list=all&group=check&sort=severity&q=public',
  'list=all&group=connection&page=50',
];

test('10,000 tickets are sorted, grouped and searched in under 200 ms, by the service and in the browser', async () => {
  const took: Record<string, [service: number, browser: number]> = {};
  for (const query of LISTS) {
    // Each list has a session of its own, with a budget of its own.
    const member = await service.owner();
    const { page, close } = await openWindow(service.origin, member);
    const best = { service: Number.POSITIVE_INFINITY, browser: Number.POSITIVE_INFINITY };
    for (let round = 0; round < 30 && (round < 3 || best.service >= 200); round += 1) {
      const start = performance.now();
      const { data } = await service.ask<{ data: object[] }>(member, 'GET', `/tickets?${query}`);
      best.service = Math.min(best.service, performance.now() - start);
      expect(data).toHaveLength(100);
    }
    // From the change of the address, without a reload, to the painted rows.
    await visit(page, '/tickets?status=snoozed');
    const shown = query.replace('list=', 'status=').replace(/&page=\d+/, '');
    for (let round = 0; round < 30 && (round < 3 || best.browser >= 200); round += 1) {
      best.browser = Math.min(best.browser, await page.evaluate<number>(`(${SHOW})('/tickets?${shown}')`));
    }
    took[query] = [Math.round(best.service), Math.round(best.browser)];
    await close();
  }
  console.log(`10,000 tickets, ms by the service and in the browser: ${JSON.stringify(took)}`);
  expect(
    Object.values(took)
      .flat()
      .filter((ms) => ms >= 200),
  ).toEqual([]);
});

/** Goes to an address as the back button does, waits until its rows are painted, and goes back; the duration in milliseconds. */
const SHOW = `async (address) => {
  const until = async (holds) => { while (!holds()) await new Promise(requestAnimationFrame); };
  const rows = () => document.querySelectorAll('.table-item').length;
  const start = performance.now();
  history.pushState({}, '', address);
  dispatchEvent(new PopStateEvent('popstate', { state: {} }));
  await until(() => rows() > 0);
  await new Promise(requestAnimationFrame);
  const took = performance.now() - start;
  history.pushState({}, '', '/tickets?status=snoozed');
  dispatchEvent(new PopStateEvent('popstate', { state: {} }));
  await until(() => rows() === 0);
  return took;
}`;
