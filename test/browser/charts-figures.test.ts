import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, openWindow, settled, visit } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { writeVital } from './measured-connection.ts';

let service: ConsoleAccount;
let owner: Person;
let connection = 0;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 1, tickets: 1, activity: 10 });
  owner = await service.owner();
  const { data } = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/fleet');
  connection = data[0]?.id ?? 0;
  await writeVital(service, connection, { age: '1 minute', days: true });
});

afterAll(closeWindows);

// Notes when charts are on the screen: the frame after their canvas was added.
const WATCH = `
  window.painted = [];
  new MutationObserver((changes) => {
    if (!changes.some(({ addedNodes }) => [...addedNodes].some((node) => node.classList?.contains('uplot')))) return;
    requestAnimationFrame(() => setTimeout(() => window.painted.push(performance.now())));
  }).observe(document.body, { childList: true, subtree: true });`;

/** From the last byte of the history to the frame that shows it: parsing, rendering and drawing. */
const DRAW_TIME = `(() => {
  const answer = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/history?')).at(-1);
  return Math.min(...window.painted.filter((at) => at > answer.responseEnd)) - answer.responseEnd;
})()`;

test('13 months of a series are drawn in under 100 ms', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  const times: number[] = [];
  for (let run = 0; run < 5; run++) {
    await visit(page, `/connections/${connection}?range=1h`);
    await page.locator('.measure-chart').first().scrollIntoViewIfNeeded();
    await page.locator('.measure-chart .chart').first().waitFor();
    await settled(page);
    await page.evaluate(WATCH);
    const answered = page.waitForResponse((response) => response.url().includes('/history?'));
    await page
      .getByRole('radio', { name: /^13 months/ })
      .last()
      .click();
    await (await answered).finished();
    await expect.poll(() => page.evaluate<number>('window.painted.length')).toBeGreaterThan(0);
    times.push(await page.evaluate<number>(DRAW_TIME));
  }
  console.log(`13 months of a series: ${times.map(Math.round).join(', ')} ms`);
  const points = await page.evaluate<string>(
    `document.querySelector('.measures .chart figcaption').textContent`,
  );
  expect(points).toContain('Minimum');
  const [, , median = Number.POSITIVE_INFINITY] = times.toSorted((a, b) => a - b);
  expect(median).toBeLessThan(100);
  await close();
});
